//! The worker that computes cells.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use cells::jobs;
use cells::model_cache::ModelCache;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{File, ReadableStreamDefaultReader, Response};
use worker::cell_protocol::{CellRequest, Fetched};
use worker::json;
use worker::protocol::Envelope;
use worker::service::Service;

use super::channel::{Channel, Endpoint};
use super::code;
use super::stream::next_part;

/// Milliseconds after which a slice ends, so newer messages are read.
const SLICE_MS: f64 = 25.0;

/// Milliseconds between two messages about the progress of a download.
const PROGRESS_MS: f64 = 100.0;

struct Cells {
    channel: Rc<Channel>,
    service: RefCell<Service>,
    /// Cells whose code is being fetched.
    arriving: RefCell<Vec<&'static str>>,
    /// Whether a file is being fetched. They come one at a time, in the order of the requests: on a
    /// slow line the first cell that the reader meets is there before the next ones begin.
    is_fetching: Cell<bool>,
}

impl Endpoint for Cells {
    type Request = CellRequest;

    fn receive(self: &Rc<Self>, request: Envelope<CellRequest>, _: Vec<File>) {
        self.service.borrow_mut().accept(request);
        self.fetch_missing();
    }

    fn work(&self) -> bool {
        let mut service = self.service.borrow_mut();
        if let Some(reply) = service.run_slice(SLICE_MS, || self.channel.now_ms()) {
            self.channel.send(&reply);
        }
        !service.is_idle()
    }
}

impl Cells {
    /// Fetches the code that requests lack and that is not under way, and the next file.
    fn fetch_missing(self: &Rc<Self>) {
        let (cells, files) = {
            let service = self.service.borrow();
            (service.missing_cells(), service.missing_files())
        };
        for cell in cells {
            self.begin_to_load(cell);
        }
        if let (Some(&file), false) = (files.first(), self.is_fetching.get()) {
            self.is_fetching.set(true);
            spawn_local(Rc::clone(self).fetch(file.to_owned()));
        }
    }

    /// Fetches the code of a cell and a file below `models/`, which the page is going to ask for.
    fn expect(self: &Rc<Self>, cell: &str, file: &str) {
        if let Some(cell) = jobs::name_of(cell) {
            self.begin_to_load(cell);
        }
        if !file.is_empty() && !self.is_fetching.replace(true) {
            spawn_local(Rc::clone(self).fetch(file.to_owned()));
        }
    }

    /// Fetches the code of a cell, unless that is under way.
    fn begin_to_load(self: &Rc<Self>, cell: &'static str) {
        let mut arriving = self.arriving.borrow_mut();
        if !arriving.contains(&cell) {
            arriving.push(cell);
            spawn_local(Rc::clone(self).load(cell));
        }
    }

    /// Brings the code of a cell to the requests that need it, or the reason why it cannot be
    /// had.
    async fn load(self: Rc<Self>, cell: &'static str) {
        let loaded = code::load(cell).await;
        self.arriving.borrow_mut().retain(|other| *other != cell);
        match loaded {
            Some(entry) => {
                self.service.borrow_mut().add_cell(entry);
                self.fetch_missing();
                self.channel.schedule();
            }
            None => {
                let why = "the code of this cell could not be fetched. Check the connection.";
                for reply in self.service.borrow_mut().fail_cell(cell, why) {
                    self.channel.send(&reply);
                }
            }
        }
    }

    /// Brings a file below `models/` to the requests that need it, or the reason why it cannot be
    /// had.
    async fn fetch(self: Rc<Self>, file: String) {
        let fetched = self.fetched(&file).await;
        self.is_fetching.set(false);
        match fetched {
            Ok(bytes) => {
                self.service.borrow_mut().add_file(&file, bytes);
                self.channel.schedule();
            }
            Err(why) => {
                for reply in self.service.borrow_mut().fail_file(&file, &why) {
                    self.channel.send(&reply);
                }
                // A request that shows parts of its result may have nothing left to wait for.
                self.channel.schedule();
            }
        }
        self.fetch_missing();
    }

    async fn fetched(&self, file: &str) -> Result<Arc<[u8]>, String> {
        let failed = |_: JsValue| format!("{file} could not be fetched. Check the connection.");
        self.tell(file, 0, None);
        let address = format!("models/{file}");
        let response = JsFuture::from(self.channel.scope.fetch_with_str(&address)).await;
        let response: Response = response.map_err(failed)?.dyn_into().map_err(failed)?;
        if !response.ok() {
            let status = response.status();
            return Err(format!(
                "{file} could not be fetched: the host answered {status}."
            ));
        }
        let total = length_of(&response);
        let stream = response.body().ok_or_else(|| failed(JsValue::NULL))?;
        let reader: ReadableStreamDefaultReader = stream.get_reader().unchecked_into();
        let mut bytes = Vec::new();
        let mut told_at = self.channel.now_ms();
        while let Some(part) = next_part(&reader, None).await.map_err(failed)? {
            bytes.extend(part.to_vec());
            if self.channel.now_ms() - told_at >= PROGRESS_MS {
                told_at = self.channel.now_ms();
                self.tell(file, bytes.len() as u64, total);
            }
        }
        Ok(bytes.into())
    }

    /// Tells the requests that wait for a file how much of it is here.
    fn tell(&self, file: &str, bytes: u64, total: Option<u64>) {
        let fetched = Fetched { bytes, total };
        for reply in self.service.borrow_mut().note_fetched(file, fetched) {
            self.channel.send(&reply);
        }
    }
}

/// The number of bytes of an answer, where its host says so: that of a compressed answer counts
/// compressed bytes.
fn length_of(response: &Response) -> Option<u64> {
    let header = |name: &str| response.headers().get(name).ok().flatten();
    if header("Content-Encoding").is_some() {
        return None;
    }
    header("Content-Length")?.parse().ok()
}

/// Listens to the page from now on, and fetches the code of `cell` and the file `weights`, unless
/// they are empty.
pub(super) fn start(cell: &str, weights: &str) {
    let Some(channel) = Channel::open().map(Rc::new) else {
        return;
    };
    let cells = Rc::new(Cells {
        channel: Rc::clone(&channel),
        service: RefCell::new(Service::new(ModelCache::reading(json::read))),
        arriving: RefCell::default(),
        is_fetching: Cell::default(),
    });
    channel.listen(&cells);
    cells.expect(cell, weights);
}
