//! The page's end of the worker for cells, which has a file for each desk: long computations go there, and those that need a model.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use cells::{CellError, CellSpec, Computation, Desk, Inputs, Run};
use js_sys::{Array, Promise, Uint8Array};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
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
}

type Listener = Box<dyn FnMut(News)>;

#[derive(Default)]
struct Client {
    workers: BTreeMap<Desk, Worker>,
    last_job: u64,
    listeners: BTreeMap<u64, (Desk, Listener)>,
}

thread_local! {
    static CLIENT: RefCell<Client> = RefCell::new(Client::default());
}

/// Asks the worker of a desk to compute a cell; `listener` hears how it goes. Returns the number of the request.
pub(crate) fn compute(
    desk: Desk,
    cell: &str,
    inputs: Inputs,
    listener: impl FnMut(News) + 'static,
) -> u64 {
    let (job, worker) = CLIENT.with_borrow_mut(|client| {
        client.last_job += 1;
        let job = client.last_job;
        client.listeners.insert(job, (desk, Box::new(listener)));
        if !client.workers.contains_key(&desk)
            && let Some(worker) = start(desk)
        {
            client.workers.insert(desk, worker);
        }
        (job, client.workers.get(&desk).cloned())
    });
    let cell = cell.to_owned();
    match worker {
        Some(worker) => send(desk, &worker, &Request::Compute { job, cell, inputs }),
        None => lose(desk),
    }
    job
}

/// What a cell gives, wherever it computes.
///
/// # Errors
/// What the computation meets.
pub(crate) async fn computed(
    spec: &'static CellSpec,
    inputs: Inputs,
) -> Result<Computation, CellError> {
    let Run::Sliced(desk) = spec.run else {
        return spec.compute(&inputs);
    };
    let found = Rc::new(RefCell::new(None));
    let done = Promise::new(&mut |resolve, _| {
        let found = Rc::clone(&found);
        compute(desk, spec.name, inputs.clone(), move |news| {
            if let News::Finished(result, _) = news {
                found.replace(Some(result));
                let _ = resolve.call0(&JsValue::NULL);
            }
        });
    });
    let _ = JsFuture::from(done).await;
    let found = found.take();
    found.unwrap_or_else(|| Err(CellError::Missing(spec.name.to_owned())))
}

/// Drops a request.
pub(crate) fn cancel(job: u64) {
    let waiting = CLIENT.with_borrow_mut(|client| {
        let (desk, _) = client.listeners.remove(&job)?;
        Some((desk, client.workers.get(&desk)?.clone()))
    });
    if let Some((desk, worker)) = waiting {
        send(desk, &worker, &Request::Cancel { job });
    }
}

fn send(desk: Desk, worker: &Worker, request: &Request) {
    let bytes = Uint8Array::from(protocol::encode(request).as_slice());
    if worker
        .post_message_with_transfer(&bytes, &Array::of1(&bytes.buffer()))
        .is_err()
    {
        lose(desk);
    }
}

fn start(desk: Desk) -> Option<Worker> {
    let script = format!("{SCRIPT}?file={}", desk.file());
    let worker = Worker::new(&crate::browser::address::site_url(&script)).ok()?;
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
    let on_error = Closure::<dyn FnMut(Event)>::new(move |event: Event| {
        event.prevent_default();
        lose(desk);
    });
    worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
    worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
    on_message.forget();
    on_error.forget();
    Some(worker)
}

/// Hands news to a listener, which may itself ask for more work: it is taken out while it listens.
fn tell(job: u64, news: News, last: bool) {
    let taken = CLIENT.with_borrow_mut(|client| client.listeners.remove(&job));
    let Some((desk, mut listener)) = taken else {
        return;
    };
    listener(news);
    if !last {
        CLIENT.with_borrow_mut(|client| client.listeners.insert(job, (desk, listener)));
    }
}

/// The worker of a desk could not be started, or died: who waits for it is told, and the next request starts another.
fn lose(desk: Desk) {
    let waiting = CLIENT.with_borrow_mut(|client| {
        if let Some(worker) = client.workers.remove(&desk) {
            worker.terminate();
        }
        let all = std::mem::take(&mut client.listeners);
        let (lost, kept) = all.into_iter().partition(|(_, (of, _))| *of == desk);
        client.listeners = kept;
        let lost: BTreeMap<u64, (Desk, Listener)> = lost;
        lost
    });
    for (_, mut listener) in waiting.into_values() {
        let error = CellError::Mismatch(
            "What computes this could not be started, or ended. Change something in this cell, or reload the page, to try again."
                .to_owned(),
        );
        listener(News::Finished(Err(error), 0.0));
    }
}
