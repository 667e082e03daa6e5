//! The life of a model in the lab: starts its worker, opens it, and passes its answers to the parts
//! of the page.

use std::rc::Rc;

use leptos::prelude::*;
use web_sys::File;
use worker::build::{Build, Purpose};
use worker::model::file::weights_among;
use worker::model::packing::Packing;
use worker::model::protocol::{Candidate, ModelEvent, ModelInfo, ModelRequest, Origin};

use super::answers::Answers;
use super::class_names::{self, ClassNames};
use super::download_offer::{DownloadOffer, confirm};
use super::lesson_cells::Listeners;
use super::requests::{Part, Requests};
use super::stored_files::with_way_on;
use crate::browser::storage::{self, StoredFile, megabytes};
use crate::model_build::{choose, too_large};
use crate::model_worker::{ModelWorker, WorkerEvent};

/// A model to open.
pub(super) struct OpenRequest {
    /// Its name, for the reader.
    pub(super) name: String,
    /// Source of its parameters.
    pub(super) origin: Origin,
    /// The reader's files, where it comes from disk.
    pub(super) files: Vec<File>,
    /// The form of its matrices; `None` leaves them as they are.
    pub(super) packing: Option<Packing>,
    /// The number of threads; `None` leaves it to the page.
    pub(super) threads: Option<usize>,
    /// The build of the worker; `None` leaves it to the page.
    pub(super) build: Option<Build>,
}

impl OpenRequest {
    /// Bytes of the weights among the reader's files; 0 where there are none, or the weights are not
    /// known yet.
    fn bytes(&self) -> u64 {
        let names: Vec<String> = self.files.iter().map(File::name).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let weights = weights_among(&names).unwrap_or_default();
        let sizes = weights.iter().filter_map(|&n| self.files.get(n));
        sizes.map(|file| file.size() as u64).sum()
    }
}

/// The engine that runs a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Engine {
    pub(super) build: Build,
    pub(super) threads: usize,
}

/// Why a model was not opened.
pub(super) enum OpenError {
    /// The engine's build cannot hold weights of this many bytes; in words for the reader, and
    /// whether the reader has agreed to fetch them.
    TooLarge {
        bytes: u64,
        why: String,
        agreed: bool,
    },
    /// Another reason, in words for the reader.
    Other(String),
}

impl From<String> for OpenError {
    fn from(why: String) -> Self {
        Self::Other(why)
    }
}

/// An open model, and the engine that runs it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OpenModel {
    pub(super) name: String,
    pub(super) loaded: ModelInfo,
    pub(super) build: Build,
    pub(super) threads: usize,
    /// The names of its classes of pictures.
    pub(super) names: ClassNames,
    /// Seed of its weights, where they are random.
    pub(super) untrained: Option<u64>,
}

/// A token of the text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub(super) text: String,
    /// The most likely tokens in its position; none for a token of the prompt.
    pub(super) candidates: Vec<Candidate>,
    /// The model wrote it.
    pub(super) is_new: bool,
}

/// The text that the model writes.
#[derive(Clone, Copy)]
pub(super) struct TextSignals {
    pub(super) busy: RwSignal<bool>,
    /// The prompt that it continues, as the reader wrote it.
    pub(super) prompt: RwSignal<String>,
    pub(super) written: RwSignal<String>,
    pub(super) tokens: RwSignal<Vec<Token>>,
    /// Tokens of the prompt that are read, and the milliseconds that this took.
    pub(super) read: RwSignal<(usize, f64)>,
    /// New tokens, and the milliseconds that they took.
    pub(super) wrote: RwSignal<(usize, f64)>,
    /// Bytes of the keys and values of the tokens that were read.
    pub(super) cache_bytes: RwSignal<u64>,
    /// The reason why the text ended.
    pub(super) ending: RwSignal<String>,
    pub(super) error: RwSignal<Option<String>>,
    pub(super) selected: RwSignal<Option<usize>>,
}

impl TextSignals {
    fn new() -> Self {
        Self {
            busy: RwSignal::new(false),
            prompt: RwSignal::new(String::new()),
            written: RwSignal::new(String::new()),
            tokens: RwSignal::new(Vec::new()),
            read: RwSignal::new((0, 0.0)),
            wrote: RwSignal::new((0, 0.0)),
            cache_bytes: RwSignal::new(0),
            ending: RwSignal::new(String::new()),
            error: RwSignal::new(None),
            selected: RwSignal::new(None),
        }
    }

    /// Forgets the text.
    pub(super) fn clear(&self) {
        self.busy.set(false);
        self.selected.set(None);
        self.tokens.set(Vec::new());
        self.prompt.set(String::new());
        self.written.set(String::new());
        self.read.set((0, 0.0));
        self.wrote.set((0, 0.0));
        self.cache_bytes.set(0);
        self.ending.set(String::new());
        self.error.set(None);
    }

