//! The files of the worker. One program computes cells and is cut into a chunk for each lesson. Two
//! more, for measuring and for the lab, run full-size models; each of these is built for browsers of
//! different abilities (`crates/worker/src/build.rs`).
//!
//! All are one crate, compiled with different features and flags. Each set of flags has a target
//! folder of its own beside the site's, so nothing is built twice. Threads over one memory need a
//! standard library that is built for them, which only a nightly compiler can do; without one, the
//! build with threads is left out, and a message says so. A nightly compiler also makes the other
//! release builds a quarter smaller; without it they do the same.
//!
//! A debug build has one file with all features. It is compiled together with the site, with the
//! site's flags, and served under every name that needs SIMD only. The files for browsers that can
//! do more are made when a page first asks for them ([`quick_engines`]).
//!
//! Finished files are kept beside the target folder with a stamp of their sources. While the sources
//! stay the same, the files are only copied.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use worker::build::{Build, CELLS, Purpose, START_SCRIPT, WorkerFiles};

use crate::bind::{self, WORKER};
use crate::chunks;
use crate::error::{BuildError, names, read, write_new};
use crate::offline::hash;
use crate::stamp::{self, Recipe};

/// The compiler for threads. `cargo xtask build` installs it.
const NIGHTLY: &str = include_str!("../../../nightly-toolchain").trim_ascii();

/// What a build without it makes do with.
const OTHER_NIGHTLY: &str = "nightly";

const SIMD128: &str = "-Ctarget-feature=+simd128";

const RELAXED: &str = "-Ctarget-feature=+simd128,+relaxed-simd";

/// The memory may grow to the 4 GiB that 32 bits can address; each thread has a stack and its own
/// copy of thread-local data in it.
const THREADS: &str = "-Ctarget-feature=+simd128,+relaxed-simd,+atomics,+bulk-memory,+mutable-globals \
    -Clink-arg=--shared-memory -Clink-arg=--import-memory -Clink-arg=--max-memory=4294967296 \
    -Clink-arg=--export=__wasm_init_tls -Clink-arg=--export=__tls_size -Clink-arg=--export=__tls_align \
    -Clink-arg=--export=__tls_base";

/// The target of the files with 32-bit addresses, and of the site.
const TARGET: &str = "wasm32-unknown-unknown";

/// The target of the file with 64-bit addresses.
const TARGET_64: &str = "wasm64-unknown-unknown";

/// The loops that matter are written with the instructions that they are to have, so that the
/// compiler's taste in the code around them costs no time (`BENCHMARKS.md`); small code saves 25 kB
/// after gzip.
const SMALL: &str = "profile.release.package.engine.opt-level='z'";

/// A panic, which is a mistake of ours, stops the file at once and without a text: texts, places
/// and what writes them are 30 kB after gzip, a sixth of the file. A build without optimisation
/// keeps them.
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

/// Makes the files of the site in `out` and lists their names. In a debug build they are one file,
/// of the plain build.
///
/// # Errors
/// When one cannot be compiled, bound or written.
pub(crate) fn build(place: &Place<'_>, out: &Path) -> Result<WorkerFiles, BuildError> {
    copy_start_script(place.project, out)?;
    if !place.release {
        compile_whole(place)?;
        bind_whole(place, out)?;
        return files_in(out);
    }
    let nightly = nightly();
    for build in Build::ALL {
        if nightly.is_none() && needs_nightly(build) {
            continue;
        }
        make_engines(place, build, nightly, out)?;
    }
    make_cells(place, nightly, out)?;
    files_in(out)
}

/// Copies the script that starts the others under the name with its hash.
pub(crate) fn copy_start_script(project: &Path, out: &Path) -> Result<(), BuildError> {
    let script = read(&project.join(format!("public/{START_SCRIPT}.js")))?;
    let name = format!("{START_SCRIPT}-{}.js", hash(script.as_bytes()));
    if !out.join(&name).is_file() {
        bind::remove(START_SCRIPT, out)?;
    }
    write_new(&out.join(name), &script).map(|_| ())
}

