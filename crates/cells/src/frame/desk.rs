//! Cells that take longer than a frame, or that need files of the site: they compute at a desk, which is a file of the worker.
//!
//! The page holds the descriptions of these cells and not the code that computes them; each file of the worker holds the code of one
//! desk.

use std::collections::BTreeMap;

use crate::computation::Computation;
use crate::error::CellError;
use crate::input::Inputs;
use crate::shelf::Shelf;
use crate::spec::{CellSpec, Desk, Job, Progress, Run};

/// Begins to compute a cell; the files that it needs are on the shelf.
pub type Start = fn(&Inputs, &Shelf) -> Result<Box<dyn Job>, CellError>;

/// A cell that computes at a desk.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Its description.
    pub spec: &'static CellSpec,
    /// The files below `models/` that it needs for some inputs.
    pub files: fn(&Inputs) -> Vec<&'static str>,
    /// Begins to compute.
    pub start: Start,
}

/// No files.
pub(crate) fn no_files(_: &Inputs) -> Vec<&'static str> {
    Vec::new()
}

/// The cells of one desk: a row for each cell of the registry, `None` where another desk or the page computes it.
pub type Table = [Option<Entry>];

macro_rules! row {
    (training training $($path:ident)::+) => {
        Some($($path)::+::ENTRY)
    };
    (models models $($path:ident)::+) => {
        Some($($path)::+::ENTRY)
    };
    ($desk:ident $place:ident $($path:ident)::+) => {
        None
    };
}

macro_rules! tables {
    ($($lesson:ident { $($cell:ident: $place:ident),+ $(,)? })+) => {
        /// The cells that compute with gradients, and those that need neither them nor a model.
        pub const TRAINING: &Table = &[$($(row!(training $place crate::lessons::$lesson::$cell)),+),+];

        /// The cells that compute with trained models.
        pub const MODELS: &Table = &[$($(row!(models $place crate::lessons::$lesson::$cell)),+),+];
    };
}
crate::for_each_lesson!(tables);

/// The entry of a cell.
pub fn find(table: &'static Table, name: &str) -> Option<&'static Entry> {
    table.iter().flatten().find(|entry| entry.spec.name == name)
}

/// The jobs that may be continued, one a cell.
#[derive(Default)]
pub struct Kept(BTreeMap<&'static str, Box<dyn Job>>);

impl Kept {
    /// A job for these inputs: the kept one of that cell where it can continue to them, else a new one.
    ///
    /// # Errors
    /// An input outside its limits, or what the start of the computation meets.
    pub fn begin(
        &mut self,
        entry: &Entry,
        inputs: &Inputs,
        shelf: &Shelf,
    ) -> Result<Box<dyn Job>, CellError> {
        entry.spec.check(inputs)?;
        if let Some(mut job) = self.0.remove(entry.spec.name)
            && job.go_on(inputs)?
        {
            return Ok(job);
        }
        (entry.start)(inputs, shelf)
    }

    /// Takes back a job that is done or dropped.
    pub fn keep(&mut self, spec: &'static CellSpec, job: Box<dyn Job>) {
        if job.is_kept() {
            self.0.insert(spec.name, job);
        }
    }
}

/// Computes any cell to its end, in this thread: for tests and the page builder, not for the page.
///
/// # Errors
/// An input outside its limits, or what the computation meets.
pub fn compute(spec: &CellSpec, inputs: &Inputs, shelf: &Shelf) -> Result<Computation, CellError> {
    let table = match spec.run {
        Run::Now(_) => return spec.compute(inputs),
        Run::Sliced(Desk::Training) => TRAINING,
        Run::Sliced(Desk::Models) => MODELS,
    };
    let entry = find(table, spec.name).ok_or_else(|| CellError::Missing(spec.name.to_owned()))?;
    let mut job = Kept::default().begin(entry, inputs, shelf)?;
    loop {
        if let Progress::Done(computation) = job.advance()? {
            return Ok(*computation);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry;

    #[test]
    fn every_cell_that_computes_in_slices_is_at_its_desk() {
        for spec in registry::all() {
            let at = |table| find(table, spec.name).is_some();
            let expected = match spec.run {
                Run::Now(_) => (false, false),
                Run::Sliced(Desk::Training) => (true, false),
                Run::Sliced(Desk::Models) => (false, true),
            };
            assert_eq!((at(TRAINING), at(MODELS)), expected, "{}", spec.name);
        }
    }
}
