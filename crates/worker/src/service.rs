//! Computes the cells that the page asks for, in slices.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use cells::jobs::{self, Entry, JobCache, Table};
use cells::model_cache::ModelCache;
use cells::{CellError, CellSpec, Computation, Inputs, Job, Progress};

use crate::cell_protocol::{CellReply, CellRequest, Fetched};
use crate::protocol::Envelope;

/// A request in the queue, which may lack code or files.
struct Waiting {
    id: u64,
    cell: String,
    /// The lesson whose table has the cell; `None` for an unknown cell.
    lesson: Option<&'static str>,
    inputs: Inputs,
    /// The files below `models/` that it needs, known as soon as the lesson's table is there.
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
#[derive(Default)]
pub struct Service {
    /// The lessons whose code has been loaded.
    tables: Tables,
    models: ModelCache,
    queue: VecDeque<Waiting>,
    running: Option<Running>,
    jobs: JobCache,
}

impl Service {
    /// Takes a request; the computing happens in [`Service::run_slice`].
    pub fn accept(&mut self, Envelope { id, body }: Envelope<CellRequest>) {
        match body {
            CellRequest::Compute { cell, inputs } => {
                let mut waiting = Waiting {
                    id,
                    lesson: jobs::lesson_of(&cell),
                    cell,
                    inputs,
                    files: Vec::new(),
                };
                waiting.name_files(&self.tables);
                self.queue.push_back(waiting);
            }
            CellRequest::Cancel => {
                self.queue.retain(|waiting| waiting.id != id);
                if let Some(dropped) = self.running.take_if(|running| running.id == id) {
                    self.jobs.keep(dropped.spec, dropped.job);
                }
            }
        }
    }

    /// The lessons whose code requests in the queue lack.
    pub fn missing_lessons(&self) -> Vec<&'static str> {
        let mut missing: Vec<&'static str> = Vec::new();
        for lesson in self.queue.iter().filter_map(|waiting| waiting.lesson) {
            if !self.tables.contains_key(lesson) && !missing.contains(&lesson) {
                missing.push(lesson);
            }
        }
        missing
    }

    /// Takes the code of a lesson, after which [`Service::missing_files`] may name more files.
    pub fn add_lesson(&mut self, lesson: &'static str, table: &'static Table) {
        self.tables.insert(lesson, table);
        for waiting in &mut self.queue {
            waiting.name_files(&self.tables);
        }
    }

    /// Takes note that the code of a lesson cannot be had: answers every request that needs it with
    /// the reason.
    pub fn fail_lesson(&mut self, lesson: &str, why: &str) -> Vec<Envelope<CellReply>> {
        self.fail(|waiting| waiting.lesson == Some(lesson), why)
    }

    /// The files below `models/` that requests in the queue lack, in the order of the requests.
    pub fn missing_files(&self) -> Vec<&'static str> {
        let mut missing: Vec<&'static str> = Vec::new();
        for &file in self.queue.iter().flat_map(|waiting| &waiting.files) {
            if !self.models.has(file) && !missing.contains(&file) {
                missing.push(file);
            }
        }
        missing
    }

    /// Tells every request that needs a file how much of it is here.
    pub fn note_fetched(&self, file: &str, fetched: Fetched) -> Vec<Envelope<CellReply>> {
        let waiting = self.queue.iter();
        waiting
            .filter(|waiting| waiting.files.contains(&file))
            .map(|waiting| Envelope {
                id: waiting.id,
                body: CellReply::Fetching(fetched),
            })
            .collect()
    }

    /// Takes a file that was missing.
    pub fn add_file(&mut self, file: &str, bytes: Arc<[u8]>) {
        self.models.put(file, bytes);
    }

    /// Takes note that a file cannot be had: answers every request that needs it with the reason.
    pub fn fail_file(&mut self, file: &str, why: &str) -> Vec<Envelope<CellReply>> {
        self.fail(|waiting| waiting.files.contains(&file), why)
    }

    /// Answers some of the requests in the queue with an error.
    fn fail(&mut self, which: impl Fn(&Waiting) -> bool, why: &str) -> Vec<Envelope<CellReply>> {
        let (failed, rest): (VecDeque<_>, VecDeque<_>) =
            std::mem::take(&mut self.queue).into_iter().partition(which);
        self.queue = rest;
        let answer =
            |waiting: Waiting| finished(waiting.id, Err(CellError::Worker(why.to_owned())), 0.0);
        failed.into_iter().map(answer).collect()
    }

    /// The index in the queue of the first request that lacks nothing.
    fn next(&self) -> Option<usize> {
        let ready = |waiting: &Waiting| {
            let has_code = waiting
                .lesson
                .is_none_or(|lesson| self.tables.contains_key(lesson));
            has_code && waiting.files.iter().all(|file| self.models.has(file))
        };
        self.queue.iter().position(ready)
    }

    /// Returns whether nothing can be computed now; requests that lack code or files may be in the
    /// queue.
    pub fn is_idle(&self) -> bool {
        self.running.is_none() && self.next().is_none()
    }

    /// Computes for about `slice_ms` by the clock `now_ms` and returns the progress or the end;
    /// `None` when idle.
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
        let entry = entry(&self.tables, cell).ok_or_else(|| CellError::Missing(cell.to_owned()))?;
        Ok((entry.spec, self.jobs.begin(entry, inputs, &self.models)?))
    }
}

impl Waiting {
    /// Names the files that the request needs, where the code that knows them is there.
    fn name_files(&mut self, tables: &Tables) {
        if let Some(entry) = entry(tables, &self.cell) {
            self.files = (entry.files)(&self.inputs);
        }
    }
}

/// The loaded tables by lesson.
type Tables = BTreeMap<&'static str, &'static Table>;

/// The entry of a cell, where the code of its lesson has been loaded.
fn entry(tables: &Tables, cell: &str) -> Option<&'static Entry> {
    let table = tables.get(jobs::lesson_of(cell)?)?;
    jobs::find(table, cell)
}

fn finished(
    id: u64,
    result: Result<Computation, CellError>,
    elapsed_ms: f64,
) -> Envelope<CellReply> {
    let body = CellReply::Finished { result, elapsed_ms };
    Envelope { id, body }
}
