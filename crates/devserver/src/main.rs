//! `devserver`: `cargo xtask serve` runs it.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use devserver::{ServeError, Serving};
use lexopt::prelude::{Long, ValueExt};

const USAGE: &str = "\
devserver [--port N] [--open]
    Builds the site, serves it on http://127.0.0.1:N (8080 unless told otherwise) and
    builds again what each change asks for. --open opens it in the browser.";

struct Options {
    port: u16,
    open: bool,
}

fn main() -> ExitCode {
    let options = match read() {
        Ok(options) => options,
        Err(error) => {
            eprintln!("{error}\n{USAGE}");
            return ExitCode::FAILURE;
        }
    };
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn read() -> Result<Options, lexopt::Error> {
    let mut options = Options {
        port: 8080,
        open: false,
    };
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("port") => options.port = parser.value()?.parse()?,
            Long("open") => options.open = true,
            other => return Err(other.unexpected()),
        }
    }
    Ok(options)
}

fn run(options: &Options) -> Result<(), ServeError> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = root
        .canonicalize()
        .map_err(|source| ServeError::File { path: root, source })?;
    // This program lies in the folder that cargo builds everything into.
    let target = std::env::current_exe()
        .ok()
        .and_then(|program| Some(program.parent()?.parent()?.to_owned()))
        .unwrap_or_else(|| root.join("target"));
    let serving = Serving::start(&root, target, options.port)?;
    let address = format!("http://{}", serving.address());
    println!("serving {address} (Ctrl-C stops it)");
    if options.open {
        open(&address);
    }
    serving.forever();
    Ok(())
}

/// Opens an address in the browser; says where to look when that fails.
fn open(address: &str) {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(windows) {
        "explorer"
    } else {
        "xdg-open"
    };
    let started = Command::new(program)
        .arg(address)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if started.is_err() {
        println!("there is no {program} here: open {address} yourself");
    }
}
