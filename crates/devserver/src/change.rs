//! The work that a change asks for.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::ServeError;

/// The parts to build.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// Style sheets to take anew, from the site's root.
    pub styles: Vec<String>,
    /// A shipped file changed that pages fetch.
    pub files: bool,
    /// Pages have to be made again.
    pub pages: bool,
    /// The site and its worker have to be compiled.
    pub site: bool,
    /// The engine's files for relaxed SIMD and threads are older than their sources.
    pub engines: bool,
    /// The program that makes the pages has to be compiled.
    pub maker: bool,
}

/// Which crates are compiled into what: the names of the folders in `crates/`.
#[derive(Debug, Clone, Default)]
pub struct Project {
    root: PathBuf,
    /// Those of the site.
    site: BTreeSet<String>,
    /// Those of the worker.
    worker: BTreeSet<String>,
    /// Those of the program that makes the pages.
    maker: BTreeSet<String>,
}

/// Settings that all builds depend on.
const SETTINGS: [&str; 4] = [
    "Cargo.toml",
    "Cargo.lock",
    ".cargo/config.toml",
    "rust-toolchain.toml",
];

impl Project {
    /// Asks cargo which crates are compiled into what.
    ///
    /// # Errors
    /// When cargo cannot tell.
    pub fn read(root: &Path) -> Result<Self, ServeError> {
        Ok(Self {
            root: root.to_owned(),
            site: crates_of(root, "transformer-notebook")?,
            worker: crates_of(root, "worker")?,
            maker: crates_of(root, "pages")?,
        })
    }

    /// Lists what changed files ask for together; their paths are absolute.
    pub fn plan(&self, changed: &[PathBuf]) -> Plan {
        let mut plan = Plan::default();
        for path in changed {
            let Ok(path) = path.strip_prefix(&self.root) else {
                continue;
            };
            let parts: Vec<&str> = path
                .components()
                .filter_map(|part| part.as_os_str().to_str())
                .collect();
            self.add(&parts, &mut plan);
        }
        plan
    }

    fn add(&self, path: &[&str], plan: &mut Plan) {
        match path {
            ["style", rest @ ..] => plan.styles.push(format!("style/{}", rest.join("/"))),
            ["public", ..] => (plan.files, plan.pages) = (true, true),
            ["lessons", ..] | ["index.html"] | ["tests", "golden", "lessons", ..] => {
                plan.pages = true;
            }
            ["src", ..] | ["build.rs"] => plan.site = true,
            [
                "crates",
                name,
                "src" | "assets" | "Cargo.toml" | "build.rs",
                ..,
            ] => {
                plan.site |= self.site.contains(*name) || self.worker.contains(*name);
                plan.engines |= self.worker.contains(*name);
                plan.maker |= self.maker.contains(*name);
            }
            settings if SETTINGS.contains(&settings.join("/").as_str()) => {
                (plan.site, plan.engines, plan.maker) = (true, true, true);
            }
            _ => {}
        }
    }
}

/// The project's crates that a package is compiled from, itself included: names of folders in
/// `crates/`.
fn crates_of(root: &Path, package: &str) -> Result<BTreeSet<String>, ServeError> {
    let output = Command::new("cargo")
        .args(["tree", "--package", package, "--edges", "normal,build"])
        .args(["--prefix", "none", "--format", "{p}", "--target", "all"])
        .current_dir(root)
        .output()
        .map_err(ServeError::program("cargo tree"))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(ServeError::Build(message));
    }
    // `cells v0.1.0 (/path/to/crates/cells)`
    let crates = root.join("crates");
    let text = String::from_utf8_lossy(&output.stdout);
    let folders = text
        .lines()
        .filter_map(|line| line.split_once(" (")?.1.split_once(')'))
        .filter_map(|(path, _)| Path::new(path).strip_prefix(&crates).ok())
        .filter_map(|path| Some(path.to_str()?.to_owned()));
    Ok(folders.collect())
}

/// The contents of files as they were when they were last looked at, so that a file that was
/// written with the same text does not count as changed.
#[derive(Debug, Clone, Default)]
pub struct Seen(BTreeMap<PathBuf, Option<u64>>);

impl Seen {
    /// Remembers every file below the folders, which are not changed from here on.
    pub fn remember(&mut self, paths: &[PathBuf]) {
        for path in paths {
            if path.is_dir() {
                let inside = std::fs::read_dir(path).into_iter().flatten();
                let inside: Vec<PathBuf> = inside.flatten().map(|entry| entry.path()).collect();
                self.remember(&inside);
            } else {
                self.0.insert(path.clone(), hash_of(path));
            }
        }
    }

    /// Those of the files whose content is another one than before, or that are new or gone.
    pub fn changed(&mut self, paths: Vec<PathBuf>) -> Vec<PathBuf> {
        let mut changed = Vec::new();
        for path in paths {
            if path.is_dir() {
                let inside = std::fs::read_dir(&path).into_iter().flatten();
                let inside = inside.flatten().map(|entry| entry.path()).collect();
                changed.extend(self.changed(inside));
                continue;
            }
            let now = hash_of(&path);
            let before = self.0.insert(path.clone(), now).flatten();
            if now != before {
                changed.push(path);
            }
        }
        changed
    }
}

/// A hash of the content; `None` for a file that is not there.
fn hash_of(path: &Path) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    std::fs::read(path).ok()?.hash(&mut hasher);
    Some(hasher.finish())
}
