//! Rebuilds the models of reference files from the formula that fills them, runs them on the files' inputs and compares.
//!
//!     cargo run --release -p engine --example reference -- FILE.json ...
//!
//! One JSON line for each compared field; exit code 1 where a difference is above its tolerance, 2 where a file cannot be used.

mod compare;
mod decoders;
mod encoders;
mod file;
mod files;
mod models;

use std::process::ExitCode;

const HELP: &str = "\
Compares the engine with reference outputs of full-size models.

usage: reference FILE.json ...

Each file names a model, its hyperparameters, the shapes of its parameters (which a formula fills), a seed, inputs and the
outputs to compare with. Printed is one JSON object a line:
  file, model, field     what was compared
  max_abs, max_rel       the largest absolute and relative difference
  tolerance, pass        the largest absolute difference allowed, and whether it was kept
Exit code: 0 all passed, 1 a difference is above its tolerance, 2 a file cannot be used.";

fn main() -> ExitCode {
    let files: Vec<String> = std::env::args().skip(1).collect();
    if files.iter().any(|arg| arg == "--help" || arg == "-h") {
        println!("{HELP}");
        return ExitCode::SUCCESS;
    }
    if files.is_empty() {
        eprintln!("{HELP}");
        return ExitCode::from(files::UNUSABLE);
    }
    let code = files::run(&files, &mut std::io::stdout(), &mut std::io::stderr());
    ExitCode::from(code)
}
