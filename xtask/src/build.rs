//! `cargo xtask build`: the deployable static site.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use crate::failure::Failure;
use crate::process::{self, cargo, run, say};
use crate::system::{self, Need};
use crate::{nightly, npm, project, tools};

/// What wasm-opt may use: the features that the compiler was allowed to emit, no more.
const WASM_FEATURES: &[&str] = &[
    "--enable-simd",
    "--enable-bulk-memory",
    "--enable-bulk-memory-opt",
    "--enable-nontrapping-float-to-int",
    "--enable-sign-ext",
    "--enable-mutable-globals",
    "--enable-reference-types",
    "--enable-multivalue",
];

/// What the engine for full-size models may use besides.
const ENGINE_FEATURES: &[&str] = &["--enable-relaxed-simd", "--enable-threads"];

/// The same for the engine with 64-bit addresses, which has one thread.
const WIDE_FEATURES: &[&str] = &["--enable-relaxed-simd", "--enable-memory64"];

/// Flags for the site by the nightly compiler: those of `.cargo/config.toml`, and a panic, which is
/// a mistake of ours, stops the program without a text.
const SITE_FLAGS: &str = "-Ctarget-feature=+simd128 --cfg erase_components -Zunstable-options -Cpanic=immediate-abort \
     -Zlocation-detail=none";

/// Builds for the base path in the options, installing what is missing first.
///
/// # Errors
/// When an option is wrong, something cannot be installed, or a build step fails.
pub(crate) fn command_line(options: &[String]) -> Result<String, Failure> {
    match options {
        [] => Ok("./".to_owned()),
        [flag, base] if flag == "--base" && (base == "./" || base.starts_with('/')) => {
            Ok(if base.ends_with('/') {
                base.clone()
            } else {
                format!("{base}/")
            })
        }
        [flag, base] if flag == "--base" => Err(Failure::usage(format!(
            "the base path `{base}` is neither `./` nor starts with `/`"
        ))),
        _ => Err(Failure::usage(format!(
            "build does not take `{}`",
            options.join(" ")
        ))),
    }
}

/// The command: builds, then prints the sizes.
///
/// # Errors
/// As [`command_line`], and when a size is over its budget.
pub(crate) fn command(options: &[String]) -> Result<ExitCode, Failure> {
    let base = command_line(options)?;
    system::ensure(&[Need::Linker, Need::Node])?;
    tools::ensure()?;
    npm::ensure()?;
    build(&base)?;
    run(&mut sizes()?)?;
    say(format_args!("the site is in {}", project::dist().display()));
    Ok(ExitCode::SUCCESS)
}

/// Builds the site into `dist/` for a base path. The tools must be there.
///
/// # Errors
/// When a build step fails.
pub(crate) fn build(base: &str) -> Result<(), Failure> {
    say(format_args!("building the site for the base path {base}"));
    run(for_size(&mut tools::trunk())
        .args(["--config", "Trunk.release.toml", "build", "--release"])
        .args(["--public-url", base]))?;
    let pages = compiled("pages")?;
    run(process::command(&pages)
        .env("PRERENDER", compiled("prerender")?)
        .args(["--release", "--public-url", base, "--out"])
        .arg(project::dist()))?;
    for path in project::files_under(&project::dist())? {
        if path.extension().is_some_and(|kind| kind == "wasm") {
            shrink(&path)?;
        }
    }
    say("ordering the functions of each wasm file so that like ones are neighbours");
    run(process::command(&pages).arg("--order").arg(project::dist()))?;
    say(
        "writing the offline file list again: it holds a hash of each file, and the wasm has changed",
    );
    run(process::command(&pages)
        .arg("--relist")
        .arg(project::dist()))
}

/// Has a command compile the site by the nightly compiler, where there is one: it can build the
/// standard library for its size and leave out the texts of panics, and saves a fifth of what a
/// reader downloads. Without it the site does the same.
fn for_size(command: &mut Command) -> &mut Command {
    match nightly::name() {
        Some(toolchain) => command
            .env("RUSTUP_TOOLCHAIN", toolchain)
            .env("CARGO_UNSTABLE_BUILD_STD", "std,panic_abort")
            .env("CARGO_UNSTABLE_BUILD_STD_FEATURES", "optimize_for_size")
            .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", SITE_FLAGS),
        None => command,
    }
}

/// The program that prints the sizes of the built site; it fails where one is over its budget.
///
/// # Errors
/// When it cannot be compiled.
pub(crate) fn sizes() -> Result<Command, Failure> {
    let mut sizes = process::command(compiled("sizes")?);
    sizes.arg(project::dist());
    Ok(sizes)
}

/// The path of a program of this workspace, compiled. Naming the whole workspace gives its packages
/// the features that they have in the tests, so nothing is compiled twice.
fn compiled(name: &str) -> Result<PathBuf, Failure> {
    run(cargo().args(["build", "--quiet", "--workspace", "--bin", name]))?;
    let file = format!("debug/{name}{}", std::env::consts::EXE_SUFFIX);
    Ok(project::target().join(file))
}

/// Makes a wasm file small, in place.
fn shrink(path: &std::path::Path) -> Result<(), Failure> {
    say(format_args!("shrinking {} with wasm-opt", path.display()));
    let small = path.with_extension("wasm-small");
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // The engines are where speed matters.
    let (level, more) = if name.starts_with("lab-relaxed-64-") {
        ("-O3", WIDE_FEATURES)
    } else if name.starts_with("engine-") || name.starts_with("lab-") {
        ("-O3", ENGINE_FEATURES)
    } else {
        ("-Oz", &[][..])
    };
    run(process::command(npm::wasm_opt())
        .arg(level)
        // Rust's memory starts with the end of the stack, which only an overflow reaches.
        .arg("--low-memory-unused")
        .args(WASM_FEATURES)
        .args(more)
        .arg(path)
        .arg("-o")
        .arg(&small))?;
    std::fs::rename(&small, path).map_err(|error| Failure::file("replace", path, &error))
}
