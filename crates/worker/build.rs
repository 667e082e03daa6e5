//! Names this build by a hash of the code that the page and its workers share, so that each can
//! tell a file of another build; and says whether the wasm will be cut into chunks.
#![allow(
    clippy::disallowed_methods,
    reason = "this runs on the machine that builds, which has files"
)]

use std::error::Error;
use std::fs;
use std::hash::Hasher;
use std::path::{Path, PathBuf};

use fnv::FnvHasher;

/// The crates whose code runs in a worker.
const CRATES: [&str; 5] = ["kernel", "engine", "explain", "cells", "worker"];

fn main() -> Result<(), Box<dyn Error>> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut hash = FnvHasher::default();
    for name in CRATES {
        let folder = crates.join(name).join("src");
        println!("cargo::rerun-if-changed={}", folder.display());
        let mut files = Vec::new();
        collect(&folder, &mut files)?;
        files.sort();
        for file in files {
            hash.write(file.strip_prefix(&crates)?.to_string_lossy().as_bytes());
            hash.write(&fs::read(&file)?);
        }
    }
    println!("cargo::rustc-env=WORKER_BUILD={:016x}", hash.finish());
    cut_into_chunks();
    Ok(())
}

/// Says whether the wasm is made to be cut into chunks: a release of the file for cells, which
/// `pages` cuts after the build.
fn cut_into_chunks() {
    println!("cargo::rustc-check-cfg=cfg(chunks)");
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let has = |feature: &str| std::env::var_os(format!("CARGO_FEATURE_{feature}")).is_some();
    let is_release =
        variable("PROFILE") == "release" && variable("CARGO_CFG_TARGET_ARCH") == "wasm32";
    if is_release && has("CELLS") && !has("MODELS") {
        println!("cargo::rustc-cfg=chunks");
        // The places where each function is called: without them nothing can be moved to another
        // file.
        println!("cargo::rustc-link-arg-bins=--emit-relocs");
    }
}

/// All files below a folder.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
