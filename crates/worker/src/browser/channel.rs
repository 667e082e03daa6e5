//! The worker's end of the channel to the page: messages come in order, and between them the work goes on in turns.

use std::cell::Cell;
use std::rc::Rc;

use js_sys::{Array, Uint8Array};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{DedicatedWorkerGlobalScope, File, MessageChannel, MessageEvent};
use worker::protocol;

/// Who answers.
pub(super) trait Endpoint: 'static {
    /// What the page says.
    type Message: DeserializeOwned;

    /// Takes a message, with files of the reader's.
    fn receive(self: &Rc<Self>, message: Self::Message, files: Vec<File>);

    /// Works for a moment; whether there is more to do.
    fn turn(&self) -> bool;
}

/// The channel.
pub(super) struct Channel {
    /// The worker's global object.
    pub(super) scope: DedicatedWorkerGlobalScope,
    /// A message to ourselves is the next turn: newer messages from the page come before it, and unlike a timer it comes at once.
    turns: MessageChannel,
    scheduled: Cell<bool>,
}

impl Channel {
    /// `None` outside a worker.
    pub(super) fn open() -> Option<Self> {
        Some(Self {
            scope: js_sys::global().dyn_into().ok()?,
            turns: MessageChannel::new().ok()?,
            scheduled: Cell::default(),
        })
    }

    /// Sends a message to the page.
    pub(super) fn send(&self, message: &impl Serialize) {
        let bytes = Uint8Array::from(protocol::encode(message).as_slice());
        let _ = self
            .scope
            .post_message_with_transfer(&bytes, &Array::of1(&bytes.buffer()));
    }

    /// Milliseconds since the worker started.
    pub(super) fn now_ms(&self) -> f64 {
        self.scope.performance().map_or(0.0, |clock| clock.now())
    }

    /// Has another turn come.
    pub(super) fn schedule(&self) {
        if !self.scheduled.replace(true) {
            let _ = self.turns.port2().post_message(&JsValue::NULL);
        }
    }

    /// Listens to the page from now on.
    pub(super) fn listen<H: Endpoint>(self: &Rc<Self>, host: &Rc<H>) {
        let (channel, turning) = (Rc::clone(self), Rc::clone(host));
        let turn = Closure::<dyn FnMut()>::new(move || {
            channel.scheduled.set(false);
            if turning.turn() {
                channel.schedule();
            }
        });
        self.turns
            .port1()
            .set_onmessage(Some(turn.as_ref().unchecked_ref()));
        turn.forget();
        let (channel, listening) = (Rc::clone(self), Rc::clone(host));
        let on_message = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
            let (message, files) = parts(event.data());
            let bytes = Uint8Array::new(&message).to_vec();
            if let Some(message) = protocol::decode(&bytes) {
                listening.receive(message, files);
                channel.schedule();
            }
        });
        self.scope
            .set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        on_message.forget();
    }
}

/// A message, or one with the reader's files behind it.
fn parts(data: JsValue) -> (JsValue, Vec<File>) {
    match data.dyn_into::<Array>() {
        Ok(parts) => {
            let files = parts.iter().skip(1);
            let files = files.filter_map(|file| file.dyn_into().ok()).collect();
            (parts.get(0), files)
        }
        Err(message) => (message, Vec::new()),
    }
}
