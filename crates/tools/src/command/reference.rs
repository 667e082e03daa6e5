//! Comparison of the engine with reference outputs of full-size models: the command `reference`.

use super::arguments::{Arguments, Failure};
use tools::reference;

pub(crate) const HELP: &str = "\
Compares the engine with reference outputs of full-size models.

usage: notebook reference FILE.json ...

Each file names a model, its hyperparameters, the shapes of its parameters (which a formula fills), a seed, inputs and the
outputs to compare with. Printed is one JSON object a line:
  file, model, field     what was compared
  max_abs, max_rel       the largest absolute and relative difference
  tolerance, pass        the largest absolute difference allowed, and whether it was kept
Exit code: 0 all passed, 1 a difference is above its tolerance, 2 a file cannot be used.";

pub(crate) fn run(arguments: Arguments) -> Result<(), Failure> {
    let files = arguments.read(|_, _| Ok(false))?;
    if files.is_empty() {
        return Err(Failure::Usage("FILE.json is missing".to_owned()));
    }
    match reference::run(&files, &mut std::io::stdout(), &mut std::io::stderr()) {
        reference::PASSED => Ok(()),
        code => Err(Failure::Code(code)),
    }
}
