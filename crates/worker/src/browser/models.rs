//! The files for models: orders to the desk, files for it, news to the page.

use std::cell::RefCell;
use std::rc::Rc;

use engine::open::Files;
use wasm_bindgen_futures::spawn_local;
use web_sys::{AbortController, AbortSignal, File};
use worker::build::Build;
use worker::model::bandwidth;
use worker::model::error::ModelError;
use worker::model::file;
use worker::model::host::{ModelHost, Source};
use worker::model::packing::Packing;
use worker::model::protocol::{ModelEvent, ModelInfo, ModelRequest, Origin, Reply, Storage};

use super::channel::{Channel, Endpoint};
use super::{fetch, transfer};

/// Progress is told in steps of this size.
const STEP: f32 = 0.01;

struct Models {
    channel: Rc<Channel>,
    desk: RefCell<ModelHost>,
    /// Ends a fetch.
    fetching: RefCell<Option<AbortController>>,
}

impl Endpoint for Models {
    type Message = ModelRequest;

    fn receive(self: &Rc<Self>, order: ModelRequest, files: Vec<File>) {
        self.obey(order, files);
    }

    fn turn(&self) -> bool {
        let news = self.desk.borrow_mut().turn(|| self.now_ms());
        if let Some(news) = news {
            self.tell(news);
        }
        !self.desk.borrow().is_idle()
    }
}

impl Models {
    fn tell(&self, news: ModelEvent) {
        self.channel.send(&Reply::ModelEvent(news));
    }

    fn now_ms(&self) -> f64 {
        self.channel.now_ms()
    }

    fn obey(self: &Rc<Self>, order: ModelRequest, given: Vec<File>) {
        match order {
            ModelRequest::Load { origin, packing } => {
                let host = Rc::clone(self);
                spawn_local(async move {
                    let news = match host.load(origin, packing, given).await {
                        Ok(loaded) => ModelEvent::Loaded(loaded),
                        Err(LoadError::Stopped) => ModelEvent::Stopped,
                        Err(LoadError::Failed(why)) => ModelEvent::Failed(why),
                    };
                    host.tell(news);
                });
            }
            ModelRequest::Measure { prompt, new } => {
                let begun = self.desk.borrow_mut().measure(prompt, new);
                if let Err(error) = begun {
                    self.tell(ModelEvent::Failed(error.to_string()));
                }
            }
            ModelRequest::Stop => {
                self.desk.borrow_mut().stop();
                match self.fetching.borrow().as_ref() {
                    // The fetch says that it has stopped.
                    Some(fetching) => fetching.abort(),
                    None => self.tell(ModelEvent::Stopped),
                }
            }
            // The page asks the file that only measures for nothing else, and the code for it is left out.
            _ if !cfg!(feature = "lab") => {}
            ModelRequest::MeasureBandwidth => {
                self.tell(ModelEvent::Bandwidth(bandwidth::bytes_per_s(|| {
                    self.now_ms()
                })))
            }
            ModelRequest::Write(asked) => {
                let begun = self.desk.borrow_mut().write(asked);
                if let Err(error) = begun {
                    self.tell(ModelEvent::Failed(error.to_string()));
                }
            }
            ModelRequest::Compare { first, second } => {
                self.answer(|desk| desk.compare([&first, &second], || self.now_ms()));
            }
            ModelRequest::Fill(text) => self.answer(|desk| desk.fill(&text, || self.now_ms())),
            ModelRequest::See(picture) => self.answer(|desk| desk.see(&picture, || self.now_ms())),
            ModelRequest::Attend(place) => self.answer(|desk| desk.attend(place)),
        }
    }

    /// Tells what the desk says at once.
    fn answer(&self, ask: impl FnOnce(&mut ModelHost) -> Result<ModelEvent, ModelError>) {
        let news = ask(&mut self.desk.borrow_mut());
        self.tell(news.unwrap_or_else(|error| ModelEvent::Failed(error.to_string())));
    }

    async fn load(
        &self,
        origin: Origin,
        packing: Option<Packing>,
        given: Vec<File>,
    ) -> Result<ModelInfo, LoadError> {
        let begun = self.now_ms();
        self.desk.borrow_mut().clear();
        let mut storage = None;
        let source = match origin {
            Origin::Shape { name, seed } => Source::shape(&name, seed)?,
            Origin::Url(_) | Origin::Disk => {
                let abort = AbortController::new().map_err(|_| LoadError::Stopped)?;
                let signal = abort.signal();
                self.fetching.replace(Some(abort));
                let files = match &origin {
                    Origin::Url(url) => self.fetch(url, &signal, &mut storage).await,
                    _ => self.read(&given, &signal).await,
                };
                self.fetching.replace(None);
                Source::Files(files?)
            }
        };
        let mut told = 0.0;
        let mut progress = |share: f32| {
            if share >= told + STEP {
                told = share;
                self.tell(ModelEvent::Loading(share));
            }
        };
        let mut loaded = self
            .desk
            .borrow_mut()
            .load(source, packing, &mut progress)?;
        loaded.load_ms = self.now_ms() - begun;
        loaded.storage = storage;
        Ok(loaded)
    }

    /// Tells how much of a file is here, a hundred times or once for each megabyte.
    fn progress(&self) -> impl FnMut(u64, Option<u64>) {
        let mut told = 0;
        move |done: u64, total: Option<u64>| {
            if done >= told + total.map_or(1 << 20, |total| total / 100) {
                told = done;
                self.tell(ModelEvent::Fetching { done, total });
            }
        }
    }

    /// The files of an address; says in `storage` where the weights are kept.
    async fn fetch(
        &self,
        url: &str,
        signal: &AbortSignal,
        storage: &mut Option<Storage>,
    ) -> Result<Files, LoadError> {
        let came = transfer::bytes(&self.channel.scope, url, signal, &mut self.progress()).await?;
        *storage = Some(came.storage);
        let groups = file::beside(&came.bytes);
        Ok(Files {
            name: fetch::file_name(url).to_owned(),
            beside: transfer::all_beside(&self.channel.scope, url, groups, signal).await?,
            weights: came.bytes,
        })
    }

    async fn read(&self, given: &[File], signal: &AbortSignal) -> Result<Files, LoadError> {
        let names: Vec<String> = given.iter().map(File::name).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let place = file::weights_among(&names)?;
        let mut beside = Vec::new();
        for (n, (&name, file)) in names.iter().zip(given).enumerate() {
            if n != place {
                let bytes = fetch::of_disk(file, signal, &mut |_, _| {}).await?;
                beside.push((name.to_owned(), bytes.to_vec()));
            }
        }
        let weights = fetch::of_disk(&given[place], signal, &mut self.progress()).await?;
        Ok(Files {
            name: names[place].to_owned(),
            weights,
            beside,
        })
    }
}

/// Why a model was not loaded.
pub(super) enum LoadError {
    /// The reader did not want it any more.
    Stopped,
    /// In words.
    Failed(String),
}

impl From<ModelError> for LoadError {
    fn from(error: ModelError) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Listens to the page from now on.
pub(super) fn start() {
    let Some(channel) = Channel::open().map(Rc::new) else {
        return;
    };
    let models = Models {
        channel: Rc::clone(&channel),
        desk: RefCell::default(),
        fetching: RefCell::default(),
    };
    channel.listen(&Rc::new(models));
    channel.send(&Reply::Ready {
        build: Build::here(),
        threads: engine::kernel::threads::count(),
    });
}
