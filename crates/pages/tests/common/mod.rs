//! A small project in a temporary folder, and Trunk's output for it.

// Each test file uses a part of this.
#![allow(dead_code, clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use pages::{BuildError, Job, SiteAddress, build};

/// A folder that is removed at the end.
pub(crate) struct Project {
    pub(crate) root: PathBuf,
}

impl Drop for Project {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

/// The folder of the real project.
pub(crate) fn real() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

const CELL: &str = "```cell three-patches\ntitle = \"Three patches\"\n```\n";

impl Project {
    /// Two lessons, home and 404; the engine's sources and one cell.
    pub(crate) fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!(
            "pages-test-{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let project = Self {
            root: std::env::temp_dir().join(name),
        };
        let front =
            |title: &str| format!("+++\ntitle = \"{title}\"\ndescription = \"What {title} is.\"\n");
        project.put(
            "lessons/home.md",
            &format!(
                "{}+++\n{CELL}\n## Course\n\n<!-- course-map -->\n",
                front("Home")
            ),
        );
        project.put(
            "lessons/404.md",
            &format!("{}+++\n[Home](/)\n", front("Nothing here")),
        );
        let text = "Text with $x$.\n\n## A\n\n### B\n\n## C\n\n[next](/lesson/two#a), [card](/models#tiny)\n";
        project.put(
            "lessons/01-one.md",
            &format!(
                "{}part = \"I: x\"\n[inputs]\nword = \"it's\"\n+++\n{text}\n{CELL}",
                front("One & only")
            ),
        );
        project.put(
            "lessons/02-two.md",
            &format!("{}part = \"II: y\"\n+++\n## A\n", front("Two")),
        );
        project.put(
            "public/models/MODELS.md",
            "# Models\n\nSmall ones.\n\n## tiny\n\nReads.\n\n| | |\n|---|---|\n| bytes | 12 |\n",
        );
        project.put(
            "lessons/reference.toml",
            "[[symbol]]\nlatex = \"x\"\nmeans = \"a number\"\nlessons = [\"one\"]\n",
        );
        project.put(
            "lessons/systems.toml",
            "[[system]]\nname = \"A\"\nyear = 2017\nfamily = \"both\"\npaper = \"B\"\nnew = \"C.\"\nplace = \"one\"\n",
        );
        project.put("tests/golden/lessons/one.json", "{\"cells\":[]}");
        for script in ["public/sw.js", "public/worker_start.js"] {
            let text = std::fs::read_to_string(real().join(script)).unwrap();
            project.put(script, &text);
        }
        for sources in ["crates/engine/src", "crates/explain/src"] {
            copy(&real().join(sources), &project.root.join(sources));
        }
        project.put(
            "crates/cells/src/lessons/self_attention/three_patches.rs",
            "fn compute() {\n    shown!(record, engine::nn::attention::attend, q, k, v);\n}\n",
        );
        project
    }

    /// Writes a file.
    pub(crate) fn put(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Reads a built file.
    pub(crate) fn built(&self, path: &str) -> String {
        let path = self.root.join("dist").join(path);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Whether a file was built.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.root.join("dist").join(path).exists()
    }

    /// What Trunk leaves for this public address: the real frame, with one style sheet and the
    /// engine.
    pub(crate) fn trunk(&self, url: &str) {
        let frame = std::fs::read_to_string(real().join("index.html")).unwrap();
        let mut html = String::new();
        for line in frame
            .lines()
            .filter(|line| !line.contains("data-trunk") || line.contains("tokens.css"))
        {
            html.push_str(&line.replace(
                "data-trunk rel=\"css\" href=\"style/",
                &format!("rel=\"stylesheet\" href=\"{url}"),
            ));
            html.push('\n');
        }
        let engine = format!(
            "<script type=\"module\">import init from '{url}app-1.js';\nawait init('{url}app-1.wasm');</script>"
        );
        let early = format!(
            "<link rel=\"modulepreload\" href=\"{url}app-1.js\" crossorigin=\"anonymous\"><link rel=\"preload\" href=\"{url}app-1.wasm\" crossorigin=\"anonymous\" as=\"fetch\" type=\"application/wasm\">"
        );
        self.put(
            "dist/index.html",
            &html.replace("</head>", &format!("{engine}{early}</head>")),
        );
        self.put(
            "dist/tokens.css",
            "a { background: url(\"fonts/x.woff2\") }",
        );
        self.put("dist/app-1.js", "js");
        self.put("dist/app-1.wasm", "wasm");
        self.put("dist/boot.mjs", "boot");
        self.put("dist/pictures/SOURCE.md", "where from");
        self.put("dist/sw.js", "template");
        let headers = std::fs::read_to_string(real().join("public/_headers")).unwrap();
        self.put("dist/_headers", &headers);
    }

    /// Runs Trunk's part and ours for a site that is published at this address.
    pub(crate) fn build_at(&self, address: &str) -> Result<(), BuildError> {
        let address = SiteAddress::parse(address, "./").unwrap();
        self.build_for(Some(address), "./", true, false)
    }

    /// Runs Trunk's part and ours.
    pub(crate) fn build(&self, url: &str, release: bool, draft: bool) -> Result<(), BuildError> {
        self.build_for(None, url, release, draft)
    }

    fn build_for(
        &self,
        address: Option<SiteAddress>,
        url: &str,
        release: bool,
        draft: bool,
    ) -> Result<(), BuildError> {
        self.trunk(url);
        let out = self.root.join("dist");
        build(&Job {
            project: self.root.clone(),
            out,
            public_url: url.to_owned(),
            address,
            release,
            figures: false,
            linked: None,
            target: None,
            draft,
        })
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
