//! `pages`: builds the site's pages. Trunk runs it as a post_build hook, and the development server
//! keeps it running; see `docs/authoring.md`.

use std::ffi::OsString;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lexopt::prelude::{Long, ValueExt};
use pages::{BuildError, Follower, Job, SiteAddress, VARIABLE, build, make_smaller, relist};
use serde_json::{Value, json};

const USAGE: &str = "\
pages [--out DIR] [--public-url URL] [--release]
    Builds the pages into DIR, which holds Trunk's index.html. Trunk's own
    variables (TRUNK_STAGING_DIR, TRUNK_PUBLIC_URL, TRUNK_PROFILE) are the defaults.
    With NOTEBOOK_DRAFT set, mistakes in lessons are printed and do not stop a
    debug build: lessons that do not compile are left out. SITE_ADDRESS holds the
    whole address of the published site: then pages name theirs, for search engines
    and for links that are shown elsewhere.
pages --order DIR
    Puts the functions of the wasm files in DIR into an order that compresses better,
    and shortens the names of their imports.
pages --relist DIR
    Writes the list of files for offline reading anew, after files in DIR changed.
pages --follow --out DIR [--script ADDRESS]
    Makes a debug build's pages without Trunk, each time that it is told to: a line
    `pages` on the standard input writes the pages that changed, a line `bind` puts the
    compiled site and its worker into DIR, and a line `forget-engines` removes what
    --engines made. Each answer is a line of JSON. Every
    page also runs the script at ADDRESS.
pages --engines --out DIR
    Makes a debug build's files of the lab and of measuring for browsers with
    relaxed SIMD and threads.";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// The action that the command line asks for.
enum Action {
    Build,
    Follow,
    Engines,
}

/// What is done to a folder with a built site.
enum Finish {
    Order(OsString),
    Relist(OsString),
}

/// The command line, with what Trunk says in variables.
struct Options {
    action: Action,
    out: Option<PathBuf>,
    public_url: String,
    release: bool,
    script: Option<String>,
}

fn run() -> Result<(), BuildError> {
    let variable = |name: &str| std::env::var(name).ok();
    let project = variable("TRUNK_SOURCE_DIR").map(PathBuf::from);
    let project = project.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    let project = project.canonicalize().map_err(|source| BuildError::File {
        path: project,
        source,
    })?;
    let mut options = Options {
        action: Action::Build,
        out: variable("TRUNK_STAGING_DIR").map(PathBuf::from),
        public_url: variable("TRUNK_PUBLIC_URL").unwrap_or_else(|| "/".to_owned()),
        release: variable("TRUNK_PROFILE").is_some_and(|profile| profile == "release"),
        script: None,
    };
    let usage = |error: lexopt::Error| BuildError::Other(format!("{error}\n{USAGE}"));
    match read(&mut options).map_err(usage)? {
        Some(Finish::Order(folder)) => return make_smaller(Path::new(&folder)),
        Some(Finish::Relist(folder)) => {
            return relist(Path::new(&folder), &project.join("public/sw.js"));
        }
        None => {}
    }
    let out = options
        .out
        .ok_or_else(|| BuildError::Other(USAGE.to_owned()))?;
    // This program lies in the folder that Cargo has built everything else into.
    let target = std::env::current_exe()
        .ok()
        .and_then(|program| Some(program.parent()?.parent()?.to_owned()));
    let release = options.release;
    let draft = !release && variable("NOTEBOOK_DRAFT").is_some();
    if matches!(options.action, Action::Build) {
        let linked = target
            .as_ref()
            .filter(|_| release)
            .map(|target| target.join("wasm32-unknown-unknown/site/transformer-notebook.wasm"));
        return build(&Job {
            address: variable(VARIABLE)
                .map(|text| SiteAddress::parse(&text, &options.public_url))
                .transpose()?,
            project,
            out,
            public_url: options.public_url,
            release,
            figures: release,
            linked,
            target,
            draft,
        });
    }
    let target = target
        .ok_or_else(|| BuildError::Other("this program is not in a target folder".to_owned()))?;
    let follower = Follower::new(&project, &out, &target, draft).with_script(options.script);
    match options.action {
        Action::Engines => follower.engines(),
        Action::Follow | Action::Build => follow(follower),
    }
}

/// Reads the command line into `options`; what it asks to do to a built site instead.
fn read(options: &mut Options) -> Result<Option<Finish>, lexopt::Error> {
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("order") => return Ok(Some(Finish::Order(parser.value()?))),
            Long("relist") => return Ok(Some(Finish::Relist(parser.value()?))),
            Long("follow") => options.action = Action::Follow,
            Long("engines") => options.action = Action::Engines,
            Long("out") => options.out = Some(parser.value()?.into()),
            Long("public-url") => options.public_url = parser.value()?.string()?,
            Long("script") => options.script = Some(parser.value()?.string()?),
            Long("release") => options.release = true,
            other => return Err(other.unexpected()),
        }
    }
    Ok(None)
}

/// Answers each line of the standard input until it ends.
fn follow(mut follower: Follower) -> Result<(), BuildError> {
    let answer_to = |order: &str, follower: &mut Follower| match order {
        "pages" => follower.pages().map(|pages| json!({ "changed": pages })),
        "forget-engines" => follower.forget_engines().map(|()| json!({})),
        "bind" => follower.bind().map(|new| json!({ "new": new })),
        other => Err(BuildError::Other(format!("there is no order `{other}`"))),
    };
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(no_pipe)?;
        let answer: Value = answer_to(line.trim(), &mut follower)
            .unwrap_or_else(|error| json!({ "error": error.to_string() }));
        let mut out = std::io::stdout().lock();
        writeln!(out, "{answer}")
            .and_then(|()| out.flush())
            .map_err(no_pipe)?;
    }
    Ok(())
}

fn no_pipe(source: std::io::Error) -> BuildError {
    BuildError::File {
        path: PathBuf::from("standard input or output"),
        source,
    }
}
