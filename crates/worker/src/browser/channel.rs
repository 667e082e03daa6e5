//! The worker's end of the channel to the page: messages come in order, and between them the work
//! continues step by step.

use std::cell::Cell;
use std::rc::Rc;

use js_sys::{Array, Uint8Array};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{DedicatedWorkerGlobalScope, File, MessageChannel, MessageEvent};
use worker::protocol::{self, Envelope, ProtocolError};

/// The receiver of the page's messages.
pub(super) trait Endpoint: 'static {
    /// Body of the page's messages.
    type Request: DeserializeOwned;

    /// Takes a request, with files of the reader's.
    fn receive(self: &Rc<Self>, request: Envelope<Self::Request>, files: Vec<File>);

    /// Works for a moment; returns whether there is more to do.
    fn work(&self) -> bool;
}

/// The channel.
pub(super) struct Channel {
    /// The worker's global object.
    pub(super) scope: DedicatedWorkerGlobalScope,
    /// A message of the worker to itself starts the next step: newer messages of the page come
    /// before it, and unlike a timer it comes at once.
    steps: MessageChannel,
    scheduled: Cell<bool>,
}

impl Channel {
    /// The channel of this worker; `None` outside a worker.
    pub(super) fn open() -> Option<Self> {
        Some(Self {
            scope: js_sys::global().dyn_into().ok()?,
            steps: MessageChannel::new().ok()?,
            scheduled: Cell::default(),
        })
    }

    /// Sends a message to the page; one that cannot be written is reported to it.
    pub(super) fn send<T: Serialize>(&self, envelope: &Envelope<T>) {
        match protocol::encode(envelope) {
            Ok(bytes) => self.post(&bytes),
            Err(error) => self.report(&error),
        }
    }

    /// Tells the page what could not be read or written.
    fn report(&self, error: &ProtocolError) {
        self.post(&protocol::failure(error));
    }

    fn post(&self, bytes: &[u8]) {
        let bytes = Uint8Array::from(bytes);
        let transfer = Array::of1(&bytes.buffer());
        // It fails for a buffer that is not there any more; this one is new.
        let _ = self.scope.post_message_with_transfer(&bytes, &transfer);
    }

    /// Milliseconds since the worker started.
    pub(super) fn now_ms(&self) -> f64 {
        self.scope.performance().map_or(0.0, |clock| clock.now())
    }

    /// Schedules the next step, unless it is scheduled.
    pub(super) fn schedule(&self) {
        if !self.scheduled.replace(true) {
            let _ = self.steps.port2().post_message(&JsValue::NULL);
        }
    }

    /// Listens to the page from now on, and tells it of which build this worker is.
    pub(super) fn listen<E: Endpoint>(self: &Rc<Self>, endpoint: &Rc<E>) {
        let (channel, working) = (Rc::clone(self), Rc::clone(endpoint));
        let step = Closure::<dyn FnMut()>::new(move || {
            channel.scheduled.set(false);
            if working.work() {
                channel.schedule();
            }
        });
        self.steps
            .port1()
            .set_onmessage(Some(step.as_ref().unchecked_ref()));
        step.forget();
        let (channel, receiving) = (Rc::clone(self), Rc::clone(endpoint));
        let on_message = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
            let (bytes, files) = parts(&event.data());
            match protocol::decode(&bytes) {
                Ok(request) => {
                    receiving.receive(request, files);
                    channel.schedule();
                }
                Err(error) => channel.report(&error),
            }
        });
        self.scope
            .set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        on_message.forget();
        self.post(&protocol::greeting());
    }
}

/// The bytes of a message, and the reader's files after them; no bytes for anything that the page
/// does not send.
fn parts(data: &JsValue) -> (Vec<u8>, Vec<File>) {
    let parts = data.dyn_ref::<Array>().cloned().unwrap_or_default();
    let bytes = parts.get(0).dyn_into::<Uint8Array>();
    let bytes = bytes.map_or_else(|_| Vec::new(), |bytes| bytes.to_vec());
    let files = parts.iter().skip(1);
    let files = files.filter_map(|file| file.dyn_into().ok()).collect();
    (bytes, files)
}
