//! Stamps: what something was made from, as a hash of contents, so that what did not change is not
//! made again.
//!
//! Times of files do not count: a check-out or an editor that writes the same text anew changes
//! them.

use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

use crate::error::{BuildError, names, read, write};

/// The stamp's file in the folder of what was made.
const STAMP: &str = ".made-from";

/// Files of the project that every build depends on, besides the sources that the compiler names.
const SETTINGS: [&str; 4] = [
    "Cargo.lock",
    "Cargo.toml",
    ".cargo/config.toml",
    "rust-toolchain.toml",
];

/// The recipe of a file of the worker: the command, the compiler, the settings of the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Recipe {
    hash: String,
}

impl Recipe {
    /// For a command of cargo's that runs in the project, with this compiler instead of the
    /// project's.
    pub(crate) fn of(project: &Path, cargo: &Command, compiler: Option<&str>) -> Self {
        let mut hash = Sha256::new();
        for word in std::iter::once(cargo.get_program()).chain(cargo.get_args()) {
            hash.update(word.as_encoded_bytes());
            hash.update([0]);
        }
        for (name, value) in cargo.get_envs() {
            hash.update(name.as_encoded_bytes());
            hash.update([0]);
            hash.update(value.unwrap_or_default().as_encoded_bytes());
            hash.update([0]);
        }
        hash.update(version(project, compiler));
        for name in SETTINGS {
            hash.update(std::fs::read(project.join(name)).unwrap_or_default());
            hash.update([0]);
        }
        Self { hash: hex(hash) }
    }

    /// Returns whether the folder holds what this makes of its sources as they are now.
    pub(crate) fn is_current(&self, folder: &Path) -> bool {
        let Ok(text) = std::fs::read_to_string(folder.join(STAMP)) else {
            return false;
        };
        let Some((hash, sources)) = text.split_once('\n') else {
            return false;
        };
        let sources: Vec<PathBuf> = sources.lines().map(PathBuf::from).collect();
        self.with(&sources).is_some_and(|now| now == hash)
    }

    /// Notes that the folder holds what this made of `sources`.
    ///
    /// # Errors
    /// When a source is gone or the note cannot be written.
    pub(crate) fn keep(&self, folder: &Path, sources: &[PathBuf]) -> Result<(), BuildError> {
        let hash = self.with(sources).ok_or_else(|| {
            BuildError::Other(format!("a source of {} is gone", folder.display()))
        })?;
        let list: Vec<String> = sources
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        write(
            &folder.join(STAMP),
            &format!("{hash}\n{}\n", list.join("\n")),
        )
    }

    /// The hash with the contents of the sources; `None` when one cannot be read.
    fn with(&self, sources: &[PathBuf]) -> Option<String> {
        let mut hash = Sha256::new();
        hash.update(&self.hash);
        for path in sources {
            hash.update(path.as_os_str().as_encoded_bytes());
            hash.update([0]);
            hash.update(content(path)?);
        }
        Some(hex(hash))
    }
}

/// The hash of a file's content, or of the names and contents of all files below a folder; `None`
/// when one cannot be read.
fn content(path: &Path) -> Option<Vec<u8>> {
    if !path.is_dir() {
        return Some(Sha256::digest(std::fs::read(path).ok()?).to_vec());
    }
    let mut hash = Sha256::new();
    for name in names(path).ok()? {
        hash.update(name.as_bytes());
        hash.update([0]);
        hash.update(content(&path.join(name))?);
    }
    Some(hash.finalize().to_vec())
}

/// The sources that cargo names for what it made: files, and the folders that a build script reads;
/// in this project, and not in the packages that `Cargo.lock` pins.
///
/// # Errors
/// When the list cannot be read.
pub(crate) fn sources(dep_info: &Path) -> Result<Vec<PathBuf>, BuildError> {
    let text = read(dep_info)?;
    // `target: source source`; a space in a name has a backslash before it.
    let list = text.split_once(": ").map_or("", |(_, list)| list);
    let mut sources = vec![String::new()];
    let mut escaped = false;
    for character in list.chars() {
        match (character, escaped, sources.last_mut()) {
            ('\\', false, _) => escaped = true,
            (' ' | '\n' | '\r', false, _) => sources.push(String::new()),
            (other, _, Some(last)) => {
                last.push(other);
                escaped = false;
            }
            (_, _, None) => {}
        }
    }
    let named = sources.into_iter().filter(|name| !name.is_empty());
    Ok(named.map(PathBuf::from).collect())
}

/// Returns whether the folder holds what was made of the bytes of `file`.
pub(crate) fn is_of(folder: &Path, file: &Path) -> bool {
    let stamp = std::fs::read_to_string(folder.join(STAMP));
    stamp.is_ok_and(|text| bytes_of(file).is_some_and(|hash| hash == text))
}