/// Makes the debug files of the lab and of measuring for browsers that can do more than the plain
/// build asks for.
///
/// # Errors
/// When one cannot be compiled, bound or written.
pub(crate) fn quick_engines(place: &Place<'_>, out: &Path) -> Result<(), BuildError> {
    // The build without threads needs no nightly and is there sooner.
    make_engines(place, Build::Relaxed, None, out)?;
    match nightly() {
        Some(name) => [Build::RelaxedThreads, Build::Relaxed64]
            .into_iter()
            .try_for_each(|build| make_engines(place, build, Some(name), out)),
        None => Ok(()),
    }
}

/// Removes what [`quick_engines`] made.
///
/// # Errors
/// When a file cannot be removed.
pub(crate) fn remove_quick_engines(out: &Path) -> Result<(), BuildError> {
    for build in [Build::Relaxed, Build::RelaxedThreads, Build::Relaxed64] {
        for purpose in Purpose::ALL {
            bind::remove(&purpose.file(build), out)?;
        }
    }
    Ok(())
}

/// The files of the worker that are in `out`, by their names without the hash.
///
/// # Errors
/// When the folder cannot be read.
pub(crate) fn files_in(out: &Path) -> Result<WorkerFiles, BuildError> {
    let engines = Build::ALL
        .into_iter()
        .flat_map(|build| Purpose::ALL.map(|purpose| purpose.file(build)));
    let others = [CELLS, START_SCRIPT].map(str::to_owned);
    let known: Vec<String> = engines.chain(others).collect();
    let mut files = WorkerFiles::default();
    for file in names(out)? {
        let named = file
            .strip_suffix(".js")
            .and_then(|file| file.rsplit_once('-'));
        if let Some((name, hash)) = named
            && known.iter().any(|known| known == name)
        {
            files.add(name, hash);
        }
    }
    Ok(files)
}

/// A nightly compiler with the source of the standard library; says what is missing without it.
fn nightly() -> Option<&'static str> {
    let found = [NIGHTLY, OTHER_NIGHTLY].into_iter().find(|name| {
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
    });
    if found.is_none() {
        eprintln!(
            "pages: the engine is built without threads and without 64-bit addresses, and larger than it need be: all need {NIGHTLY} with its rust-src, which \
             `cargo xtask build` installs"
        );
    }
    found
}

/// Whether only a nightly compiler can make a build.
fn needs_nightly(build: Build) -> bool {
    build.has_threads() || build.is_wide()
}

/// The target that a build is compiled for.
fn target(build: Build) -> &'static str {
    if build.is_wide() { TARGET_64 } else { TARGET }
}

fn folder(place: &Place<'_>, build: Build) -> PathBuf {
    place.target.join(format!("engine-{}", build.name()))
}

/// The folder of what a build profile made for a target, in a target folder.
fn made_in(folder: &Path, target: &str, place: &Place<'_>) -> PathBuf {
    let profile = if place.release { "release" } else { "debug" };
    folder.join(target).join(profile)
}

/// Makes the files of a build for the purposes that have it.
fn make_engines(
    place: &Place<'_>,
    build: Build,
    nightly: Option<&str>,
    out: &Path,
) -> Result<(), BuildError> {
    let has = |purpose: &Purpose| purpose.builds().contains(&build);
    Purpose::ALL
        .into_iter()
        .filter(has)
        .try_for_each(|purpose| {
            let name = purpose.file(build);
            make(place, build, nightly, purpose.feature(), &name, out)
        })
}

/// Makes one file, unless it is kept and its sources are as they were.
fn make(
    place: &Place<'_>,
    build: Build,
    nightly: Option<&str>,
    feature: &str,
    name: &str,
    out: &Path,
) -> Result<(), BuildError> {
    let kept = kept(
        place,
        build,
        nightly,
        (feature, name),
        &[],
        |linked, kept| bind::anew(linked, WORKER, kept),
    )?;
    bind::copy(&kept, name, out)
}

/// Makes the file for cells and its chunks.
fn make_cells(place: &Place<'_>, nightly: Option<&str>, out: &Path) -> Result<(), BuildError> {
    let build = Build::Simd128;
    let cutter = ["crates/pages/src/chunks", "crates/pages/assets"];
    let kept = kept(
        place,
        build,
        nightly,
        (CELLS, CELLS),
        &cutter,
        |linked, kept| {
            bind::empty(kept)?;
            chunks::cut_worker(linked, CELLS, kept)
        },
    )?;
    bind::copy_folder(&kept, out)
}

