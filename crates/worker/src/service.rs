//! Computes the cells that the page asks for, in slices.

use std::collections::VecDeque;
use std::sync::Arc;

use cells::jobs::{self, Entry, JobCache};
use cells::model_cache::{ModelCache, size_of};
use cells::{CellError, Computation, Inputs, Job, Progress};
use litemap::LiteMap;

use crate::cell_protocol::{CellReply, CellRequest, Fetched, Lacking};
use crate::protocol::Envelope;

/// A request in the queue, which may lack code or files.
struct Waiting {
    id: u64,
    cell: String,
    /// The same as a name of ours; `None` for an unknown cell.
    name: Option<&'static str>,
    inputs: Inputs,
    /// The files below `models/` that it needs, known as soon as the code of the cell is there.
    files: Vec<&'static str>,
    /// Where it may start while files are missing: [`Entry::partial_from`].
    partial_from: Option<usize>,
    /// The number of files that its last partial result was computed with.
    shown: usize,
    /// The files that cannot be had, with the reasons.
    failed: Vec<(&'static str, String)>,
}

/// What can be done for a request.
#[derive(Clone, Copy, PartialEq)]
enum Turn {
    /// The whole result.
    Whole,
    /// A part of it: more files are here than at the last one.
    Part,
    /// Nothing more: all files that are missing cannot be had.
    Failed,
}

/// A request under way.
struct Running {
    id: u64,
    /// Whether its result is a part, and the request still in the queue.
    is_part: bool,
    /// The cell's name.
    name: &'static str,
    job: Box<dyn Job>,
    elapsed_ms: f64,
}

/// The state of the worker.
pub struct Service {
    /// The cells whose code has been loaded.
    entries: Entries,
    models: ModelCache,
    /// The parts that have arrived of files that are being fetched.
    arriving: LiteMap<String, Fetched>,
    queue: VecDeque<Waiting>,
    running: Option<Running>,
    jobs: JobCache,
}

impl Service {
    /// A worker that has nothing to do, and opens models with this cache.
    pub fn new(models: ModelCache) -> Self {
        Self {
            models,
            entries: Entries::default(),
            arriving: LiteMap::default(),
            queue: VecDeque::default(),
            running: None,
            jobs: JobCache::default(),
        }
    }

    /// Takes a request; the computing happens in [`Service::run_slice`].
    pub fn accept(&mut self, Envelope { id, body }: Envelope<CellRequest>) {
        match body {
            CellRequest::Compute { cell, inputs } => {
                let mut waiting = Waiting {
                    id,
                    name: jobs::name_of(&cell),
                    cell,
                    inputs,
                    files: Vec::new(),
                    partial_from: None,
                    shown: 0,
                    failed: Vec::new(),
                };
                waiting.name_files(&self.entries);
                self.queue.push_back(waiting);
            }
            CellRequest::Cancel => {
                self.queue.retain(|waiting| waiting.id != id);
                if let Some(dropped) = self.running.take_if(|running| running.id == id) {
                    self.jobs.keep(dropped.name, dropped.job);
                }
            }
        }
    }

    /// The cells whose code requests in the queue lack.
    pub fn missing_cells(&self) -> Vec<&'static str> {
        let mut missing: Vec<&'static str> = Vec::new();
        for cell in self.queue.iter().filter_map(|waiting| waiting.name) {
            if !self.entries.contains_key(cell) && !missing.contains(&cell) {
                missing.push(cell);
            }
        }
        missing
    }

    /// Takes the code of a cell, after which [`Service::missing_files`] may name more files.
    pub fn add_cell(&mut self, entry: &'static Entry) {
        self.entries.insert(entry.name, entry);
        for waiting in &mut self.queue {
            waiting.name_files(&self.entries);
        }
    }

    /// Takes note that the code of a cell cannot be had: answers every request that needs it with
    /// the reason.
    pub fn fail_cell(&mut self, cell: &str, why: &str) -> Vec<Envelope<CellReply>> {
        self.fail(|waiting| waiting.cell == cell, why)
    }

