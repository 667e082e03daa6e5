//! Where cells compute that take longer than a frame, or that need files of the site: at a desk, which is a file of the worker.
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
pub struct Entry {
    /// Its description.
    pub spec: &'static CellSpec,
    /// The files below `models/` that it needs for some inputs.
    pub files: fn(&Inputs) -> Vec<&'static str>,
    /// Begins to compute.
    pub start: Start,
}

/// No files.
fn none(_: &Inputs) -> Vec<&'static str> {
    Vec::new()
}

/// What computes with gradients, and what needs neither them nor a model.
pub const TRAINING: &[Entry] = &[
    Entry {
        spec: &crate::why_scale::SPEC,
        files: none,
        start: |inputs, _| crate::why_scale::start(inputs),
    },
    Entry {
        spec: &crate::train_tiny::SPEC,
        files: none,
        start: |inputs, _| crate::train_tiny::start(inputs),
    },
    Entry {
        spec: &crate::break_it::SPEC,
        files: none,
        start: |inputs, _| crate::break_it::start(inputs),
    },
    Entry {
        spec: &crate::train_the_race::SPEC,
        files: none,
        start: |inputs, _| crate::train_the_race::start(inputs),
    },
    Entry {
        spec: &crate::gradient_check::SPEC,
        files: none,
        start: |inputs, _| crate::gradient_check::start(inputs),
    },
    Entry {
        spec: &crate::alignment_gradient::SPEC,
        files: none,
        start: |inputs, _| crate::alignment_gradient::start(inputs),
    },
];

/// A cell over text with a trained model or random weights, as the reader chooses.
macro_rules! text {
    ($cell:ident) => {
        Entry {
            spec: &crate::$cell::SPEC,
            files: crate::trained::files,
            start: |inputs, shelf| crate::trained::job(inputs, shelf, crate::$cell::compute),
        }
    };
}

/// What computes with trained models.
pub const MODELS: &[Entry] = &[
    Entry {
        spec: &crate::forgetting::SPEC,
        files: crate::forgetting::files,
        start: crate::forgetting::start,
    },
    Entry {
        spec: &crate::seq2seq_race::SPEC,
        files: crate::race::files,
        start: crate::seq2seq_race::start,
    },
    Entry {
        spec: &crate::race_measure::SPEC,
        files: crate::race_measure::files,
        start: crate::race_measure::start,
    },
    Entry {
        spec: &crate::alignment_lines::SPEC,
        files: crate::alignment_lines::files,
        start: crate::alignment_lines::start,
    },
    text!(attention_map),
    text!(permutation),
    text!(leak_test),
    text!(three_attentions),
    text!(bag_of_words),
    text!(learned_table),
    Entry {
        spec: &crate::patch_embedding::SPEC,
        files: crate::trained::files,
        start: crate::patch_embedding::start,
    },
];

/// The entry of a cell.
pub fn find(table: &'static [Entry], name: &str) -> Option<&'static Entry> {
    table.iter().find(|entry| entry.spec.name == name)
}

/// The jobs that may go on, one a cell.
#[derive(Default)]
pub struct Kept(BTreeMap<&'static str, Box<dyn Job>>);

impl Kept {
    /// A job for these inputs: the kept one of that cell where it can go on to them, else a new one.
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

/// Computes any cell to its end, where all desks are at hand: not for the page.
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
        for entry in TRAINING.iter().chain(MODELS) {
            assert!(
                registry::find(entry.spec.name).is_some(),
                "{}",
                entry.spec.name
            );
        }
    }
}