/// The folder with a file of a build, compiled and bound again unless its sources are as they were.
/// `binder` are files of the project that decide what binding makes of it.
fn kept(
    place: &Place<'_>,
    build: Build,
    nightly: Option<&str>,
    (feature, name): (&str, &str),
    binder: &[&str],
    bind: impl FnOnce(&Path, &Path) -> Result<(), BuildError>,
) -> Result<PathBuf, BuildError> {
    let made = made_in(&folder(place, build), target(build), place);
    let kept = made.join("bound").join(name);
    let mut cargo = command(place, build, feature, nightly);
    let recipe = Recipe::of(place.project, &cargo, nightly);
    if !recipe.is_current(&kept) {
        let failed = |why: String| {
            BuildError::Other(format!(
                "the worker with {feature}, {}, cannot be built: {why}",
                build.name()
            ))
        };
        let status = cargo.status().map_err(|error| failed(error.to_string()))?;
        if !status.success() {
            return Err(failed(status.to_string()));
        }
        bind(&made.join("worker.wasm"), &kept)?;
        let mut sources = stamp::sources(&made.join("worker.d"))?;
        sources.extend(binder.iter().map(|path| place.project.join(path)));
        recipe.keep(&kept, &sources)?;
    }
    Ok(kept)
}

/// The command that compiles a file of a build.
fn command(place: &Place<'_>, build: Build, feature: &str, nightly: Option<&str>) -> Command {
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
        Build::Relaxed | Build::Relaxed64 => RELAXED,
        Build::RelaxedThreads => THREADS,
    }
    .to_owned();
    if place.release && nightly.is_some() {
        flags.push_str(SILENT);
    }
    cargo
        .args(["build", "--quiet", "--package", "worker", "--bin", "worker"])
        .args(["--no-default-features", "--features", feature])
        .args(["--target", target(build), "--target-dir"])
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
    cargo
}

/// Arguments for a debug build: the site and a worker that does everything, compiled together so
/// that all crates are compiled once.
const WHOLE: [&str; 9] = [
    "build",
    "--quiet",
    "--package",
    "transformer-notebook",
    "--package",
    "worker",
    "--bins",
    "--target",
    TARGET,
];

/// Compiles the worker of a debug build. Where Trunk has just built the site, only the worker is
/// left to link.
fn compile_whole(place: &Place<'_>) -> Result<(), BuildError> {
    let failed = |why: String| BuildError::Other(format!("the worker cannot be built: {why}"));
    let status = Command::new("cargo")
        .args(WHOLE)
        .arg("--target-dir")
        .arg(place.target)
        .current_dir(place.project)
        .status()
        .map_err(|error| failed(error.to_string()))?;
    if status.success() {
        Ok(())
    } else {
        Err(failed(status.to_string()))
    }
}

/// Puts the worker of a debug build into `out`, under the name of every file that it does the work
/// of; whether it is another one than last time.
///
/// # Errors
/// When it is not compiled yet, or cannot be bound or written.
pub(crate) fn bind_whole(place: &Place<'_>, out: &Path) -> Result<bool, BuildError> {
    let made = made_in(place.target, TARGET, place);
    let kept = made.join("bound/worker");
    let is_new = bind::unless_kept(&made.join("worker.wasm"), WORKER, &kept)?;
    let engines = Purpose::ALL.map(|purpose| purpose.file(Build::Simd128));
    for name in engines.iter().map(String::as_str).chain([CELLS]) {
        bind::copy(&kept, name, out)?;
    }
    Ok(is_new)
}

/// Puts the site of a debug build into `out`; whether it is another one than last time.
///
/// # Errors
/// When it is not compiled yet, or cannot be bound or written.
pub(crate) fn bind_site(place: &Place<'_>, out: &Path) -> Result<bool, BuildError> {
    let made = made_in(place.target, TARGET, place);
    let kept = made.join("bound").join(SITE);
    let wasm = made.join(format!("{SITE}.wasm"));
    let is_new = bind::unless_kept(&wasm, SITE, &kept)?;
    bind::copy_folder(&kept, out)?;
    Ok(is_new)
}

/// The name of the site's program, and of its files in a build without Trunk.
pub(crate) const SITE: &str = "transformer-notebook";