    /// The files below `models/` that requests in the queue lack, in the order of the requests.
    pub fn missing_files(&self) -> Vec<&'static str> {
        let mut missing: Vec<&'static str> = Vec::new();
        for file in self
            .queue
            .iter()
            .flat_map(|waiting| waiting.lacking(&self.models))
        {
            if !missing.contains(&file) {
                missing.push(file);
            }
        }
        missing
    }

    /// Tells every request that needs a file how much of it is here, and which other files it lacks.
    pub fn note_fetched(&mut self, file: &str, fetched: Fetched) -> Vec<Envelope<CellReply>> {
        self.arriving.insert(file.to_owned(), fetched);
        let waiting = self.queue.iter();
        waiting
            .filter(|waiting| waiting.files.contains(&file))
            .map(|waiting| Envelope {
                id: waiting.id,
                body: CellReply::Fetching(self.lacking(waiting)),
            })
            .collect()
    }

    /// The files that a request lacks, with the parts of them that are here.
    fn lacking(&self, waiting: &Waiting) -> Vec<Lacking> {
        let lacking = waiting.lacking(&self.models).map(|file| {
            let bytes = self.arriving.get(file).map_or(0, |fetched| fetched.bytes);
            let stated = self.arriving.get(file).and_then(|fetched| fetched.total);
            // A host that compresses a file does not say how long it is.
            let total = stated.or_else(|| size_of(file));
            Lacking {
                file: file.to_owned(),
                fetched: Fetched { bytes, total },
            }
        });
        lacking.collect()
    }

    /// Takes a file that was missing.
    pub fn add_file(&mut self, file: &str, bytes: Arc<[u8]>) {
        self.arriving.remove(file);
        self.models.put(file, bytes);
    }

    /// Takes note that a file cannot be had: answers every request that needs it with the reason. A
    /// request that shows parts of its result as files arrive is answered when the others are here,
    /// by [`Service::run_slice`].
    pub fn fail_file(&mut self, file: &str, why: &str) -> Vec<Envelope<CellReply>> {
        self.arriving.remove(file);
        for waiting in &mut self.queue {
            let needed = waiting.files.iter().find(|needed| **needed == file);
            if let (Some(&file), Some(_)) = (needed, waiting.partial_from) {
                waiting.failed.push((file, why.to_owned()));
            }
        }
        self.fail(
            |waiting| waiting.partial_from.is_none() && waiting.files.contains(&file),
            why,
        )
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

    /// The index in the queue of the first request for which something can be done, and what.
    fn next(&self) -> Option<(usize, Turn)> {
        let turns = self.queue.iter().enumerate();
        let mut turns = turns.filter_map(|(place, waiting)| Some((place, self.turn(waiting)?)));
        turns.next()
    }

    /// What can be done for a request now.
    fn turn(&self, waiting: &Waiting) -> Option<Turn> {
        let has_code = waiting
            .name
            .is_none_or(|cell| self.entries.contains_key(cell));
        if !has_code {
            return None;
        }
        let here = waiting.here(&self.models);
        if here == waiting.files.len() {
            return Some(Turn::Whole);
        }
        let first = waiting.partial_from?;
        let mut needed = waiting.files.iter().take(first);
        if here > first.max(waiting.shown) && needed.all(|file| self.models.has(file)) {
            return Some(Turn::Part);
        }
        let is_over = waiting.lacking(&self.models).next().is_none();
        is_over.then_some(Turn::Failed)
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
            let (place, turn) = self.next()?;
            let here = self.queue.get(place)?.here(&self.models);
            let (id, begun) = if turn == Turn::Part {
                let waiting = self.queue.get_mut(place)?;
                waiting.shown = here;
                let (id, cell, inputs) = (waiting.id, waiting.cell.clone(), waiting.inputs.clone());
                (id, self.begin(&cell, &inputs))
            } else {
                let waiting = self.queue.remove(place)?;
                let begun = match turn {
                    Turn::Failed => Err(waiting.failure()),
                    _ => self.begin(&waiting.cell, &waiting.inputs),
                };
                (waiting.id, begun)
            };
            match begun {
                Ok((name, job)) => {
                    self.running = Some(Running {
                        id,
                        is_part: turn == Turn::Part,
                        name,
                        job,
                        elapsed_ms: 0.0,
                    });
                }
                Err(error) => return Some(self.finished(id, Err(error), 0.0)),
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
            let (id, is_part) = (running.id, running.is_part);
            if let Some(done) = self.running.take() {
                self.jobs.keep(done.name, done.job);
            }
            return Some(match result {
                Ok(part) if is_part => Envelope {
                    id,
                    body: CellReply::Partial(part),
                },
                result => self.finished(id, result, elapsed_ms),
            });
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
    ) -> Result<(&'static str, Box<dyn Job>), CellError> {
        let entry = self.entries.get(cell);
        let entry = entry.ok_or_else(|| CellError::Missing(cell.to_owned()))?;
        Ok((entry.name, self.jobs.begin(entry, inputs, &self.models)?))
    }

    /// The end of a request, which leaves the queue where it is still in it.
    fn finished(
        &mut self,
        id: u64,
        result: Result<Computation, CellError>,
        elapsed_ms: f64,
    ) -> Envelope<CellReply> {
        self.queue.retain(|waiting| waiting.id != id);
        finished(id, result, elapsed_ms)
    }
}

impl Waiting {
    /// Names the files that the request needs, where the code that knows them is there.
    fn name_files(&mut self, entries: &Entries) {
        if let Some(entry) = entries.get(self.cell.as_str()) {
            self.files = (entry.files)(&self.inputs);
            self.partial_from = entry.partial_from;
        }
    }

    /// The number of its files that are here.
    fn here(&self, models: &ModelCache) -> usize {
        self.files.iter().filter(|file| models.has(file)).count()
    }

    /// The files that are not here and may still come, in the order in which they are fetched.
    fn lacking<'a>(&'a self, models: &'a ModelCache) -> impl Iterator<Item = &'static str> + 'a {
        let failed = |file: &str| self.failed.iter().any(|(name, _)| *name == file);
        let files = self.files.iter().copied();
        files.filter(move |file| !models.has(file) && !failed(file))
    }

    /// Why the whole result cannot be had.
    fn failure(&self) -> CellError {
        let reasons: Vec<&str> = self.failed.iter().map(|(_, why)| why.as_str()).collect();
        CellError::Worker(reasons.join(" "))
    }
}

/// The loaded entries by the names of their cells.
type Entries = LiteMap<&'static str, &'static Entry>;

fn finished(
    id: u64,
    result: Result<Computation, CellError>,
    elapsed_ms: f64,
) -> Envelope<CellReply> {
    let body = CellReply::Finished { result, elapsed_ms };
    Envelope { id, body }
}
