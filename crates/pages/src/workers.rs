//! The files of the worker: for each kind of cells (`cells::WorkerKind`), and for full-size models, for measuring and for the lab, each of
//! these for browsers of different abilities (`crates/worker/src/build.rs`).
//!
//! They are one crate with different features and compiler flags, which has a target folder for each set of flags beside the site's,
//! where nothing is built twice. Threads over one memory need a standard library that is
//! built for them, which only a nightly compiler does; where there is none that file is left out, and this is said. The nightly
//! compiler also makes the others smaller by a quarter when they are built for release; without it they do the same.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cells::WorkerKind;
use wasm_bindgen_cli_support::Bindgen;
use worker::build::{Build, Purpose, START_SCRIPT, WorkerFiles};

use crate::error::{BuildError, read, write};
use crate::offline::hash;

/// The compiler for threads. `cargo xtask build` installs it.
const NIGHTLY: &str = include_str!("../../../nightly-toolchain").trim_ascii();

/// What a build without it makes do with.
const OTHER_NIGHTLY: &str = "nightly";

const SIMD128: &str = "-Ctarget-feature=+simd128";

const RELAXED: &str = "-Ctarget-feature=+simd128,+relaxed-simd";

/// The memory may grow to the 4 GiB that 32 bits can address; each thread has a stack and its own copy of thread-local data in it.
const THREADS: &str = "-Ctarget-feature=+simd128,+relaxed-simd,+atomics,+bulk-memory,+mutable-globals \
    -Clink-arg=--shared-memory -Clink-arg=--import-memory -Clink-arg=--max-memory=4294967296 \
    -Clink-arg=--export=__wasm_init_tls -Clink-arg=--export=__tls_size -Clink-arg=--export=__tls_align \
    -Clink-arg=--export=__tls_base";

/// The loops that matter are written with the instructions that they are to have, so that the compiler's taste in the code around
/// them costs no time (`BENCHMARKS.md`); small code saves 25 kB after gzip.
const SMALL: &str = "profile.release.package.engine.opt-level='z'";

/// A panic, which is a mistake of ours, stops the file at once and without a text: texts, places and what writes them are 30 kB after
/// gzip, a sixth of the file. A build without optimisation keeps them.
const SILENT: &str = " -Zunstable-options -Cpanic=immediate-abort -Zlocation-detail=none";

/// A standard library that is built with the file, and for its size.
const OWN_LIBRARY: [&str; 4] = [
    "-Z",
    "build-std=std,panic_abort",
    "-Z",
    "build-std-features=optimize_for_size",
];

/// Where and how to build.
pub(crate) struct Place<'a> {
    /// Root of the project.
    pub(crate) project: &'a Path,
    /// The site's target folder.
    pub(crate) target: &'a Path,
    /// Whether to optimise.
    pub(crate) release: bool,
}

/// Makes the files in `out` and lists their names.
///
/// # Errors
/// When one cannot be compiled, bound or written.
pub(crate) fn build(place: &Place<'_>, out: &Path) -> Result<WorkerFiles, BuildError> {
    let nightly = nightly();
    if nightly.is_none() {
        println!(
            "pages: the engine is built without threads, and larger than it need be: both need {NIGHTLY} with its rust-src, which \
             `cargo xtask build` installs"
        );
    }
    let mut files = WorkerFiles::default();
    copy_start_script(place.project, out, &mut files)?;
    for build in Build::ALL {
        let compiler = match build {
            Build::RelaxedThreads if nightly.is_none() => continue,
            Build::RelaxedThreads => nightly,
            Build::Relaxed | Build::Simd128 => nightly.filter(|_| place.release),
        };
        for purpose in Purpose::ALL {
            compile(place, build, purpose.feature(), compiler)?;
            bind(place, build, &purpose.file(build), out, &mut files)?;
        }
        if build == Build::Simd128 {
            for kind in WorkerKind::ALL {
                compile(place, build, kind.file(), compiler)?;
                bind(place, build, kind.file(), out, &mut files)?;
            }
        }
    }
    Ok(files)
}

/// Copies the script that starts the others under the name with its hash.
fn copy_start_script(
    project: &Path,
    out: &Path,
    files: &mut WorkerFiles,
) -> Result<(), BuildError> {
    let script = read(&project.join(format!("public/{START_SCRIPT}.js")))?;
    let hash = hash(script.as_bytes());
    files.add(START_SCRIPT, &hash);
    write(&out.join(format!("{START_SCRIPT}-{hash}.js")), &script)
}

