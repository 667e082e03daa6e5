//! The description of a cell: name, inputs, and how to compute it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::computation::Computation;
use crate::error::CellError;
use crate::input::{InputSpec, Inputs};

/// How far a long computation has come.
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
    /// What the computation meets.
    fn advance(&mut self) -> Result<Progress, CellError>;

    /// Whether this job, done or dropped, may be asked to go on later, and so is kept: a training of a hundred steps is most of one of a
    /// hundred and one.
    fn is_kept(&self) -> bool {
        false
    }

    /// Takes the job on to other inputs, where what it did so far serves there too; says whether it does. What comes out must be what a
    /// job gives that starts anew, to the last bit.
    ///
    /// # Errors
    /// An input that is not what the cell expects.
    fn go_on(&mut self, _inputs: &Inputs) -> Result<bool, CellError> {
        Ok(false)
    }
}

/// The jobs that may go on, one a cell.
#[derive(Default)]
pub struct Kept(BTreeMap<&'static str, Box<dyn Job>>);

impl Kept {
    /// A job for these inputs: the kept one of that cell where it can go on to them, else a new one.
    ///
    /// # Errors
    /// An input outside its limits, a cell that does not compute in slices, or what the start of the computation meets.
    pub fn begin(
        &mut self,
        spec: &'static CellSpec,
        inputs: &Inputs,
    ) -> Result<Box<dyn Job>, CellError> {
        spec.check(inputs)?;
        let Run::Sliced(start) = spec.run else {
            return Err(CellError::Missing(spec.name.to_owned()));
        };
        if let Some(mut job) = self.0.remove(spec.name)
            && job.go_on(inputs)?
        {
            return Ok(job);
        }
        start(inputs)
    }

    /// Takes back a job that is done or dropped.
    pub fn keep(&mut self, spec: &'static CellSpec, job: Box<dyn Job>) {
        if job.is_kept() {
            self.0.insert(spec.name, job);
        }
    }
}

/// How a cell computes.
#[derive(Debug, Clone, Copy)]
pub enum Run {
    /// Within a frame, at once.
    Now(fn(&Inputs) -> Result<Computation, CellError>),
    /// In slices, with progress, cancelled by the next edit.
    Sliced(fn(&Inputs) -> Result<Box<dyn Job>, CellError>),
}

/// A cell, as the registry lists it.
#[derive(Debug)]
pub struct CellSpec {
    /// Name in lessons and in `data-cell`.
    pub name: &'static str,
    /// What the cell does, one sentence, for the author's guide and error messages.
    pub summary: &'static str,
    /// The inputs with their limits and defaults.
    pub inputs: fn() -> Vec<InputSpec>,
    /// The computation.
    pub run: Run,
}

impl CellSpec {
    /// Computes to the end, slices and all.
    ///
    /// # Errors
    /// An input outside its limits, or what the computation meets.
    pub fn compute(&self, inputs: &Inputs) -> Result<Computation, CellError> {
        self.check(inputs)?;
        match self.run {
            Run::Now(compute) => compute(inputs),
            Run::Sliced(start) => {
                let mut job = start(inputs)?;
                loop {
                    if let Progress::Done(computation) = job.advance()? {
                        return Ok(*computation);
                    }
                }
            }
        }
    }

    /// Checks every input against its limits.
    ///
    /// # Errors
    /// The first input that breaks one.
    pub fn check(&self, inputs: &Inputs) -> Result<(), CellError> {
        for spec in (self.inputs)() {
            let value = inputs
                .0
                .get(spec.name)
                .ok_or_else(|| CellError::Missing(spec.name.to_owned()))?;
            spec.check(value)?;
        }
        Ok(())
    }

    /// The inputs that a lesson gives in JSON, on top of the defaults; a prop that starts with `$` names
    /// an input of the page and is looked up in `shared`.
    ///
    /// # Errors
    /// A prop that the cell does not have, a value that does not fit, a shared name that the page lacks.
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
