//! Cells that compute in a worker: those that take longer than a frame, or that need files of the
//! site.
//!
//! The page holds the descriptions of these cells and not the code that computes them. The worker
//! loads that code cell by cell, an [`Entry`] for each.

use litemap::LiteMap;

use crate::computation::Computation;
use crate::error::CellError;
use crate::input::Inputs;
use crate::model_cache::ModelCache;
use crate::spec::{CellSpec, Job, Progress, Run};

/// A function that starts the job of a cell; the files that it needs are in the cache.
pub type Start = fn(&Inputs, &ModelCache) -> Result<Box<dyn Job>, CellError>;

/// A cell that computes in a worker.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Its name. Its description, with the texts of its inputs, is the page's.
    pub name: &'static str,
    /// The files below `models/` that it needs for some inputs, in the order in which they are
    /// fetched.
    pub files: fn(&Inputs) -> Vec<&'static str>,
    /// Starts its job.
    pub start: Start,
    /// Where its job may start while files are missing: the number of first files that it cannot do
    /// without, next to at least one other. It computes with those in the cache, and its result is a
    /// part of the whole one.
    pub partial_from: Option<usize>,
}

/// No files.
pub(crate) fn no_files(_: &Inputs) -> Vec<&'static str> {
    Vec::new()
}

macro_rules! entries {
    ($($lesson:ident { $($cell:ident: $place:ident),+ $(,)? })+) => {
        /// The names of all cells.
        const NAMES: &[&str] = &[$($(crate::lessons::$lesson::$cell::SPEC.name),+),+];

        /// Every cell with its entry, `None` where the page computes it. Not for the worker, which
        /// loads the code of one cell at a time.
        const ALL: &[(&str, Option<&Entry>)] =
            &[$($((crate::lessons::$lesson::$cell::SPEC.name, entry!($place $lesson $cell))),+),+];
    };
}

macro_rules! entry {
    (page $lesson:ident $cell:ident) => {
        None
    };
    ($kind:ident $lesson:ident $cell:ident) => {
        Some(&crate::lessons::$lesson::$cell::ENTRY)
    };
}
crate::for_each_lesson!(entries);

/// The name of a cell; `None` where there is none of that name. It needs no cell's code.
pub fn name_of(cell: &str) -> Option<&'static str> {
    NAMES.iter().copied().find(|name| *name == cell)
}

/// Every entry.
pub fn all() -> impl Iterator<Item = &'static Entry> {
    ALL.iter().filter_map(|(_, entry)| *entry)
}

/// The entry of a cell; `None` where the page computes it, or there is no such cell.
pub fn find(name: &str) -> Option<&'static Entry> {
    all().find(|entry| entry.name == name)
}

/// The jobs that may be continued, one a cell.
#[derive(Default)]
pub struct JobCache(LiteMap<&'static str, Box<dyn Job>>);

impl JobCache {
    /// A job for these inputs, which the page or [`compute`] has checked: the kept one of that cell
    /// where it can be continued to them, else a new one.
    ///
    /// # Errors
    /// An input that is missing, or what the start of the computation meets.
    pub fn begin(
        &mut self,
        entry: &Entry,
        inputs: &Inputs,
        cache: &ModelCache,
    ) -> Result<Box<dyn Job>, CellError> {
        match self.continued(entry.name, inputs, cache)? {
            Some(job) => Ok(job),
            None => (entry.start)(inputs, cache),
        }
    }

    /// The kept job of a cell where it can be continued to these inputs.
    ///
    /// # Errors
    /// An input that is missing.
    pub(crate) fn continued(
        &mut self,
        name: &str,
        inputs: &Inputs,
        cache: &ModelCache,
    ) -> Result<Option<Box<dyn Job>>, CellError> {
        let Some(mut job) = self.0.remove(name) else {
            return Ok(None);
        };
        Ok(job.go_on(inputs, cache)?.then_some(job))
    }

    /// Takes back a job that is done or dropped.
    pub fn keep(&mut self, name: &'static str, job: Box<dyn Job>) {
        if job.is_kept() {
            self.0.insert(name, job);
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
    if matches!(spec.run, Run::Now(_)) {
        return spec.compute(inputs);
    }
    let entry = find(spec.name).ok_or_else(|| CellError::Missing(spec.name.to_owned()))?;
    spec.check(inputs)?;
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
    fn every_cell_that_computes_in_slices_has_an_entry() {
        for spec in registry::all() {
            let is_sliced = matches!(spec.run, Run::Sliced(_));
            assert_eq!(find(spec.name).is_some(), is_sliced, "{}", spec.name);
        }
        assert!(find("no-such-cell").is_none() && name_of("no-such-cell").is_none());
    }
}