/// A nightly compiler with the source of the standard library.
fn nightly() -> Option<&'static str> {
    [NIGHTLY, OTHER_NIGHTLY].into_iter().find(|name| {
        let asked = Command::new("rustup")
            .args(["run", name, "rustc", "--print", "sysroot"])
            .stderr(Stdio::null())
            .output();
        let sysroot = asked.ok().filter(|answer| answer.status.success());
        sysroot.is_some_and(|answer| {
            let sysroot = String::from_utf8_lossy(&answer.stdout).trim().to_owned();
            Path::new(&sysroot)
                .join("lib/rustlib/src/rust/library/std")
                .is_dir()
        })
    })
}

fn folder(place: &Place<'_>, build: Build) -> PathBuf {
    place.target.join(format!("engine-{}", build.name()))
}

fn compile(
    place: &Place<'_>,
    build: Build,
    feature: &str,
    nightly: Option<&str>,
) -> Result<(), BuildError> {
    let mut cargo = match nightly {
        Some(name) => {
            let mut rustup = Command::new("rustup");
            rustup.args(["run", name, "cargo"]);
            rustup
        }
        None => Command::new("cargo"),
    };
    let mut flags = match build {
        Build::Simd128 => SIMD128,
        Build::Relaxed => RELAXED,
        Build::RelaxedThreads => THREADS,
    }
    .to_owned();
    if place.release && nightly.is_some() {
        flags.push_str(SILENT);
    }
    cargo
        .args(["build", "--quiet", "--package", "worker", "--bin", "worker"])
        .args(["--no-default-features", "--features", feature])
        .args(["--target", "wasm32-unknown-unknown", "--target-dir"])
        .arg(folder(place, build))
        .current_dir(place.project)
        // Flags that the caller has set are for the site.
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env("RUSTFLAGS", flags);
    if build != Build::Simd128 {
        cargo.args(["--features", "relaxed-simd"]);
    }
    if nightly.is_some() {
        cargo.args(OWN_LIBRARY);
    }
    if place.release {
        cargo.args(["--release", "--config", SMALL]);
    }
    let failed = |why: String| {
        BuildError::Other(format!(
            "the worker with {feature}, {}, cannot be built: {why}",
            build.name()
        ))
    };
    let status = cargo.status().map_err(|error| failed(error.to_string()))?;
    if status.success() {
        Ok(())
    } else {
        Err(failed(status.to_string()))
    }
}

/// Joins what the compiler made with its JavaScript, and names both by a hash of what they hold.
fn bind(
    place: &Place<'_>,
    build: Build,
    name: &str,
    out: &Path,
    files: &mut WorkerFiles,
) -> Result<(), BuildError> {
    let profile = if place.release { "release" } else { "debug" };
    let wasm = folder(place, build).join(format!("wasm32-unknown-unknown/{profile}/worker.wasm"));
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(&wasm)
        .out_name(name)
        .typescript(false)
        .no_modules(true)
        .and_then(|bindgen| bindgen.generate(out))
        .map_err(|error| BuildError::Other(format!("{}: {error}", wasm.display())))?;
    name_by_hash(out, name, files)
}

/// Renames the two bound files of `name` to names that end in a hash of both contents.
fn name_by_hash(out: &Path, name: &str, files: &mut WorkerFiles) -> Result<(), BuildError> {
    let ends = [".js", "_bg.wasm"];
    let failed = |path: PathBuf| move |source| BuildError::File { path, source };
    let mut content = Vec::new();
    for end in ends {
        let path = out.join(format!("{name}{end}"));
        content.extend(std::fs::read(&path).map_err(failed(path))?);
    }
    let hash = hash(&content);
    for end in ends {
        let from = out.join(format!("{name}{end}"));
        let to = out.join(format!("{name}-{hash}{end}"));
        std::fs::rename(&from, to).map_err(failed(from))?;
    }
    files.add(name, &hash);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_change_with_either_file() {
        let folder = std::env::temp_dir().join(format!("pages-workers-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let named = |script: &str, wasm: &str| {
            std::fs::write(folder.join("lab-simd128.js"), script).unwrap();
            std::fs::write(folder.join("lab-simd128_bg.wasm"), wasm).unwrap();
            let mut files = WorkerFiles::default();
            name_by_hash(&folder, "lab-simd128", &mut files).unwrap();
            let file = files.file("lab-simd128").unwrap();
            for end in [".js", "_bg.wasm"] {
                assert!(folder.join(format!("{file}{end}")).is_file());
                assert!(!folder.join(format!("lab-simd128{end}")).exists());
            }
            file
        };
        let first = named("a", "b");
        assert_eq!(named("a", "b"), first);
        assert_ne!(named("x", "b"), first);
        assert_ne!(named("a", "x"), first);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
