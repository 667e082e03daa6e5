//! `cargo xtask`: sets the machine up, builds, tests and serves this project. It uses the standard
//! library alone, so it builds in a second on a machine that has nothing else yet.

mod bench;
mod build;
mod class_names;
mod deny;
mod failure;
mod fmt;
mod lock;
mod nightly;
mod npm;
mod process;
mod project;
mod serve;
mod system;
mod test;
mod tools;
mod train;

use std::process::ExitCode;

use failure::Failure;

const HELP: &str = "\
Sets the machine up, builds, tests and serves Transformer Notebook.

Usage: cargo xtask COMMAND [OPTIONS]

Commands:
  serve [--open] [--port N]
                          run the site on http://127.0.0.1:8080 and build what each change asks for; needs a C linker and
                          the wasm target, which are installed when they are missing. With --release Trunk serves the
                          build that is published, and takes further options
  build [--base PATH]     write the deployable static site to dist/, small and with its sizes printed. PATH is where it
                          will be served: `./` (the default: any folder of any host) or an absolute path such as /book/
  test [--only NAME]...   run every check that CI runs, keep going after a failure, print a summary;
                          exit code 1 if anything failed
  train NAME --data PATH [OPTIONS]
                          train a model that the lessons ship; `train --help` lists the names, `train NAME --help` the options
  fmt [--check]           format every source file; `cargo fmt` alone does not find the cells, which a macro declares
  bench --loop            measure how long a save takes until the open page shows it: of a lesson, a style sheet, a file of
                          src/, a cell's computation
  bench [--no-build] [OPTIONS]
                          measure full-size models in headless Chromium: a JSON line for each; `bench --help` tells
                          the other options
  test --list             list the names that --only takes

Missing programs: Rust tools are installed with cargo and rustup. System packages (Chromium, node) are
installed with apt-get when run as root; else the one command that installs them is printed and the exit code is 1.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("\nxtask: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the command that the arguments name.
fn dispatch(arguments: &[String]) -> Result<ExitCode, Failure> {
    let (command, options) = match arguments.split_first() {
        Some((command, options)) => (command.as_str(), options),
        None => ("--help", &[][..]),
    };
    let asks_help = options
        .iter()
        .any(|option| option == "--help" || option == "-h");
    // These programs have a help of their own.
    let has_own_help = matches!(command, "train" | "bench");
    if matches!(command, "--help" | "-h" | "help") || asks_help && !has_own_help {
        print!("{HELP}");
        return Ok(ExitCode::SUCCESS);
    }
    match command {
        "serve" => serve::serve(options),
        "bench" => bench::command(options),
        "build" => build::command(options),
        "fmt" => fmt::command(options),
        "test" => test::command(options),
        "train" => train::train(options),
        other => Err(Failure::usage(format!("there is no command `{other}`"))),
    }
}