    /// Takes an answer to the request of the text.
    fn receive(&self, event: ModelEvent) {
        match event {
            ModelEvent::Reading {
                tokens,
                done,
                elapsed_ms,
            } => {
                let token = |text| Token {
                    text,
                    candidates: Vec::new(),
                    is_new: false,
                };
                if !tokens.is_empty() {
                    self.tokens.set(tokens.into_iter().map(token).collect());
                }
                self.read
                    .update(|(count, ms)| (*count, *ms) = (done, *ms + elapsed_ms));
            }
            ModelEvent::Wrote {
                token,
                text,
                candidates,
                cache_bytes,
                elapsed_ms,
            } => {
                self.cache_bytes.set(cache_bytes);
                self.written.update(|written| written.push_str(&text));
                self.tokens.update(|tokens| {
                    tokens.push(Token {
                        text: token,
                        candidates,
                        is_new: true,
                    });
                });
                self.wrote
                    .update(|(count, ms)| (*count, *ms) = (*count + 1, *ms + elapsed_ms));
            }
            ModelEvent::Written(why) => {
                self.ending.set(format!("The text ended: {why}."));
                self.busy.set(false);
            }
            ModelEvent::Stopped => {
                self.ending.set("Stopped.".to_owned());
                self.busy.set(false);
            }
            ModelEvent::Failed(why) => {
                self.error.set(Some(why));
                self.busy.set(false);
            }
            _ => {}
        }
    }
}

/// The state of the page, and the worker while there is one.
#[derive(Clone, Copy)]
pub(super) struct Lab {
    /// A model is being opened.
    pub(super) opening: RwSignal<bool>,
    pub(super) status: RwSignal<String>,
    pub(super) share: RwSignal<Option<f64>>,
    pub(super) error: RwSignal<Option<String>>,
    /// The cost of a download, while the reader is asked about it.
    pub(super) offer: RwSignal<Option<DownloadOffer>>,
    pub(super) model: RwSignal<Option<OpenModel>>,
    pub(super) text: TextSignals,
    pub(super) answers: Answers,
    /// The cells that wait for answers.
    pub(super) cells: Listeners,
    /// Files that are stored on this device.
    pub(super) stored: RwSignal<Vec<StoredFile>>,
    worker: StoredValue<Option<Rc<ModelWorker>>, LocalStorage>,
    /// Requests to that worker.
    requests: StoredValue<Requests>,
    /// The number of models that the reader has opened so far: results of an earlier opening are
    /// dropped.
    opened: StoredValue<u32>,
}

impl Lab {
    pub(super) fn new() -> Self {
        Self {
            opening: RwSignal::new(false),
            status: RwSignal::new(String::new()),
            share: RwSignal::new(None),
            error: RwSignal::new(None),
            offer: RwSignal::new(None),
            model: RwSignal::new(None),
            text: TextSignals::new(),
            answers: Answers::new(),
            cells: Listeners::new(),
            stored: RwSignal::new(Vec::new()),
            worker: StoredValue::new_local(None),
            requests: StoredValue::new(Requests::default()),
            opened: StoredValue::new(0),
        }
    }

    /// Sends a request to the worker, if there is one.
    pub(super) fn send(&self, request: ModelRequest) {
        let part = request.clone();
        if let Some(id) = self.send_by_id(request) {
            self.requests
                .try_update_value(|requests| requests.add(id, &part));
        }
    }

    /// Sends a request to the worker; returns its id, `None` where there is no worker.
    pub(super) fn send_by_id(&self, request: ModelRequest) -> Option<u64> {
        let worker = self.worker.try_get_value()??;
        Some(worker.send(request))
    }

    /// Ends a request.
    pub(super) fn cancel_by_id(&self, id: u64) {
        if let Some(Some(worker)) = self.worker.try_get_value() {
            worker.cancel(id);
        }
    }

    /// Ends the text that is being written.
    pub(super) fn stop_writing(&self) {
        let id = self.requests.with_value(Requests::text);
        if let Some(id) = id {
            self.cancel_by_id(id);
        }
    }

    /// Ends the worker, and with it the model and all of its memory.
    pub(super) fn end(&self) {
        if let Some(Some(worker)) = self.worker.try_get_value() {
            worker.terminate();
        }
        self.worker.try_set_value(None);
        self.requests.try_set_value(Requests::default());
        self.cells.clear();
        self.offer.try_set(None);
    }

    /// Ends the worker and says that nothing is open any more.
    pub(super) fn unload(&self) {
        self.end();
        self.model.set(None);
        self.clear();
        self.status
            .set("Unloaded. Its memory is free again.".to_owned());
    }

