//! The worker that loads and runs full-size models.

use std::cell::RefCell;
use std::rc::Rc;

use engine::format::file_bytes::FileBytes;
use engine::kernel::InnerStep;
use engine::open::Files;
use engine::quant::Type;
use wasm_bindgen_futures::spawn_local;
use web_sys::{AbortController, AbortSignal, File};
use worker::build::Build;
use worker::cell_protocol::CellRequest;
use worker::model::bandwidth;
use worker::model::error::ModelError;
use worker::model::file;
use worker::model::host::{ModelHost, Source};
use worker::model::packing::Packing;
use worker::model::protocol::{ModelEvent, ModelInfo, ModelRequest, Origin, Storage};
use worker::model::stored_file::IF_DAMAGED;
use worker::protocol::{Envelope, UNASKED, unpack};

use super::channel::{Channel, Endpoint};
use super::{disk, fetch, transfer};

/// Progress is told in steps of this size.
const STEP: f32 = 0.01;

struct Models {
    channel: Rc<Channel>,
    host: RefCell<ModelHost>,
    /// The request whose files are being fetched, and what ends the fetch.
    fetching: RefCell<Option<(u64, AbortController)>>,
}

impl Endpoint for Models {
    type Request = ModelRequest;

    fn receive(self: &Rc<Self>, Envelope { id, body }: Envelope<ModelRequest>, files: Vec<File>) {
        match body {
            ModelRequest::Load { origin, packing } => {
                // The newer request takes the place of the older one.
                self.abort_fetch(|_| true);
                let models = Rc::clone(self);
                spawn_local(async move {
                    let event = match models.load(id, origin, packing, files).await {
                        Ok(loaded) => ModelEvent::Loaded(loaded),
                        Err(LoadError::Stopped) => ModelEvent::Stopped,
                        Err(LoadError::TooLarge(bytes)) => ModelEvent::TooLarge {
                            bytes,
                            why: file::too_large(Build::here(), bytes).to_string(),
                        },
                        Err(LoadError::Failed(why) | LoadError::Broken(why)) => {
                            ModelEvent::Failed(why)
                        }
                    };
                    models.tell(id, event);
                });
            }
            ModelRequest::Measure { prompt, new } => {
                self.start(id, |host| host.measure(id, prompt, new));
            }
            ModelRequest::Cancel => {
                // A fetch that is aborted answers its request.
                self.abort_fetch(|fetching| fetching == id);
                self.host.borrow_mut().cancel(id);
            }
            // The page asks the file that only measures for nothing else, and the code for it is
            // left out.
            _ if !cfg!(feature = "lab") => {
                let why = "This engine only measures models.".to_owned();
                self.tell(id, ModelEvent::Failed(why));
            }
            ModelRequest::MeasureBandwidth(name) => {
                let measured = Type::from_name(&name)
                    .and_then(|kind| bandwidth::bytes_per_s(kind, || self.now_ms()));
                let event = match measured {
                    Ok(bandwidth) => ModelEvent::Bandwidth(bandwidth),
                    Err(error) => ModelEvent::Failed(error.to_string()),
                };
                self.tell(id, event);
            }
            ModelRequest::Write(asked) => self.start(id, |host| host.write(id, asked)),
            ModelRequest::Compare { first, second } => {
                self.answer(id, |host| host.compare([&first, &second], || self.now_ms()));
            }
            ModelRequest::Fill(text) => self.answer(id, |host| host.fill(&text, || self.now_ms())),
            ModelRequest::NameClasses(names) => self.answer(id, |host| host.name_classes(&names)),
            ModelRequest::See(picture) => {
                self.answer(id, |host| host.see(&picture, || self.now_ms()));
            }
            ModelRequest::Attend(place) => self.answer(id, |host| host.attend(place)),
            ModelRequest::Compute(request) => self.compute(id, &request),
        }
    }

    fn work(&self) -> bool {
        let event = self.host.borrow_mut().advance(|| self.now_ms());
        if let Some(event) = event {
            self.channel.send(&event);
        }
        !self.host.borrow().is_idle()
    }
}

impl Models {
    fn tell(&self, id: u64, body: ModelEvent) {
        self.channel.send(&Envelope { id, body });
    }

    fn now_ms(&self) -> f64 {
        self.channel.now_ms()
    }

    /// Ends the fetch of files if its request is one of these.
    fn abort_fetch(&self, is_meant: impl Fn(u64) -> bool) {
        if let Some((id, fetching)) = self.fetching.borrow().as_ref()
            && is_meant(*id)
        {
            fetching.abort();
        }
    }

    /// Starts work of several steps, or answers the request with the reason why it cannot start.
    fn start(&self, id: u64, start: impl FnOnce(&mut ModelHost) -> Result<(), ModelError>) {
        let started = start(&mut self.host.borrow_mut());
        if let Err(error) = started {
            self.tell(id, ModelEvent::Failed(error.to_string()));
        }
    }

    /// Answers a request in one step.
    fn answer(&self, id: u64, ask: impl FnOnce(&mut ModelHost) -> Result<ModelEvent, ModelError>) {
        let event = ask(&mut self.host.borrow_mut());
        self.tell(
            id,
            event.unwrap_or_else(|error| ModelEvent::Failed(error.to_string())),
        );
    }

    /// Starts to compute a cell, or answers that the request cannot be read.
    fn compute(&self, id: u64, request: &[u8]) {
        match unpack(request) {
            Ok(CellRequest::Compute { cell, inputs }) => {
                let now_ms = || self.now_ms();
                self.host.borrow_mut().compute(id, &cell, &inputs, now_ms);
            }
            // Cancelled by its id, as any request.
            Ok(CellRequest::Cancel) => self.host.borrow_mut().cancel(id),
            Err(error) => self.tell(id, ModelEvent::Failed(error.to_string())),
        }
    }

