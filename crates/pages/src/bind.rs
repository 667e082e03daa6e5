//! Joins what the compiler made with its JavaScript, and keeps the result for the next time.

use std::path::Path;

use wasm_bindgen_cli_support::Bindgen;

use crate::error::{BuildError, names};
use crate::offline::hash;
use crate::stamp;

/// The name of the two files of a worker where they are kept; the site has them under others.
pub(crate) const WORKER: &str = "worker";

/// Endings of the names of the two files.
const ENDS: [&str; 2] = [".js", "_bg.wasm"];

/// Empties the folder `kept`, or makes it. Files in it may be linked from the site: they are
/// replaced and not written over.
///
/// # Errors
/// When it cannot be emptied or made.
pub(crate) fn empty(kept: &Path) -> Result<(), BuildError> {
    let wrap = |source| BuildError::File {
        path: kept.to_owned(),
        source,
    };
    if kept.is_dir() {
        std::fs::remove_dir_all(kept).map_err(wrap)?;
    }
    std::fs::create_dir_all(kept).map_err(wrap)
}

/// Binds `wasm` as a JavaScript module called `name` into the folder `kept`, which then holds
/// nothing else.
///
/// # Errors
/// When it cannot be read, bound or written.
pub(crate) fn anew(wasm: &Path, name: &str, kept: &Path) -> Result<(), BuildError> {
    empty(kept)?;
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(wasm)
        .out_name(name)
        .typescript(false)
        .web(true)
        .and_then(|bindgen| bindgen.generate(kept))
        .map_err(|error| BuildError::Other(format!("{}: {error}", wasm.display())))
}

/// Binds `wasm` into `kept` unless that was made of the same bytes; whether it did.
///
/// # Errors
/// As [`anew`].
pub(crate) fn unless_kept(wasm: &Path, name: &str, kept: &Path) -> Result<bool, BuildError> {
    if stamp::is_of(kept, wasm) {
        return Ok(false);
    }
    anew(wasm, name, kept)?;
    stamp::keep_of(kept, wasm)?;
    Ok(true)
}

/// Puts the two files of the worker in `kept` into `out`, called `name` with a hash of both
/// contents. What had another hash is removed.
///
/// # Errors
/// When they cannot be read or written.
pub(crate) fn copy(kept: &Path, name: &str, out: &Path) -> Result<(), BuildError> {
    let mut content = Vec::new();
    for end in ENDS {
        let path = kept.join(format!("{WORKER}{end}"));
        content.extend(std::fs::read(&path).map_err(|source| BuildError::File { path, source })?);
    }
    let to = format!("{name}-{}", hash(&content));
    let there = |end: &str| out.join(format!("{to}{end}")).is_file();
    if ENDS.iter().all(|end| there(end)) {
        return Ok(());
    }
    remove(name, out)?;
    for end in ENDS {
        link(
            &kept.join(format!("{WORKER}{end}")),
            &out.join(format!("{to}{end}")),
        )?;
    }
    Ok(())
}

/// Removes the files called `name` and a hash from `out`, where they are there.
///
/// # Errors
/// When one cannot be removed.
pub(crate) fn remove(name: &str, out: &Path) -> Result<(), BuildError> {
    if !out.is_dir() {
        return Ok(());
    }
    for file in names(out)? {
        let bare = ENDS.iter().find_map(|end| file.strip_suffix(end));
        if bare
            .and_then(|bare| bare.rsplit_once('-'))
            .is_some_and(|(own, _)| own == name)
        {
            let path = out.join(file);
            std::fs::remove_file(&path).map_err(|source| BuildError::File { path, source })?;
        }
    }
    Ok(())
}

/// Puts everything that was bound into `kept` into `out`, with the scripts of the crates
/// (`snippets/`).
///
/// # Errors
/// When it cannot be written.
pub(crate) fn copy_folder(kept: &Path, out: &Path) -> Result<(), BuildError> {
    for name in names(kept)?.iter().filter(|name| !stamp::is_stamp(name)) {
        let (from, to) = (kept.join(name), out.join(name));
        if from.is_dir() {
            copy_folder(&from, &to)?;
        } else {
            link(&from, &to)?;
        }
    }
    Ok(())
}

/// Makes `to` the same file as `from`, or a copy of it where the two are on different disks.
fn link(from: &Path, to: &Path) -> Result<(), BuildError> {
    let wrap = |source| BuildError::File {
        path: to.to_owned(),
        source,
    };
    if let Some(folder) = to.parent() {
        std::fs::create_dir_all(folder).map_err(wrap)?;
    }
    if to.exists() {
        std::fs::remove_file(to).map_err(wrap)?;
    }
    std::fs::hard_link(from, to)
        .or_else(|_| std::fs::copy(from, to).map(|_| ()))
        .map_err(wrap)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workers::files_in;

    #[test]
    fn names_change_with_either_file_and_old_ones_go() {
        let folder = std::env::temp_dir().join(format!("pages-workers-{}", std::process::id()));
        let (kept, out) = (folder.join("kept"), folder.join("out"));
        std::fs::create_dir_all(&kept).unwrap();
        std::fs::create_dir_all(&out).unwrap();
        let named = |script: &str, wasm: &str| {
            for (end, text) in [(".js", script), ("_bg.wasm", wasm)] {
                let path = kept.join(format!("{WORKER}{end}"));
                // As `anew` does: what the site has is not written over.
                let _ = std::fs::remove_file(&path);
                std::fs::write(path, text).unwrap();
            }
            copy(&kept, "lab-simd128", &out).unwrap();
            let file = files_in(&out).unwrap().file("lab-simd128").unwrap();
            for end in ENDS {
                assert!(out.join(format!("{file}{end}")).is_file());
            }
            assert_eq!(names(&out).unwrap().len(), 2, "of one build only");
            file
        };
        let first = named("a", "b");
        assert_eq!(named("a", "b"), first);
        assert_ne!(named("x", "b"), first);
        assert_ne!(named("a", "x"), first);
        remove("lab-simd128", &out).unwrap();
        assert!(names(&out).unwrap().is_empty());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