/// Notes that the folder holds what was made of the bytes of `file`.
///
/// # Errors
/// When the file cannot be read or the note not written.
pub(crate) fn keep_of(folder: &Path, file: &Path) -> Result<(), BuildError> {
    let hash = bytes_of(file)
        .ok_or_else(|| BuildError::Other(format!("{} cannot be read", file.display())))?;
    write(&folder.join(STAMP), &hash)
}

/// Returns whether a file of this name is a stamp.
pub(crate) fn is_stamp(name: &str) -> bool {
    name == STAMP
}

fn bytes_of(file: &Path) -> Option<String> {
    let mut hash = Sha256::new();
    hash.update(std::fs::read(file).ok()?);
    Some(hex(hash))
}

fn version(project: &Path, compiler: Option<&str>) -> Vec<u8> {
    let mut rustc = match compiler {
        Some(name) => {
            let mut rustup = Command::new("rustup");
            rustup.args(["run", name, "rustc"]);
            rustup
        }
        None => Command::new("rustc"),
    };
    let asked = rustc.arg("-vV").current_dir(project).output();
    asked.map(|answer| answer.stdout).unwrap_or_default()
}

fn hex(hash: Sha256) -> String {
    let bytes = hash.finalize();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An empty folder of this test's own.
    fn folder(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("stamp-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    fn recipe(project: &Path, word: &str) -> Recipe {
        Recipe::of(project, Command::new("cargo").arg(word), None)
    }

    #[test]
    fn only_a_changed_source_command_or_setting_asks_for_a_new_build() {
        let project = folder("recipe");
        let source = project.join("lib.rs");
        std::fs::write(&source, "one").unwrap();
        let build = recipe(&project, "build");
        assert!(!build.is_current(&project), "nothing was made yet");
        build.keep(&project, std::slice::from_ref(&source)).unwrap();
        assert!(build.is_current(&project));
        // The same text, written anew.
        std::fs::write(&source, "one").unwrap();
        assert!(build.is_current(&project));
        assert!(!recipe(&project, "test").is_current(&project));
        std::fs::write(&source, "two").unwrap();
        assert!(!build.is_current(&project));
        std::fs::write(&source, "one").unwrap();
        std::fs::write(project.join("Cargo.lock"), "another version").unwrap();
        assert!(!recipe(&project, "build").is_current(&project));
        std::fs::remove_file(project.join("Cargo.lock")).unwrap();
        std::fs::remove_file(&source).unwrap();
        assert!(!build.is_current(&project), "a source is gone");
        std::fs::remove_dir_all(&project).unwrap();
    }

    /// As the build script of the worker does.
    #[test]
    fn a_folder_among_the_sources_means_all_its_files() {
        let project = folder("folder");
        let kept = project.join("kept");
        std::fs::create_dir_all(project.join("src/inner")).unwrap();
        std::fs::create_dir_all(&kept).unwrap();
        std::fs::write(project.join("src/inner/a.rs"), "one").unwrap();
        let build = recipe(&project, "build");
        build.keep(&kept, &[project.join("src")]).unwrap();
        assert!(build.is_current(&kept));
        std::fs::write(project.join("src/inner/a.rs"), "two").unwrap();
        assert!(!build.is_current(&kept));
        std::fs::write(project.join("src/inner/a.rs"), "one").unwrap();
        std::fs::write(project.join("src/b.rs"), "new").unwrap();
        assert!(!build.is_current(&kept), "a file was added");
        std::fs::remove_dir_all(&project).unwrap();
    }

    #[test]
    fn what_was_made_of_the_same_bytes_is_kept() {
        let project = folder("bytes");
        let wasm = project.join("a.wasm");
        std::fs::write(&wasm, "wasm").unwrap();
        assert!(!is_of(&project, &wasm));
        keep_of(&project, &wasm).unwrap();
        assert!(is_of(&project, &wasm));
        std::fs::write(&wasm, "other").unwrap();
        assert!(!is_of(&project, &wasm));
        std::fs::remove_dir_all(&project).unwrap();
    }

    #[test]
    fn sources_with_spaces_in_their_names_are_read() {
        let project = folder("sources");
        let list = project.join("worker.d");
        std::fs::write(&list, "/t/worker.wasm: /a/lib.rs /b\\ c/lib.rs\n").unwrap();
        let found = sources(&list).unwrap();
        assert_eq!(found, [Path::new("/a/lib.rs"), Path::new("/b c/lib.rs")]);
        std::fs::remove_dir_all(&project).unwrap();
    }
}
