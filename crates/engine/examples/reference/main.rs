//! Rebuilds the models of reference files from the formula that fills them, runs them on the files' inputs and compares.
//!
//!     cargo run --release -p engine --example reference -- FILE.json ...
//!
//! One JSON line for each compared field; exit code 1 where a difference is above its tolerance, 2 where a file cannot be used.

mod compare;
mod decoders;
mod encoders;
mod file;

use file::{Failure, Found, Reference};
use std::process::ExitCode;

/// Builds one model and runs it on the inputs of its file.
type Model = fn(&mut Reference) -> Result<Found, Failure>;

/// The models that a file can name.
const MODELS: &[(&str, Model)] = &[
    ("gpt2", decoders::gpt2),
    ("llama", decoders::llama),
    ("bert", encoders::bert),
    ("vit", encoders::vit),
    ("vit384", encoders::vit),
    ("dinov2", encoders::dinov2),
    ("swinv2", encoders::swinv2),
    ("transformer", encoders::transformer),
];

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
        return ExitCode::from(2);
    }
    let mut code = 0;
    for path in &files {
        match check(path) {
            Ok(true) => {}
            Ok(false) => code = code.max(1),
            Err(failure) => {
                eprintln!("{path}: {failure}");
                code = 2;
            }
        }
    }
    ExitCode::from(code)
}

/// Whether every field of the file at `path` is within its tolerance; prints a line for each.
fn check(path: &str) -> Result<bool, Failure> {
    let mut reference = Reference::open(path)?;
    let model = MODELS.iter().find(|(name, _)| *name == reference.model);
    let Some((_, model)) = model else {
        let known: Vec<&str> = MODELS.iter().map(|(name, _)| *name).collect();
        let (found, known) = (&reference.model, known.join(", "));
        return Err(format!("model must be one of {known}; found {found}").into());
    };
    let found = model(&mut reference)?;
    let lines = compare::compare(path, &reference, &found)?;
    for line in &lines {
        println!("{}", line.json());
    }
    Ok(lines.iter().all(|line| line.pass))
}
