//! The description of a cell: name, inputs, and how to compute it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::computation::Computation;
use crate::error::CellError;
use crate::input::{InputSpec, Inputs};
use crate::model_cache::ModelCache;

/// The progress of a long computation.
#[derive(Debug)]
pub enum Progress {
    /// Share of the work that is done, 0 to 1.
    Working(f32),
    /// The result.
    Done(Box<Computation>),
}

/// A computation longer than a frame, in slices of a few milliseconds each.
pub trait Job: Send {
    /// Does the next slice.
    ///
    /// # Errors
    /// Any error of the computation.
    fn advance(&mut self) -> Result<Progress, CellError>;

    /// Returns whether this job, done or dropped, is kept to be continued later: a training run of
    /// a hundred steps is most of one of a hundred and one.
    fn is_kept(&self) -> bool {
        false
    }

    /// Continues the job to other inputs, or with files that have arrived since, where its work so
    /// far serves them too; returns whether it does. The result must equal that of a new job to the
    /// last bit.
    ///
    /// # Errors
    /// An input that is not what the cell expects, or a file that is not what it should be.
    fn go_on(&mut self, _inputs: &Inputs, _cache: &ModelCache) -> Result<bool, CellError> {
        Ok(false)
    }
}

/// A computation that is done in one go, as a job.
pub fn once(
    compute: impl FnOnce() -> Result<Computation, CellError> + Send + 'static,
) -> Box<dyn Job> {
    struct Once<F>(Option<F>);
    impl<F: FnOnce() -> Result<Computation, CellError> + Send> Job for Once<F> {
        fn advance(&mut self) -> Result<Progress, CellError> {
            let compute = self
                .0
                .take()
                .ok_or_else(|| CellError::Missing("a computation".to_owned()))?;
            Ok(Progress::Done(Box::new(compute()?)))
        }
    }
    Box::new(Once(Some(compute)))
}

/// The computation of a cell from its inputs alone, in one go, as a job.
pub fn once_from(
    inputs: &Inputs,
    compute: fn(&Inputs) -> Result<Computation, CellError>,
) -> Box<dyn Job> {
    let inputs = inputs.clone();
    once(move || compute(&inputs))
}

/// The place where a cell computes.
#[derive(Debug, Clone, Copy)]
pub enum Run {
    /// Within a frame, at once.
    Now(fn(&Inputs) -> Result<Computation, CellError>),
    /// In the worker, in slices, with progress, cancelled by the next edit ([`crate::jobs`]).
    Sliced(WorkerKind),
}

/// A kind of worker for cells. The page starts one of each, from the same file, so that a long
/// training run keeps no model waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WorkerKind {
    /// Differentiates.
    Training,
    /// Runs trained models.
    Models,
}

impl WorkerKind {
    /// The options with which the page starts it (`worker::build::WorkerFiles::address`).
    pub fn options(self) -> &'static str {
        match self {
            Self::Training => "kind=training",
            Self::Models => "kind=models",
        }
    }
}

/// A cell, as the registry lists it.
#[derive(Debug)]
pub struct CellSpec {
    /// Name in lessons and in `data-cell`.
    pub name: &'static str,
    /// The inputs with their limits and defaults.
    pub inputs: fn() -> Vec<InputSpec>,
    /// The computation.
    pub run: Run,
}

impl CellSpec {
    /// Computes a cell that computes at once.
    ///
    /// # Errors
    /// An input outside its limits, what the computation meets, or a cell that computes in slices:
    /// see [`crate::jobs::compute`].
    pub fn compute(&self, inputs: &Inputs) -> Result<Computation, CellError> {
        self.check(inputs)?;
        match self.run {
            Run::Now(compute) => compute(inputs),
            Run::Sliced(_) => Err(CellError::Missing(self.name.to_owned())),
        }
    }

    /// Checks every input that the computation receives against its limits.
    ///
    /// # Errors
    /// The first input that breaks one.
    pub fn check(&self, inputs: &Inputs) -> Result<(), CellError> {
        for spec in (self.inputs)() {
            if !spec.kind.is_computed_from() {
                continue;
            }
            let value = inputs
                .0
                .get(spec.name)
                .ok_or_else(|| CellError::Missing(spec.name.to_owned()))?;
            spec.check(value)?;
        }
        Ok(())
    }

    /// The inputs that a lesson gives in JSON, on top of the defaults; a prop that starts with `$`
    /// names an input of the page and is looked up in `shared`.
    ///
    /// # Errors
    /// A prop that the cell does not have, a value that does not fit, a shared name that the page
    /// lacks.
    pub fn inputs_from(
        &self,
        props: &serde_json::Map<String, Value>,
        shared: &BTreeMap<String, Value>,
    ) -> Result<Inputs, CellError> {
        let specs = (self.inputs)();
        let mut inputs = Inputs::defaults(&specs);
        for (name, given) in props {
            let Some(spec) = specs.iter().find(|s| s.name == name) else {
                let known: Vec<&str> = specs.iter().map(|s| s.name).collect();
                return Err(CellError::Mismatch(format!(
                    "the cell \u{201c}{}\u{201d} has no input \u{201c}{name}\u{201d}; it has {}",
                    self.name,
                    known.join(", ")
                )));
            };
            let given = match shared_name(given) {
                Some(key) => shared.get(key).ok_or_else(|| {
                    CellError::Mismatch(format!(
                        "this page has no shared input \u{201c}{key}\u{201d}"
                    ))
                })?,
                None => given,
            };
            inputs.0.insert(name.clone(), spec.parse(given)?);
        }
        Ok(inputs)
    }
}

/// The name of the shared input that a prop binds to: `"$sentence"` gives `sentence`.
pub fn shared_name(prop: &Value) -> Option<&str> {
    prop.as_str()?.strip_prefix('$')
}
