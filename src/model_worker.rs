//! A worker of its own for a full-size model: orders go in, news come out one by one. Ending it gives all memory back.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use js_sys::{Array, Uint8Array};
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{ErrorEvent, Event, File, MessageEvent, Worker};
use worker::build::{Build, Purpose};
use worker::model::protocol::{ModelEvent, ModelRequest, Reply};
use worker::protocol;

/// File of the worker, relative to the site's folder.
const SCRIPT: &str = "worker_start.js";

/// What the page hears.
pub(crate) enum WorkerEvent {
    /// The worker listens; how many threads share its work.
    Ready {
        /// The file that runs.
        build: Build,
        /// How many threads share its work.
        threads: usize,
    },
    /// How the model stands.
    Model(ModelEvent),
    /// The reader wants what was asked about.
    Confirmed,
    /// The worker was ended by the page.
    Terminated,
    /// It died; why, in words.
    Died(String),
}

#[derive(Default)]
struct Inbox {
    heard: RefCell<VecDeque<WorkerEvent>>,
    waker: Cell<Option<Waker>>,
}

impl Inbox {
    fn put(&self, heard: WorkerEvent) {
        self.heard.borrow_mut().push_back(heard);
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

/// What the browser calls with an event.
type Listener<E> = Closure<dyn FnMut(E)>;

/// A running worker; it ends when this is dropped.
pub(crate) struct ModelWorker {
    worker: Worker,
    inbox: Rc<Inbox>,
    _on_message: Listener<MessageEvent>,
    _on_error: Listener<Event>,
}

impl ModelWorker {
    /// Starts a build with so many threads; `None` where the browser has no workers.
    pub(crate) fn start(purpose: Purpose, build: Build, threads: usize) -> Option<Self> {
        let script = format!("{SCRIPT}?file={}&threads={threads}", purpose.file(build));
        let worker = Worker::new(&crate::app::site_url(&script)).ok()?;
        let inbox = Rc::new(Inbox::default());
        let put = Rc::clone(&inbox);
        let on_message = Listener::<MessageEvent>::new(move |event: MessageEvent| {
            let bytes = Uint8Array::new(&event.data()).to_vec();
            match protocol::decode::<Reply>(&bytes) {
                Some(Reply::Ready { build, threads }) => {
                    put.put(WorkerEvent::Ready { build, threads })
                }
                Some(Reply::ModelEvent(news)) => put.put(WorkerEvent::Model(news)),
                None => {}
            }
        });
        let put = Rc::clone(&inbox);
        let on_error = Listener::<Event>::new(move |event: Event| {
            event.prevent_default();
            let message = event.dyn_ref::<ErrorEvent>().map(ErrorEvent::message);
            put.put(WorkerEvent::Died(message.unwrap_or_default()));
        });
        worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        Some(Self {
            worker,
            inbox,
            _on_message: on_message,
            _on_error: on_error,
        })
    }

    /// Sends an order.
    pub(crate) fn order(&self, order: ModelRequest) {
        let bytes = Uint8Array::from(protocol::encode(&order).as_slice());
        let sent = self
            .worker
            .post_message_with_transfer(&bytes, &Array::of1(&bytes.buffer()));
        if sent.is_err() {
            self.inbox
                .put(WorkerEvent::Died("it does not listen".to_owned()));
        }
    }

    /// Sends an order with files of the reader's.
    pub(crate) fn order_with(&self, order: ModelRequest, files: &[File]) {
        let bytes = Uint8Array::from(protocol::encode(&order).as_slice());
        let message = Array::of1(&bytes);
        for file in files {
            message.push(file);
        }
        if self.worker.post_message(&message).is_err() {
            self.inbox
                .put(WorkerEvent::Died("it does not listen".to_owned()));
        }
    }

    /// Has who waits hear [`WorkerEvent::Confirmed`].
    pub(crate) fn go_on(&self) {
        self.inbox.put(WorkerEvent::Confirmed);
    }

    /// Waits for what comes next.
    pub(crate) async fn hear(&self) -> WorkerEvent {
        poll_fn(|context| match self.inbox.heard.borrow_mut().pop_front() {
            Some(heard) => Poll::Ready(heard),
            None => {
                self.inbox.waker.set(Some(context.waker().clone()));
                Poll::Pending
            }
        })
        .await
    }

    /// Ends it at once, whatever it does; who waits hears [`WorkerEvent::Terminated`].
    pub(crate) fn end(&self) {
        self.worker.terminate();
        self.inbox.put(WorkerEvent::Terminated);
    }
}

impl Drop for ModelWorker {
    fn drop(&mut self) {
        self.worker.set_onmessage(None);
        self.worker.set_onerror(None);
        self.worker.terminate();
    }
}
