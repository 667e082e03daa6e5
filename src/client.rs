//! The page's end of the worker: long computations go there, and stay here where no worker can be had.

use std::cell::RefCell;
use std::collections::BTreeMap;

use cells::{CellError, Computation, Inputs};
use js_sys::{Array, Uint8Array};
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Event, MessageEvent, Worker};
use worker::protocol::{self, Reply, Request};

/// File of the worker, relative to the site's folder.
const SCRIPT: &str = "worker_start.js";

/// What the page hears about a request.
pub(crate) enum News {
    /// Share that is done, 0 to 1.
    Working(f32),
    /// The result and the milliseconds that it took.
    Finished(Result<Computation, CellError>, f64),
    /// There is no worker in this browser: the page computes by itself.
    NoWorker,
}

type Listener = Box<dyn FnMut(News)>;

#[derive(Default)]
struct Client {
    worker: Option<Worker>,
    /// The worker could not be started, or died: nothing is asked of it again.
    lost: bool,
    last_job: u64,
    listeners: BTreeMap<u64, Listener>,
}

thread_local! {
    static CLIENT: RefCell<Client> = RefCell::new(Client::default());
}

/// Asks the worker to compute a cell; `listener` hears how it goes. Returns the number of the request.
pub(crate) fn compute(cell: &str, inputs: Inputs, mut listener: impl FnMut(News) + 'static) -> u64 {
    let worker = CLIENT.with_borrow_mut(|client| {
        client.last_job += 1;
        if client.worker.is_none() && !client.lost {
            client.worker = start();
            client.lost = client.worker.is_none();
        }
        client
            .worker
            .clone()
            .filter(|_| !client.lost)
            .map(|worker| (worker, client.last_job))
    });
    let Some((worker, job)) = worker else {
        listener(News::NoWorker);
        return 0;
    };
    CLIENT.with_borrow_mut(|client| client.listeners.insert(job, Box::new(listener)));
    send(
        &worker,
        &Request::Compute {
            job,
            cell: cell.to_owned(),
            inputs,
        },
    );
    job
}

/// Drops a request.
pub(crate) fn cancel(job: u64) {
    let worker = CLIENT.with_borrow_mut(|client| {
        let _listener = client.listeners.remove(&job)?;
        client.worker.clone()
    });
    if let Some(worker) = worker {
        send(&worker, &Request::Cancel { job });
    }
}

fn send(worker: &Worker, request: &Request) {
    let bytes = Uint8Array::from(protocol::encode(request).as_slice());
    if worker
        .post_message_with_transfer(&bytes, &Array::of1(&bytes.buffer()))
        .is_err()
    {
        lose();
    }
}

fn start() -> Option<Worker> {
    let worker = Worker::new(&crate::app::site_url(SCRIPT)).ok()?;
    let on_message = Closure::<dyn FnMut(MessageEvent)>::new(|event: MessageEvent| {
        let bytes = Uint8Array::new(&event.data()).to_vec();
        match protocol::decode::<Reply>(&bytes) {
            Some(Reply::Working { job, share }) => tell(job, News::Working(share), false),
            Some(Reply::Finished {
                job,
                result,
                elapsed_ms,
            }) => tell(job, News::Finished(result, elapsed_ms), true),
            None => {}
        }
    });
    let on_error = Closure::<dyn FnMut(Event)>::new(|event: Event| {
        event.prevent_default();
        lose();
    });
    worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
    worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
    on_message.forget();
    on_error.forget();
    Some(worker)
}

/// Hands news to a listener, which may itself ask for more work: it is taken out while it listens.
fn tell(job: u64, news: News, last: bool) {
    let Some(mut listener) = CLIENT.with_borrow_mut(|client| client.listeners.remove(&job)) else {
        return;
    };
    listener(news);
    if !last {
        CLIENT.with_borrow_mut(|client| client.listeners.insert(job, listener));
    }
}

/// Without a worker every waiting request is computed by the page.
fn lose() {
    let waiting = CLIENT.with_borrow_mut(|client| {
        client.lost = true;
        client.worker = None;
        std::mem::take(&mut client.listeners)
    });
    for mut listener in waiting.into_values() {
        listener(News::NoWorker);
    }
}
