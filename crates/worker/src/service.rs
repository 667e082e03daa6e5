//! Computes the cells that the page asks for, in slices.

use std::collections::VecDeque;
use std::sync::Arc;

use cells::jobs::{self, JobCache, Table};
use cells::model_cache::ModelCache;
use cells::{CellError, CellSpec, Computation, Inputs, Job, Progress};

use crate::cell_protocol::{CellReply, CellRequest};
use crate::protocol::Envelope;

/// A request in the queue, which may lack files.
struct Waiting {
    id: u64,
    cell: String,
    inputs: Inputs,
    files: Vec<&'static str>,
}

/// A request under way.
struct Running {
    id: u64,
    spec: &'static CellSpec,
    job: Box<dyn Job>,
    elapsed_ms: f64,
}

/// The state of the worker.
pub struct Service {
    table: &'static Table,
    models: ModelCache,
    queue: VecDeque<Waiting>,
    running: Option<Running>,
    jobs: JobCache,
}

impl Service {
    /// An idle service that computes the cells of a table.
    pub fn new(table: &'static Table) -> Self {
        Self {
            table,
            models: ModelCache::default(),
            queue: VecDeque::new(),
            running: None,
            jobs: JobCache::default(),
        }
    }

    /// Takes a request; the computing happens in [`Service::run_slice`].
    pub fn accept(&mut self, Envelope { id, body }: Envelope<CellRequest>) {
        match body {
            CellRequest::Compute { cell, inputs } => {
                let entry = jobs::find(self.table, &cell);
                let files = entry.map_or_else(Vec::new, |entry| (entry.files)(&inputs));
                self.queue.push_back(Waiting {
                    id,
                    cell,
                    inputs,
                    files,
                });
            }
            CellRequest::Cancel => {
                self.queue.retain(|waiting| waiting.id != id);
                if let Some(dropped) = self.running.take_if(|running| running.id == id) {
                    self.jobs.keep(dropped.spec, dropped.job);
                }
            }
        }
    }

    /// The files below `models/` that requests in the queue lack.
    pub fn missing_files(&self) -> Vec<&'static str> {
        let mut missing: Vec<&'static str> = Vec::new();
        for &file in self.queue.iter().flat_map(|waiting| &waiting.files) {
            if !self.models.has(file) && !missing.contains(&file) {
                missing.push(file);
            }
        }
        missing
    }

    /// Takes a file that was missing.
    pub fn add_file(&mut self, file: &str, bytes: Arc<[u8]>) {
        self.models.put(file, bytes);
    }

    /// Takes note that a file cannot be had: answers every request that needs it with the reason.
    pub fn fail_file(&mut self, file: &str, why: &str) -> Vec<Envelope<CellReply>> {
        let needs = |waiting: &Waiting| waiting.files.contains(&file);
        let (failed, rest): (VecDeque<_>, VecDeque<_>) =
            std::mem::take(&mut self.queue).into_iter().partition(needs);
        self.queue = rest;
        let answer =
            |waiting: Waiting| finished(waiting.id, Err(CellError::Worker(why.to_owned())), 0.0);
        failed.into_iter().map(answer).collect()
    }

    /// The index in the queue of the first request that lacks no file.
    fn next(&self) -> Option<usize> {
        let ready = |waiting: &Waiting| waiting.files.iter().all(|file| self.models.has(file));
        self.queue.iter().position(ready)
    }

    /// Returns whether nothing can be computed now; requests that lack files may be in the queue.
    pub fn is_idle(&self) -> bool {
        self.running.is_none() && self.next().is_none()
    }

    /// Computes for about `slice_ms` by the clock `now_ms` and returns the progress or the end; `None` when idle.
    pub fn run_slice(
        &mut self,
        slice_ms: f64,
        now_ms: impl Fn() -> f64,
    ) -> Option<Envelope<CellReply>> {
        let begun = now_ms();
        if self.running.is_none() {
            let Waiting {
                id, cell, inputs, ..
            } = self.queue.remove(self.next()?)?;
            match self.begin(&cell, &inputs) {
                Ok((spec, job)) => {
                    self.running = Some(Running {
                        id,
                        spec,
                        job,
                        elapsed_ms: 0.0,
                    });
                }
                Err(error) => return Some(finished(id, Err(error), 0.0)),
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
            let id = running.id;
            if let Some(done) = self.running.take() {
                self.jobs.keep(done.spec, done.job);
            }
            return Some(finished(id, result, elapsed_ms));
        }
        running.elapsed_ms += now_ms() - begun;
        Some(Envelope {
            id: running.id,
            body: CellReply::Working(share),
        })
    }

    fn begin(
        &mut self,
        cell: &str,
        inputs: &Inputs,
    ) -> Result<(&'static CellSpec, Box<dyn Job>), CellError> {
        let entry =
            jobs::find(self.table, cell).ok_or_else(|| CellError::Missing(cell.to_owned()))?;
        Ok((entry.spec, self.jobs.begin(entry, inputs, &self.models)?))
    }
}

fn finished(
    id: u64,
    result: Result<Computation, CellError>,
    elapsed_ms: f64,
) -> Envelope<CellReply> {
    let body = CellReply::Finished { result, elapsed_ms };
    Envelope { id, body }
}
