//! Cells that compute in a worker: those that take longer than a frame, or that need files of the site.
//!
//! The page holds the descriptions of these cells and not the code that computes them; the file of each kind of worker
//! ([`WorkerKind`]) holds the code of one table.

use std::collections::BTreeMap;

use crate::computation::Computation;
use crate::error::CellError;
use crate::input::Inputs;
use crate::model_cache::ModelCache;
use crate::spec::{CellSpec, Job, Progress, Run, WorkerKind};

/// A function that starts the job of a cell; the files that it needs are in the cache.
pub type Start = fn(&Inputs, &ModelCache) -> Result<Box<dyn Job>, CellError>;

/// A cell that computes in a worker.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Its description.
    pub spec: &'static CellSpec,
    /// The files below `models/` that it needs for some inputs.
    pub files: fn(&Inputs) -> Vec<&'static str>,
    /// Starts its job.
    pub start: Start,
}

/// No files.
pub(crate) fn no_files(_: &Inputs) -> Vec<&'static str> {
    Vec::new()
}

/// The cells of one kind of worker: a row for each cell of the registry, `None` where another kind or the page computes it.
pub type Table = [Option<Entry>];

macro_rules! row {
    (training training $($path:ident)::+) => {
        Some($($path)::+::ENTRY)
    };
    (models models $($path:ident)::+) => {
        Some($($path)::+::ENTRY)
    };
    ($kind:ident $place:ident $($path:ident)::+) => {
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
pub struct JobCache(BTreeMap<&'static str, Box<dyn Job>>);

impl JobCache {
    /// A job for these inputs: the kept one of that cell where it can be continued to them, else a new one.
    ///
    /// # Errors
    /// An input outside its limits, or what the start of the computation meets.
    pub fn begin(
        &mut self,
        entry: &Entry,
        inputs: &Inputs,
        cache: &ModelCache,
    ) -> Result<Box<dyn Job>, CellError> {
        entry.spec.check(inputs)?;
        if let Some(mut job) = self.0.remove(entry.spec.name)
            && job.go_on(inputs)?
        {
            return Ok(job);
        }
        (entry.start)(inputs, cache)
    }

    /// Takes back a job that is done or dropped.
    pub fn keep(&mut self, spec: &'static CellSpec, job: Box<dyn Job>) {
        if job.is_kept() {
            self.0.insert(spec.name, job);
        }
    }
}

/// Computes any cell to its end. Not for the page, which lacks the code of the workers.
///
/// # Errors
/// An input outside its limits, or what the computation meets.
pub fn compute(
    spec: &CellSpec,
    inputs: &Inputs,
    cache: &ModelCache,
) -> Result<Computation, CellError> {
    let table = match spec.run {
        Run::Now(_) => return spec.compute(inputs),
        Run::Sliced(WorkerKind::Training) => TRAINING,
        Run::Sliced(WorkerKind::Models) => MODELS,
    };
    let entry = find(table, spec.name).ok_or_else(|| CellError::Missing(spec.name.to_owned()))?;
    let mut job = JobCache::default().begin(entry, inputs, cache)?;
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
    fn every_cell_that_computes_in_slices_is_in_the_table_of_its_worker() {
        for spec in registry::all() {
            let at = |table| find(table, spec.name).is_some();
            let expected = match spec.run {
                Run::Now(_) => (false, false),
                Run::Sliced(WorkerKind::Training) => (true, false),
                Run::Sliced(WorkerKind::Models) => (false, true),
            };
            assert_eq!((at(TRAINING), at(MODELS)), expected, "{}", spec.name);
        }
    }
}