    /// Opens a model in place of the one that is there.
    pub(super) fn open(&self, asked: OpenRequest) {
        self.end();
        self.model.set(None);
        self.clear();
        self.error.set(None);
        self.opening.set(true);
        self.show("Starting the engine.".to_owned(), None);
        self.opened.update_value(|opened| *opened += 1);
        let opening = self.opened.get_value();
        leptos::task::spawn_local(session(*self, asked, opening));
    }

    /// Starts the download that the reader was asked about.
    pub(super) fn confirm_download(&self) {
        if let Some(Some(worker)) = self.worker.try_get_value() {
            worker.confirm();
        }
        storage::keep();
    }

    /// Gives up the opening of a model.
    pub(super) fn stop_opening(&self) {
        self.end();
    }

    /// Lists the files that are stored on this device.
    pub(super) fn list_stored(&self) {
        let stored = self.stored;
        leptos::task::spawn_local(async move {
            stored.try_set(storage::list().await);
        });
    }

    /// Forgets the model's text and answers.
    fn clear(&self) {
        self.text.clear();
        self.answers.clear();
    }

    /// Passes an answer to the part of the page that asked; one that comes too late is dropped.
    fn receive(&self, id: u64, event: ModelEvent) {
        if self.cells.receive(id, &event).is_some() {
            return;
        }
        match self.requests.with_value(|requests| requests.part(id)) {
            Some(Part::Text) => self.text.receive(event),
            Some(Part::Attention) => self.answers.receive_attention(event),
            Some(Part::Answers) => self.answers.receive(event),
            None => {}
        }
    }

    /// Shows what is being done, and the share that is done.
    pub(super) fn show(&self, words: String, share: Option<f64>) {
        if self.status.try_with_untracked(|shown| *shown != words) == Some(true) {
            self.status.set(words);
        }
        self.share.try_set(share);
    }

    /// Returns whether this worker is still the page's.
    pub(super) fn has(&self, worker: &Rc<ModelWorker>) -> bool {
        let own = self.worker.try_get_value().flatten();
        own.is_some_and(|own| Rc::ptr_eq(&own, worker))
    }
}

/// Starts a worker for weights of this many bytes.
fn start(asked: &OpenRequest, bytes: u64) -> Result<(Engine, Rc<ModelWorker>), String> {
    let (build, threads) = choose(Purpose::Lab, asked.build, asked.threads, bytes)?;
    let worker = ModelWorker::start(Purpose::Lab, build, threads)?;
    Ok((Engine { build, threads }, Rc::new(worker)))
}

/// Bytes to choose another engine by for weights of `bytes`, for which this one has no room; `why`
/// says so.
///
/// # Errors
/// The message for the reader where there is no wider engine.
fn wider(engine: Engine, asked: &OpenRequest, bytes: u64, why: String) -> Result<u64, String> {
    if asked.build.is_some() {
        return Err(why);
    }
    // A file that the browser does not store is in memory beside its model: fewer bytes are too many.
    let room = bytes.max(engine.build.largest_weights() + 1);
    match choose(Purpose::Lab, None, asked.threads, room)? {
        (build, _) if build.is_wide() && !engine.build.is_wide() => Ok(room),
        _ => Err(too_large(bytes)),
    }
}

/// Opens a model and passes on its answers until its worker ends.
async fn session(lab: Lab, asked: OpenRequest, opening: u32) {
    let is_current = || lab.opened.try_get_value() == Some(opening);
    let (mut bytes, mut has_agreed) = (asked.bytes(), false);
    let (worker, opened) = loop {
        let (engine, worker) = match start(&asked, bytes) {
            Ok(started) => started,
            Err(why) => {
                lab.opening.try_set(false);
                lab.status.try_set(String::new());
                lab.error.try_set(Some(why));
                return;
            }
        };
        // The one before, if there was one, ends with this.
        lab.worker.try_set_value(Some(Rc::clone(&worker)));
        let opened = open(lab, &worker, engine, &asked, has_agreed).await;
        // The reader has opened another one meanwhile, or left the page.
        if !is_current() {
            return;
        }
        match opened {
            Ok(model) => break (worker, Ok(model)),
            Err(OpenError::Other(why)) => break (worker, Err(why)),
            Err(OpenError::TooLarge {
                bytes: found,
                why,
                agreed,
            }) => {
                has_agreed |= agreed;
                match wider(engine, &asked, found, why) {
                    Ok(room) => bytes = room,
                    Err(why) => break (worker, Err(why)),
                }
            }
        }
    };
    let url = match &asked.origin {
        Origin::Url(url) => Some(url.clone()),
        _ => None,
    };
    lab.opening.set(false);
    lab.list_stored();
    match opened {
        Ok(model) => {
            lab.show(format!("{} is open.", model.name), None);
            lab.model.set(Some(model));
        }
        Err(why) => {
            lab.show(String::new(), None);
            lab.end();
            let why = match url {
                Some(url) if why == STOPPED => with_way_on(why, &url).await,
                _ => why,
            };
            if is_current() {
                lab.error.try_set(Some(why));
            }
            return;
        }
    }
    loop {
        match worker.next_event().await {
            _ if lab.opening.is_disposed() || !lab.has(&worker) => return,
            WorkerEvent::Model(id, event) => lab.receive(id, event),
            WorkerEvent::Failed(why) => {
                lab.unload();
                lab.status.set(String::new());
                lab.error.set(Some(failed(&why)));
                return;
            }
            WorkerEvent::Terminated => return,
            WorkerEvent::Ready { .. } | WorkerEvent::Confirmed => {}
        }
    }
}

