//! A model from its order to its end: starts the worker, hears what it says, and keeps what the page shows.

use std::rc::Rc;

use leptos::prelude::*;
use web_sys::File;
use worker::build::{Build, Purpose};
use worker::model::packing::Packing;
use worker::model::protocol::{Candidate, ModelEvent, ModelInfo, ModelRequest, Origin};

use super::answers::Answers;
use super::download_offer::{DownloadOffer, settle};
use crate::browser::storage::{self, StoredFile};
use crate::model_build::choose;
use crate::model_worker::{ModelWorker, WorkerEvent};

/// What is to be opened.
pub(super) struct OpenRequest {
    /// What the model is called.
    pub(super) name: String,
    /// Where it comes from.
    pub(super) origin: Origin,
    /// The reader's files, where it comes from disk.
    pub(super) files: Vec<File>,
    /// The form of its matrices; `None` leaves them as they are.
    pub(super) packing: Option<Packing>,
}

/// A model that stands, and the engine that runs it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OpenModel {
    pub(super) name: String,
    pub(super) loaded: ModelInfo,
    pub(super) build: Build,
    pub(super) threads: usize,
    /// Seed of its weights, where they are random.
    pub(super) untrained: Option<u64>,
}

/// A token of the text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub(super) text: String,
    /// What it was chosen from; nothing for a token of the prompt.
    pub(super) candidates: Vec<Candidate>,
    /// Whether the model wrote it.
    pub(super) is_new: bool,
}

