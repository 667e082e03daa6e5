//! `pages`: builds the site's pages. Trunk runs it as a post_build hook; see `docs/authoring.md`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use pages::{BuildError, Job, build, relist};

const USAGE: &str = "\
pages [--out DIR] [--public-url URL] [--release]
    Builds the pages into DIR, which holds Trunk's index.html. Trunk's own
    variables (TRUNK_STAGING_DIR, TRUNK_PUBLIC_URL, TRUNK_PROFILE) are the defaults.
    With NOTEBOOK_DRAFT set, mistakes in lessons are printed and do not stop a
    debug build: lessons that do not compile are left out.
pages --relist DIR
    Writes the list of files for offline reading anew, after files in DIR changed.";

fn main() -> ExitCode {
    match run(std::env::args().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(mut args: impl Iterator<Item = String>) -> Result<(), BuildError> {
    let variable = |name: &str| std::env::var(name).ok();
    let project = variable("TRUNK_SOURCE_DIR").map(PathBuf::from);
    let project = project.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    let project = project.canonicalize().map_err(|source| BuildError::File {
        path: project,
        source,
    })?;
    let mut out = variable("TRUNK_STAGING_DIR");
    let mut public_url = variable("TRUNK_PUBLIC_URL").unwrap_or_else(|| "/".to_owned());
    let mut release = variable("TRUNK_PROFILE").is_some_and(|profile| profile == "release");
    while let Some(arg) = args.next() {
        let mut value = || {
            args.next()
                .ok_or_else(|| BuildError::Other(USAGE.to_owned()))
        };
        match arg.as_str() {
            "--relist" => return relist(Path::new(&value()?), &project.join("public/sw.js")),
            "--out" => out = Some(value()?),
            "--public-url" => public_url = value()?,
            "--release" => release = true,
            _ => return Err(BuildError::Other(USAGE.to_owned())),
        }
    }
    // This program lies in the folder that Cargo has built everything else into.
    let target = std::env::current_exe()
        .ok()
        .and_then(|program| Some(program.parent()?.parent()?.to_owned()));
    let linked = target
        .as_ref()
        .filter(|_| release)
        .map(|target| target.join("wasm32-unknown-unknown/release/transformer-notebook.wasm"));
    let draft = !release && variable("NOTEBOOK_DRAFT").is_some();
    let out = out
        .map(PathBuf::from)
        .ok_or_else(|| BuildError::Other(USAGE.to_owned()))?;
    build(&Job {
        project,
        out,
        public_url,
        release,
        linked,
        target,
        draft,
    })
}
