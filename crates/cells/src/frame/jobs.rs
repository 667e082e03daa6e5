//! Cells that compute in a worker: those that take longer than a frame, or that need files of the
//! site.
//!
//! The page holds the descriptions of these cells and not the code that computes them. The worker
//! loads that code lesson by lesson, a [`Table`] for each.

use std::collections::BTreeMap;

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
    /// Its description.
    pub spec: &'static CellSpec,
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

/// The cells of one lesson: a row for each, `None` where the page computes it.
pub type Table = [Option<Entry>];

macro_rules! row {
    (page $($path:ident)::+) => {
        None
    };
    ($kind:ident $($path:ident)::+) => {
        Some($($path)::+::ENTRY)
    };
}

macro_rules! tables {
    ($($lesson:ident { $($cell:ident: $place:ident),+ $(,)? })+) => {
        /// The table of each lesson. Each is a function so that the code of its cells can be a
        /// chunk of the worker.
        pub mod tables {
            $(
                /// The cells of this lesson.
                #[inline]
                pub const fn $lesson() -> &'static super::Table {
                    &[$(row!($place crate::lessons::$lesson::$cell)),+]
                }
            )+
        }

        /// Every lesson with its table.
        pub const LESSONS: &[(&str, fn() -> &'static Table)] =
            &[$((stringify!($lesson), tables::$lesson as fn() -> &'static Table)),+];

        /// Every lesson with the names of its cells.
        const NAMES: &[(&str, &[&str])] =
            &[$((stringify!($lesson), &[$(crate::lessons::$lesson::$cell::SPEC.name),+])),+];
    };
}
crate::for_each_lesson!(tables);

/// The lesson of a cell. It needs no cell's code.
pub fn lesson_of(cell: &str) -> Option<&'static str> {
    let lesson = NAMES.iter().find(|(_, cells)| cells.contains(&cell));
    lesson.map(|(lesson, _)| *lesson)
}

/// The entry of a cell in the table of its lesson.
pub fn find(table: &'static Table, name: &str) -> Option<&'static Entry> {
    table.iter().flatten().find(|entry| entry.spec.name == name)
}

/// The entry of any cell. Not for the worker, which loads one lesson at a time.
pub fn find_anywhere(name: &str) -> Option<&'static Entry> {
    LESSONS.iter().find_map(|(_, table)| find(table(), name))
}

/// The jobs that may be continued, one a cell.
#[derive(Default)]
pub struct JobCache(BTreeMap<&'static str, Box<dyn Job>>);

impl JobCache {
    /// A job for these inputs: the kept one of that cell where it can be continued to them, else a
    /// new one.
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
            && job.go_on(inputs, cache)?
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
    if matches!(spec.run, Run::Now(_)) {
        return spec.compute(inputs);
    }
    let entry = find_anywhere(spec.name).ok_or_else(|| CellError::Missing(spec.name.to_owned()))?;
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
    fn every_cell_that_computes_in_slices_is_in_the_table_of_its_lesson() {
        for group in registry::GROUPS {
            let (_, table) = LESSONS
                .iter()
                .find(|(lesson, _)| *lesson == group.name)
                .unwrap();
            for spec in group.cells {
                let is_sliced = matches!(spec.run, Run::Sliced(_));
                assert_eq!(
                    find(table(), spec.name).is_some(),
                    is_sliced,
                    "{}",
                    spec.name
                );
                assert_eq!(lesson_of(spec.name), Some(group.name));
            }
        }
        assert_eq!(lesson_of("no-such-cell"), None);
    }
}