/// The text that is written.
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
    /// Why the text ended.
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
        self.ending.set(String::new());
        self.error.set(None);
    }

    fn hear(&self, news: ModelEvent) {
        match news {
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
                elapsed_ms,
            } => {
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

/// What the page shows, and the worker while there is one.
#[derive(Clone, Copy)]
pub(super) struct Lab {
    /// Whether a model is being opened.
    pub(super) opening: RwSignal<bool>,
    pub(super) status: RwSignal<String>,
    pub(super) share: RwSignal<Option<f64>>,
    pub(super) error: RwSignal<Option<String>>,
    /// What a download will cost, while the reader is asked about it.
    pub(super) ahead: RwSignal<Option<DownloadOffer>>,
    pub(super) standing: RwSignal<Option<OpenModel>>,
    pub(super) text: TextSignals,
    pub(super) answers: Answers,
    /// What is kept on this device.
    pub(super) kept: RwSignal<Vec<StoredFile>>,
    worker: StoredValue<Option<Rc<ModelWorker>>, LocalStorage>,
    /// How often the reader has opened something: what an earlier one leads to is of no interest any more.
    turn: StoredValue<u32>,
}

impl Lab {
    pub(super) fn new() -> Self {
        Self {
            opening: RwSignal::new(false),
            status: RwSignal::new(String::new()),
            share: RwSignal::new(None),
            error: RwSignal::new(None),
            ahead: RwSignal::new(None),
            standing: RwSignal::new(None),
            text: TextSignals::new(),
            answers: Answers::new(),
            kept: RwSignal::new(Vec::new()),
            worker: StoredValue::new_local(None),
            turn: StoredValue::new(0),
        }
    }

    /// Sends an order to the worker, if there is one.
    pub(super) fn order(&self, order: ModelRequest) {
        if let Some(Some(worker)) = self.worker.try_get_value() {
            worker.order(order);
        }
    }

    /// Ends the worker, and with it the model and all that it took.
    pub(super) fn end(&self) {
        if let Some(Some(worker)) = self.worker.try_get_value() {
            worker.end();
        }
        self.worker.try_set_value(None);
        self.ahead.try_set(None);
    }

    /// Ends the worker and says that nothing is open any more.
    pub(super) fn unload(&self) {
        self.end();
        self.standing.set(None);
        self.forget();
        self.status
            .set("Unloaded. Its memory is free again.".to_owned());
    }

    /// Opens a model in place of the one that is there.
    pub(super) fn open(&self, asked: OpenRequest) {
        self.end();
        self.standing.set(None);
        self.forget();
        self.error.set(None);
        self.opening.set(true);
        self.say("Starting the engine.".to_owned(), None);
        self.turn.update_value(|turn| *turn += 1);
        let turn = self.turn.get_value();
        leptos::task::spawn_local(session(*self, asked, turn));
    }

    /// Says to who waits that the reader wants it.
    pub(super) fn go_on(&self) {
        if let Some(Some(worker)) = self.worker.try_get_value() {
            worker.go_on();
        }
    }

    /// Gives up what is being opened.
    pub(super) fn stop_opening(&self) {
        self.end();
    }

    /// Looks what is kept on this device.
    pub(super) fn list_kept(&self) {
        let kept = self.kept;
        leptos::task::spawn_local(async move {
            kept.try_set(storage::list().await);
        });
    }

    /// Forgets what the model wrote and said.
    fn forget(&self) {
        self.text.clear();
        self.answers.clear();
    }

    fn hear(&self, news: ModelEvent) {
        let writes =
            |standing: &Option<OpenModel>| standing.as_ref().is_some_and(|s| s.loaded.writes);
        if self.standing.with_untracked(writes) && !matches!(news, ModelEvent::Attended { .. }) {
            self.text.hear(news);
        } else {
            self.answers.hear(news);
        }
    }

    pub(super) fn say(&self, words: String, share: Option<f64>) {
        if self.status.try_with_untracked(|shown| *shown != words) == Some(true) {
            self.status.set(words);
        }
        self.share.try_set(share);
    }

    /// Whether this worker is still the page's.
    pub(super) fn has(&self, worker: &Rc<ModelWorker>) -> bool {
        let own = self.worker.try_get_value().flatten();
        own.is_some_and(|own| Rc::ptr_eq(&own, worker))
    }
}

/// Lives as long as the worker does.
async fn session(lab: Lab, asked: OpenRequest, turn: u32) {
    let started = choose(None, None).and_then(|(build, threads)| {
        ModelWorker::start(Purpose::Lab, build, threads)
            .map(Rc::new)
            .ok_or_else(|| "This browser has no workers, and a model needs one.".to_owned())
    });
    if lab.turn.try_get_value() != Some(turn) {
        return;
    }
    let worker = match started {
        Ok(worker) => worker,
        Err(why) => {
            lab.opening.try_set(false);
            lab.status.try_set(String::new());
            lab.error.try_set(Some(why));
            return;
        }
    };
    lab.worker.try_set_value(Some(Rc::clone(&worker)));
    let opened = open(lab, &worker, asked).await;
    // The reader has opened another one meanwhile, or left the page.
    if lab.turn.try_get_value() != Some(turn) {
        return;
    }
    lab.opening.set(false);
    lab.list_kept();
    match opened {
        Ok(standing) => {
            lab.say(format!("{} is open.", standing.name), None);
            lab.standing.set(Some(standing));
        }
        Err(why) => {
            lab.say(String::new(), None);
            lab.error.set(Some(why));
            lab.end();
            return;
        }
    }
    loop {
        match worker.hear().await {
            _ if lab.opening.is_disposed() || !lab.has(&worker) => return,
            WorkerEvent::Model(news) => lab.hear(news),
            WorkerEvent::Died(why) => {
                lab.unload();
                lab.status.set(String::new());
                lab.error.set(Some(gave_up(&why)));
                return;
            }
            WorkerEvent::Terminated => return,
            WorkerEvent::Ready { .. } | WorkerEvent::Confirmed => {}
        }
    }
}

/// A size for the reader.
pub(super) fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

/// What is said where the reader gave up.
pub(super) const STOPPED: &str = "Stopped. Nothing was opened.";

pub(super) fn gave_up(why: &str) -> String {
    format!(
        "The engine gave up ({why}). A model that does not fit into memory does that: try a smaller one, or matrices of 4 bits."
    )
}

async fn open(lab: Lab, worker: &Rc<ModelWorker>, asked: OpenRequest) -> Result<OpenModel, String> {
    let untrained = match &asked.origin {
        Origin::Shape { seed, .. } => Some(*seed),
        _ => None,
    };
    let (mut build, mut threads) = (Build::Simd128, 1);
    if let Origin::Url(url) = &asked.origin {
        (build, threads) = settle(lab, worker, &asked.name, url).await?;
    }
    let load = ModelRequest::Load {
        origin: asked.origin,
        packing: asked.packing,
    };
    worker.order_with(load, &asked.files);
    loop {
        match worker.hear().await {
            WorkerEvent::Ready {
                build: own,
                threads: count,
            } => (build, threads) = (own, count),
            WorkerEvent::Terminated | WorkerEvent::Model(ModelEvent::Stopped) => {
                return Err(STOPPED.to_owned());
            }
            WorkerEvent::Died(why) => return Err(gave_up(&why)),
            WorkerEvent::Model(ModelEvent::Failed(why)) => return Err(why),
            WorkerEvent::Model(ModelEvent::Loaded(loaded)) => {
                return Ok(OpenModel {
                    name: asked.name,
                    loaded,
                    build,
                    threads,
                    untrained,
                });
            }
            WorkerEvent::Model(ModelEvent::Fetching { done, total }) => {
                let share = total.map(|total| done as f64 / total.max(1) as f64);
                let words = match total {
                    Some(total) => format!("{} of {}", megabytes(done), megabytes(total)),
                    None => megabytes(done),
                };
                lab.say(format!("Reading {}: {words}.", asked.name), share);
            }
            WorkerEvent::Model(ModelEvent::Loading(share)) => {
                lab.say("Building the model.".to_owned(), Some(f64::from(share)));
            }
            WorkerEvent::Model(_) | WorkerEvent::Confirmed => {}
        }
    }
}