/// The message after the reader has stopped the opening.
pub(super) const STOPPED: &str = "Stopped. Nothing was opened.";

/// Parts of browsers' messages, and of our own, that say that a file of the engine did not come.
const LOADING: [&str; 5] = [
    "fetch",
    "could not be loaded",
    "imported module",
    "Importing a module",
    "HTTP status",
];

/// The message after the worker has failed.
pub(super) fn failed(why: &str) -> String {
    let why = why.trim_end_matches('.');
    if LOADING.iter().any(|part| why.contains(part)) {
        // A host that has only part of the site, or this page is older than its files.
        return format!(
            "A part of this site could not be loaded ({why}). A newer version may be out: load this page again."
        );
    }
    format!(
        "The engine stopped ({why}). The model probably does not fit into memory: try a smaller one, or 4-bit weights."
    )
}

async fn open(
    lab: Lab,
    worker: &Rc<ModelWorker>,
    engine: Engine,
    asked: &OpenRequest,
    has_agreed: bool,
) -> Result<OpenModel, OpenError> {
    let untrained = match &asked.origin {
        Origin::Shape { seed, .. } => Some(*seed),
        _ => None,
    };
    let Engine {
        mut build,
        mut threads,
    } = engine;
    if let Origin::Url(url) = &asked.origin {
        Engine { build, threads } = confirm(lab, worker, (engine, has_agreed), asked, url).await?;
    }
    let load = ModelRequest::Load {
        origin: asked.origin.clone(),
        packing: asked.packing,
    };
    let load = worker.send_with(load, &asked.files);
    loop {
        let event = match worker.next_event().await {
            WorkerEvent::Ready {
                build: own,
                threads: count,
                ..
            } => {
                (build, threads) = (own, count);
                continue;
            }
            WorkerEvent::Terminated => return Err(STOPPED.to_owned().into()),
            WorkerEvent::Failed(why) => return Err(failed(&why).into()),
            WorkerEvent::Model(id, event) if id == load => event,
            WorkerEvent::Model(..) | WorkerEvent::Confirmed => continue,
        };
        match event {
            ModelEvent::Stopped => return Err(STOPPED.to_owned().into()),
            ModelEvent::TooLarge { bytes, why } => {
                return Err(OpenError::TooLarge {
                    bytes,
                    why,
                    agreed: true,
                });
            }
            ModelEvent::Failed(why) => return Err(why.into()),
            ModelEvent::Loaded(loaded) => {
                // Random weights know no class.
                let (names, request) = match untrained {
                    Some(_) => (ClassNames::Own, None),
                    None => class_names::of(&loaded).await,
                };
                if let Some(request) = request {
                    worker.send(request);
                }
                return Ok(OpenModel {
                    name: asked.name.clone(),
                    loaded,
                    build,
                    threads,
                    names,
                    untrained,
                });
            }
            ModelEvent::Fetching { done, total, part } => {
                let share = total.map(|total| done as f64 / total.max(1) as f64);
                let words = match total {
                    Some(total) => format!("{} of {}", megabytes(done), megabytes(total)),
                    None => megabytes(done),
                };
                let name = match part {
                    (_, 1) => asked.name.clone(),
                    (number, count) => format!("part {number} of {count}"),
                };
                lab.show(format!("Reading {name}: {words}."), share);
            }
            ModelEvent::Loading(share) => {
                lab.show("Building the model.".to_owned(), Some(f64::from(share)));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::failed;

    #[test]
    fn a_file_that_did_not_come_is_not_a_lack_of_memory() {
        for why in [
            "Uncaught TypeError: Failed to fetch.",
            "its file could not be loaded",
            "Uncaught (in promise) TypeError: Failed to fetch dynamically imported module: a.js",
            "TypeError: Importing a module script failed.",
            "TypeError: Failed to execute 'compile' on 'WebAssembly': HTTP status code is not ok",
        ] {
            let words = failed(why);
            assert!(
                words.contains("load this page again") && !words.contains("memory"),
                "{words}"
            );
        }
        assert!(failed("RuntimeError: unreachable").contains("fit into memory"));
    }
}
