//! The list of what can be measured.

/// Models with the types of their matrices.
const MODELS: [(&str, &str); 6] = [
    ("gpt2", "q8_0"),
    ("gpt2", "q4_0"),
    ("smollm2-135m", "q8_0"),
    ("vit-b16", "q8_0"),
    ("vit-b16", "f32"),
    ("minilm", "q8_0"),
];

/// Models that take minutes each: they are measured only where they are named.
const LARGE: [(&str, &str); 6] = [
    ("smollm2-360m", "q8_0"),
    ("smollm2-360m", "q4_0"),
    ("qwen2-500m", "q8_0"),
    ("qwen2-500m", "q4_0"),
    ("llama3-1b", "q8_0"),
    ("llama3-1b", "q4_0"),
];

/// The worker's builds with the number of threads: only one of them has several.
const BUILDS: [(&str, u32); 3] = [("relaxed", 1), ("simd128", 1), ("relaxed-threads", 2)];

/// One line of the list.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    model: &'static str,
    kind: &'static str,
    build: &'static str,
    threads: u32,
    is_large: bool,
}

impl Case {
    /// Its words: model, type of the matrices, build, number of threads.
    pub(crate) fn name(&self) -> String {
        format!(
            "{} {} {} {}",
            self.model, self.kind, self.build, self.threads
        )
    }

    /// The name of its model's shape.
    pub(crate) fn model(&self) -> &'static str {
        self.model
    }

    /// The type of its matrices.
    pub(crate) fn kind(&self) -> &'static str {
        self.kind
    }

    /// The worker's build.
    pub(crate) fn build(&self) -> &'static str {
        self.build
    }

    /// The address of the page that measures it, relative to the site's base.
    pub(crate) fn page(&self, runs: u32) -> String {
        let Self {
            model,
            kind,
            build,
            threads,
            ..
        } = self;
        format!(
            "bench/?model={model}&type={kind}&build={build}&threads={threads}&prompt=128&new=64&runs={runs}"
        )
    }

    /// Whether it is measured where no line is chosen.
    pub(crate) fn is_usual(&self) -> bool {
        !self.is_large
    }

    /// Whether `words` choose it: each is a word of its name, and one of them names its model if
    /// that is a large one.
    pub(crate) fn has_all(&self, words: &str) -> bool {
        let name = self.name();
        let is_named = words.split(' ').any(|word| word == self.model);
        (is_named || self.is_usual())
            && words
                .split(' ')
                .all(|word| name.split(' ').any(|part| part == word))
    }
}

/// The whole list.
pub(crate) fn all() -> impl Iterator<Item = Case> {
    let usual = MODELS.into_iter().map(|model| (model, false));
    let large = LARGE.into_iter().map(|model| (model, true));
    usual.chain(large).flat_map(|((model, kind), is_large)| {
        BUILDS.into_iter().map(move |(build, threads)| Case {
            model,
            kind,
            build,
            threads,
            is_large,
        })
    })
}