    async fn load(
        &self,
        id: u64,
        origin: Origin,
        packing: Option<Packing>,
        given: Vec<File>,
    ) -> Result<ModelInfo, LoadError> {
        let begun = self.now_ms();
        self.host.borrow_mut().clear();
        let mut storage = None;
        let source = match origin {
            Origin::Shape { name, seed } => Source::shape(&name, seed)?,
            Origin::Url(_) | Origin::Disk => {
                let abort = AbortController::new().map_err(|_| LoadError::Stopped)?;
                let signal = abort.signal();
                self.fetching.replace(Some((id, abort)));
                let files = match &origin {
                    Origin::Url(url) => self.fetch(id, url, &signal, &mut storage).await,
                    _ => read(&given),
                };
                if self
                    .fetching
                    .borrow()
                    .as_ref()
                    .is_some_and(|(own, _)| *own == id)
                {
                    self.fetching.replace(None);
                }
                Source::Files(files?)
            }
        };
        let mut told = 0.0;
        let mut progress = |share: f32| {
            if share >= told + STEP {
                told = share;
                self.tell(id, ModelEvent::Loading(share));
            }
        };
        let loaded = self.host.borrow_mut().load(source, packing, &mut progress);
        let mut loaded = loaded.map_err(|error| match storage {
            Some(Storage::Stored { .. }) => {
                let why = error.to_string();
                LoadError::Failed(format!("{}. {IF_DAMAGED}", why.trim_end_matches('.')))
            }
            _ => error.into(),
        })?;
        loaded.load_ms = self.now_ms() - begun;
        loaded.storage = storage;
        Ok(loaded)
    }

    /// A function that tells how much of a file is here, a hundred times or once for each megabyte.
    fn progress(&self, id: u64, part: (usize, usize)) -> impl FnMut(u64, Option<u64>) {
        let mut told = 0;
        move |done: u64, total: Option<u64>| {
            if done >= told + total.map_or(1 << 20, |total| total / 100) {
                told = done;
                self.tell(id, ModelEvent::Fetching { done, total, part });
            }
        }
    }

    /// The files of an address, with all parts if it is that of one part; `storage` gets the place
    /// of the weights.
    async fn fetch(
        &self,
        id: u64,
        url: &str,
        signal: &AbortSignal,
        storage: &mut Option<Storage>,
    ) -> Result<Files, LoadError> {
        let scope = &self.channel.scope;
        let addresses = file::addresses(url);
        let mut parts = Parts::default();
        for (n, url) in addresses.iter().enumerate() {
            let progress = &mut self.progress(id, (n + 1, addresses.len()));
            let came = transfer::bytes(scope, url, signal, progress).await?;
            *storage = Some(match storage.take() {
                Some(known) => known.and(came.storage),
                None => came.storage,
            });
            parts.add(fetch::file_name(url), came.bytes)?;
        }
        let mut files = parts.files();
        let start = files.weights.start(file::KIND_BYTES);
        let groups = file::beside(&start.map_err(LoadError::Failed)?);
        files.beside = transfer::all_beside(scope, url, groups, signal).await?;
        Ok(files)
    }
}

/// The files that the reader chose. The weights are read where they lie while the model is built.
fn read(given: &[File]) -> Result<Files, LoadError> {
    let names: Vec<String> = given.iter().map(File::name).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let places = file::weights_among(&names)?;
    let mut parts = Parts::default();
    for &place in &places {
        parts.add(names[place], disk::open(&given[place])?)?;
    }
    let mut files = parts.files();
    for (n, (&name, file)) in names.iter().zip(given).enumerate() {
        if !places.contains(&n) {
            let opened = disk::open(file)?;
            let bytes = opened.start(usize::MAX).map_err(LoadError::Failed)?;
            files.beside.push((name.to_owned(), bytes.into_owned()));
        }
    }
    Ok(files)
}

/// The files of the weights, as they come.
#[derive(Default)]
struct Parts {
    parts: Vec<(String, FileBytes)>,
    bytes: u64,
}

impl Parts {
    /// Adds a file.
    ///
    /// # Errors
    /// When all together are too large.
    fn add(&mut self, name: &str, bytes: FileBytes) -> Result<(), LoadError> {
        self.bytes += bytes.size() as u64;
        fetch::check_size(self.bytes)?;
        self.parts.push((name.to_owned(), bytes));
        Ok(())
    }

    /// The first file as the weights, and the others as more of them.
    fn files(self) -> Files {
        let mut parts = self.parts.into_iter();
        let (name, weights) = parts.next().unwrap_or_default();
        let mut files = Files::new(name, weights);
        files.more = parts.collect();
        files
    }
}

/// The reason why a model was not loaded.
pub(super) enum LoadError {
    /// The request was cancelled.
    Stopped,
    /// In words for the reader.
    Failed(String),
    /// This build cannot address this number of bytes.
    TooLarge(u64),
    /// A download began or was promised and did not end, in words for the reader.
    Broken(String),
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
        host: RefCell::default(),
        fetching: RefCell::default(),
    };
    channel.listen(&Rc::new(models));
    let ready = ModelEvent::Ready {
        build: Build::here(),
        threads: engine::kernel::threads::count(),
        inner_steps: engine::kernel::inner_steps().map(|steps| steps.map(InnerStep::number)),
    };
    channel.send(&Envelope {
        id: UNASKED,
        body: ready,
    });
}
