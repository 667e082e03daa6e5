//! The page's end of a worker: starts it, checks that it is of this build, sends requests and reads
//! its messages.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Array, Function, Reflect, Uint8Array};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{ErrorEvent, Event, File, MessageEvent, Worker};
use worker::build::WorkerFiles;
use worker::protocol::{self, Envelope, Inbox};

use super::dom;

/// An event of a worker.
pub(crate) enum PortEvent<T> {
    /// A message.
    Message(Envelope<T>),
    /// The worker could not be started, stopped, or cannot be understood; the reason, in words. It
    /// is of no use any more.
    Failed(String),
}

/// Listener to an event of the browser.
type Listener<E> = Closure<dyn FnMut(E)>;

/// A running worker; it ends when this is dropped.
pub(crate) struct Port {
    worker: Worker,
    /// Messages that wait until the worker has named its build; `None` from then on.
    waiting: Rc<RefCell<Option<Vec<Array>>>>,
    _on_message: Listener<MessageEvent>,
    _on_error: Listener<Event>,
}

/// The worker's files that this site has.
pub(crate) fn worker_files() -> WorkerFiles {
    let html = dom::document().and_then(|document| document.document_element());
    WorkerFiles::parse(
        &html
            .map(|html| dom::data(&html, "workers"))
            .unwrap_or_default(),
    )
}

impl Port {
    /// Starts a file of the worker with these options (see [`WorkerFiles::address`]), or takes over
    /// the one that the page has already started; `listener` is called with each of its events.
    ///
    /// # Errors
    /// When the site lacks the file, or the browser has no workers.
    pub(crate) fn start<T: DeserializeOwned + 'static>(
        name: &str,
        options: &str,
        listener: impl FnMut(PortEvent<T>) + 'static,
    ) -> Result<Self, String> {
        let address = worker_files()
            .address(name, options)
            .ok_or_else(|| format!("This site was built without the file {name}."))?;
        let address = super::address::site_url(&address);
        let (worker, messages) = match started_early(&address) {
            Some(early) => early,
            None => {
                let worker = Worker::new(&address)
                    .map_err(|_| "This browser does not start workers.".to_owned())?;
                (worker, Array::new())
            }
        };
        let waiting = Rc::new(RefCell::new(Some(Vec::new())));
        let listener = Rc::new(RefCell::new(listener));
        let on_message = reader(worker.clone(), Rc::clone(&waiting), Rc::clone(&listener));
        let on_error = Listener::<Event>::new(move |event: Event| {
            event.prevent_default();
            let message = event.dyn_ref::<ErrorEvent>().map(ErrorEvent::message);
            let message = message.filter(|message| !message.is_empty());
            let why = message.unwrap_or_else(|| "its file could not be loaded".to_owned());
            (listener.borrow_mut())(PortEvent::Failed(why));
        });
        worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        worker.set_onmessageerror(Some(on_error.as_ref().unchecked_ref()));
        worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        let hear: Function = on_message.as_ref().unchecked_ref::<Function>().clone();
        // In a moment, when the caller has this port: a message may say that the worker is of no use.
        leptos::task::spawn_local(async move {
            for message in messages.iter() {
                // It fails where the port has been dropped, which wants to hear nothing.
                let _ = hear.call1(&JsValue::NULL, &message);
            }
        });
        Ok(Self {
            worker,
            waiting,
            _on_message: on_message,
            _on_error: on_error,
        })
    }

    /// Sends a request with files of the reader's, as soon as the worker has named its build.
    ///
    /// # Errors
    /// When the request cannot be written or sent.
    pub(crate) fn send<T: Serialize>(
        &self,
        id: u64,
        body: T,
        files: &[File],
    ) -> Result<(), String> {
        let bytes = protocol::encode(&Envelope { id, body }).map_err(|error| error.to_string())?;
        let message = Array::of1(&Uint8Array::from(bytes.as_slice()));
        for file in files {
            message.push(file);
        }
        match self.waiting.borrow_mut().as_mut() {
            Some(waiting) => {
                waiting.push(message);
                Ok(())
            }
            None => post(&self.worker, &message),
        }
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        self.worker.set_onmessage(None);
        self.worker.set_onmessageerror(None);
        self.worker.set_onerror(None);
        self.worker.terminate();
    }
}

/// The worker that `public/boot.mjs` started with this address and further options, and the events
/// of the messages that it has sent since.
fn started_early(address: &str) -> Option<(Worker, Array)> {
    let window = dom::window()?;
    let name = JsValue::from("firstWorker");
    let early = Reflect::get(&window, &name).ok()?;
    let part = |name: &str| Reflect::get(&early, &name.into()).ok();
    let further = part("address")?.as_string()?;
    if !further.strip_prefix(address)?.starts_with('&') {
        return None;
    }
    Reflect::delete_property(&window, &name).ok()?;
    Some((
        part("worker")?.unchecked_into(),
        part("messages")?.unchecked_into(),
    ))
}

/// The listener to the worker's messages. After one that cannot be understood the worker is ended:
/// it may be of another build.
fn reader<T: DeserializeOwned + 'static>(
    worker: Worker,
    waiting: Rc<RefCell<Option<Vec<Array>>>>,
    listener: Rc<RefCell<impl FnMut(PortEvent<T>) + 'static>>,
) -> Listener<MessageEvent> {
    let mut inbox = Inbox::default();
    let flush = move |worker: &Worker| {
        let messages = waiting.borrow_mut().take().unwrap_or_default();
        messages
            .iter()
            .try_for_each(|message| post(worker, message))
    };
    Listener::new(move |event: MessageEvent| {
        let bytes = event.data().dyn_into::<Uint8Array>();
        let bytes = bytes.map_or_else(|_| Vec::new(), |bytes| bytes.to_vec());
        let event = match inbox.read(&bytes) {
            Ok(Some(envelope)) => PortEvent::Message(envelope),
            Ok(None) => match flush(&worker) {
                Ok(()) => return,
                Err(why) => PortEvent::Failed(why),
            },
            Err(error) => {
                worker.terminate();
                PortEvent::Failed(error.to_string())
            }
        };
        (listener.borrow_mut())(event);
    })
}

/// Hands a message over; its bytes are moved, not copied.
fn post(worker: &Worker, message: &Array) -> Result<(), String> {
    let bytes: Uint8Array = message.get(0).unchecked_into();
    worker
        .post_message_with_transfer(message, &Array::of1(&bytes.buffer()))
        .map_err(|_| "A request could not be sent to the worker.".to_owned())
}
