//! The worker's work: takes requests, computes in slices, answers.

use std::collections::VecDeque;
use std::sync::Arc;

use cells::desk::{self, Kept, Table};
use cells::shelf::Shelf;
use cells::{CellError, CellSpec, Computation, Inputs, Job, Progress};

use crate::protocol::{Reply, Request};

/// A request that waits, perhaps for files.
struct Waiting {
    number: u64,
    cell: String,
    inputs: Inputs,
    files: Vec<&'static str>,
}

/// A request under way.
struct Running {
    number: u64,
    spec: &'static CellSpec,
    job: Box<dyn Job>,
    elapsed_ms: f64,
}

/// The state of the worker.
pub struct Service {
    table: &'static Table,
    shelf: Shelf,
    queue: VecDeque<Waiting>,
    running: Option<Running>,
    kept: Kept,
}

impl Service {
    /// Nothing to do yet at the desk whose cells these are.
    pub fn new(table: &'static Table) -> Self {
        Self {
            table,
            shelf: Shelf::default(),
            queue: VecDeque::new(),
            running: None,
            kept: Kept::default(),
        }
    }

    /// Takes a request; the computing happens in [`Service::turn`].
    pub fn accept(&mut self, request: Request) {
        match request {
            Request::Compute { job, cell, inputs } => {
                let entry = desk::find(self.table, &cell);
                let files = entry.map_or_else(Vec::new, |entry| (entry.files)(&inputs));
                self.queue.push_back(Waiting {
                    number: job,
                    cell,
                    inputs,
                    files,
                });
            }
            Request::Cancel { job } => {
                self.queue.retain(|waiting| waiting.number != job);
                if let Some(dropped) = self.running.take_if(|running| running.number == job) {
                    self.kept.keep(dropped.spec, dropped.job);
                }
            }
        }
    }

    /// The files below `models/` that requests wait for.
    pub fn wanted(&self) -> Vec<&'static str> {
        let mut wanted: Vec<&'static str> = Vec::new();
        for &file in self.queue.iter().flat_map(|waiting| &waiting.files) {
            if !self.shelf.has(file) && !wanted.contains(&file) {
                wanted.push(file);
            }
        }
        wanted
    }

    /// Takes a file that was asked for.
    pub fn put(&mut self, file: &str, bytes: Arc<[u8]>) {
        self.shelf.put(file, bytes);
    }

    /// Hears that a file cannot be had: those who wait for it are told why.
    pub fn go_without(&mut self, file: &str, why: &str) -> Vec<Reply> {
        let waits = |waiting: &Waiting| waiting.files.contains(&file);
        let (without, rest) = std::mem::take(&mut self.queue).into_iter().partition(waits);
        self.queue = rest;
        let without: VecDeque<Waiting> = without;
        let told = |waiting: Waiting| {
            let why =
                format!("{why} Change something in this cell, or reload the page, to try again.");
            finished(waiting.number, Err(CellError::Mismatch(why)), 0.0)
        };
        without.into_iter().map(told).collect()
    }

    /// The place in the queue of the first request whose files are here.
    fn next(&self) -> Option<usize> {
        let ready = |waiting: &Waiting| waiting.files.iter().all(|file| self.shelf.has(file));
        self.queue.iter().position(ready)
    }

    /// Whether there is nothing to do, but perhaps to wait for files.
    pub fn is_idle(&self) -> bool {
        self.running.is_none() && self.next().is_none()
    }

    /// Computes for about `slice_ms` by the clock `now_ms` and says how it stands; `None` when idle.
    pub fn turn(&mut self, slice_ms: f64, now_ms: impl Fn() -> f64) -> Option<Reply> {
        let begun = now_ms();
        if self.running.is_none() {
            let Waiting {
                number,
                cell,
                inputs,
                ..
            } = self.queue.remove(self.next()?)?;
            match self.begin(&cell, &inputs) {
                Ok((spec, job)) => {
                    self.running = Some(Running {
                        number,
                        spec,
                        job,
                        elapsed_ms: 0.0,
                    });
                }
                Err(error) => return Some(finished(number, Err(error), 0.0)),
            }
        }
        let running = self.running.as_mut()?;
        let mut share = 0.0;
        while now_ms() - begun < slice_ms {
            let result = match running.job.advance() {
                Ok(Progress::Working(done)) => {
                    share = done;
                    continue;
                }
                Ok(Progress::Done(result)) => Ok(*result),
                Err(error) => Err(error),
            };
            let elapsed_ms = running.elapsed_ms + now_ms() - begun;
            let number = running.number;
            if let Some(done) = self.running.take() {
                self.kept.keep(done.spec, done.job);
            }
            return Some(finished(number, result, elapsed_ms));
        }
        running.elapsed_ms += now_ms() - begun;
        Some(Reply::Working {
            job: running.number,
            share,
        })
    }

    fn begin(
        &mut self,
        cell: &str,
        inputs: &Inputs,
    ) -> Result<(&'static CellSpec, Box<dyn Job>), CellError> {
        let entry =
            desk::find(self.table, cell).ok_or_else(|| CellError::Missing(cell.to_owned()))?;
        Ok((entry.spec, self.kept.begin(entry, inputs, &self.shelf)?))
    }
}

fn finished(job: u64, result: Result<Computation, CellError>, elapsed_ms: f64) -> Reply {
    Reply::Finished {
        job,
        result,
        elapsed_ms,
    }
}
