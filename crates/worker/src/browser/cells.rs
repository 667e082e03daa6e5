//! The worker that computes cells.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use js_sys::{ArrayBuffer, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{File, Response};
use worker::cell_protocol::CellRequest;
use worker::protocol::Envelope;
use worker::service::Service;

use super::channel::{Channel, Endpoint};
use super::lessons;

/// Milliseconds after which a slice ends, so newer messages are read.
const SLICE_MS: f64 = 25.0;

struct Cells {
    channel: Rc<Channel>,
    service: RefCell<Service>,
    /// Files and lessons that are being fetched.
    fetching: RefCell<BTreeSet<&'static str>>,
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
    /// Fetches the code and the files that requests lack and that are not under way.
    fn fetch_missing(self: &Rc<Self>) {
        let (lessons, files) = {
            let service = self.service.borrow();
            (service.missing_lessons(), service.missing_files())
        };
        for lesson in lessons {
            if self.fetching.borrow_mut().insert(lesson) {
                spawn_local(Rc::clone(self).load(lesson));
            }
        }
        for file in files {
            if self.fetching.borrow_mut().insert(file) {
                spawn_local(Rc::clone(self).fetch(file));
            }
        }
    }

    /// Brings the code of a lesson to the requests that need it, or the reason why it cannot be
    /// had.
    async fn load(self: Rc<Self>, lesson: &'static str) {
        let loaded = lessons::load(lesson).await;
        self.fetching.borrow_mut().remove(lesson);
        match loaded {
            Some(table) => {
                self.service.borrow_mut().add_lesson(lesson, table);
                self.fetch_missing();
                self.channel.schedule();
            }
            None => {
                let why = "the code of this lesson could not be fetched. Check the connection.";
                for reply in self.service.borrow_mut().fail_lesson(lesson, why) {
                    self.channel.send(&reply);
                }
            }
        }
    }

    /// Brings a file below `models/` to the requests that need it, or the reason why it cannot be
    /// had.
    async fn fetch(self: Rc<Self>, file: &'static str) {
        let fetched = self.fetched(file).await;
        self.fetching.borrow_mut().remove(file);
        let mut service = self.service.borrow_mut();
        match fetched {
            Ok(bytes) => {
                service.add_file(file, bytes);
                self.channel.schedule();
            }
            Err(why) => {
                for reply in service.fail_file(file, &why) {
                    self.channel.send(&reply);
                }
            }
        }
    }

    async fn fetched(&self, file: &str) -> Result<Arc<[u8]>, String> {
        let failed = |_: JsValue| format!("{file} could not be fetched. Check the connection.");
        let address = format!("models/{file}");
        let response = JsFuture::from(self.channel.scope.fetch_with_str(&address)).await;
        let response: Response = response.map_err(failed)?.dyn_into().map_err(failed)?;
        if !response.ok() {
            let status = response.status();
            return Err(format!(
                "{file} could not be fetched: the host answered {status}."
            ));
        }
        let whole = JsFuture::from(response.array_buffer().map_err(failed)?).await;
        let whole: ArrayBuffer = whole.map_err(failed)?.dyn_into().map_err(failed)?;
        Ok(Uint8Array::new(&whole).to_vec().into())
    }
}

/// Listens to the page from now on.
pub(super) fn start() {
    let Some(channel) = Channel::open().map(Rc::new) else {
        return;
    };
    let cells = Cells {
        channel: Rc::clone(&channel),
        service: RefCell::default(),
        fetching: RefCell::default(),
    };
    channel.listen(&Rc::new(cells));
}
