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

/// The worker's builds with the number of threads: only one of them has several.
const BUILDS: [(&str, u32); 3] = [("relaxed", 1), ("simd128", 1), ("relaxed-threads", 2)];

/// One line of the list.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    model: &'static str,
    kind: &'static str,
    build: &'static str,
    threads: u32,
}

impl Case {
    /// Its words: model, type of the matrices, build, number of threads.
    pub(crate) fn name(&self) -> String {
        format!(
            "{} {} {} {}",
            self.model, self.kind, self.build, self.threads
        )
    }

    /// The address of the page that measures it, relative to the site's base.
    pub(crate) fn page(&self, runs: u32) -> String {
        let Self {
            model,
            kind,
            build,
            threads,
        } = self;
        format!(
            "bench/?model={model}&type={kind}&build={build}&threads={threads}&prompt=128&new=64&runs={runs}"
        )
    }

    /// Whether each of `words` is a word of its name.
    pub(crate) fn has_all(&self, words: &str) -> bool {
        let name = self.name();
        words
            .split(' ')
            .all(|word| name.split(' ').any(|part| part == word))
    }
}

/// The whole list.
pub(crate) fn all() -> impl Iterator<Item = Case> {
    MODELS.into_iter().flat_map(|(model, kind)| {
        BUILDS.into_iter().map(move |(build, threads)| Case {
            model,
            kind,
            build,
            threads,
        })
    })
}
