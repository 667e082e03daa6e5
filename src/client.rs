//! The page's requests to the workers for cells, one worker for each kind: long computations, and
//! those that need a model.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use cells::{CellError, CellSpec, Computation, Inputs, Run, WorkerKind};
use worker::build::CELLS;
use worker::cell_protocol::{CellReply, CellRequest};
use worker::protocol::Envelope;

use crate::browser::clock;
use crate::browser::port::{Port, PortEvent};

/// Is called with each answer to a request.
pub(crate) type Listener = Box<dyn FnMut(CellReply)>;

/// Computes cells in place of the workers for cells: the worker that holds a model which the reader
/// has opened.
pub(crate) trait Computes {
    /// Asks for a cell; returns the id of the request, 0 where it was answered at once.
    fn compute(&self, cell: &str, inputs: Inputs, listener: Listener) -> u64;

    /// Drops a request; its listener is not called any more.
    fn cancel(&self, id: u64);
}

#[derive(Default)]
struct Client {
    workers: BTreeMap<WorkerKind, Rc<Port>>,
    last_id: u64,
    listeners: BTreeMap<u64, (WorkerKind, Listener)>,
}

thread_local! {
    static CLIENT: RefCell<Client> = RefCell::new(Client::default());
}

/// Asks the worker of a kind to compute a cell; `listener` is called with each answer. Returns the
/// id of the request.
pub(crate) fn compute(
    kind: WorkerKind,
    cell: &str,
    inputs: Inputs,
    listener: impl FnMut(CellReply) + 'static,
) -> u64 {
    let id = CLIENT.with_borrow_mut(|client| {
        client.last_id += 1;
        let id = client.last_id;
        client.listeners.insert(id, (kind, Box::new(listener)));
        id
    });
    let cell = cell.to_owned();
    let request = CellRequest::Compute { cell, inputs };
    if let Err(why) = worker(kind).and_then(|worker| worker.send(id, request, &[])) {
        fail_all(kind, &why);
    }
    id
}

/// The result of a cell, on the page or from its worker.
///
/// # Errors
/// The error of the computation, or of a worker that failed.
pub(crate) async fn computed(
    spec: &'static CellSpec,
    inputs: Inputs,
) -> Result<Computation, CellError> {
    let Run::Sliced(kind) = spec.run else {
        return spec.compute(&inputs);
    };
    timed(kind, spec.name, inputs).await.map(|(found, _)| found)
}

/// The result of a cell that computes in a worker, with the milliseconds that it took there.
///
/// # Errors
/// As [`computed`].
pub(crate) async fn timed(
    kind: WorkerKind,
    name: &'static str,
    inputs: Inputs,
) -> Result<(Computation, f64), CellError> {
    let found = Rc::new(RefCell::new(None));
    clock::until_called(|done| {
        let found = Rc::clone(&found);
        compute(kind, name, inputs, move |reply| {
            if let CellReply::Finished { result, elapsed_ms } = reply {
                found.replace(Some(result.map(|computation| (computation, elapsed_ms))));
                done();
            }
        });
    })
    .await;
    let found = found.take();
    found.unwrap_or_else(|| Err(CellError::Missing(name.to_owned())))
}

/// Drops a request; its listener is not called any more.
pub(crate) fn cancel(id: u64) {
    let asked = CLIENT.with_borrow_mut(|client| {
        let (kind, _) = client.listeners.remove(&id)?;
        Some((kind, Rc::clone(client.workers.get(&kind)?)))
    });
    if let Some((kind, worker)) = asked
        && let Err(why) = worker.send(id, CellRequest::Cancel, &[])
    {
        fail_all(kind, &why);
    }
}

/// The worker of a kind, started when it is first asked for.
fn worker(kind: WorkerKind) -> Result<Rc<Port>, String> {
    if let Some(worker) = CLIENT.with_borrow(|client| client.workers.get(&kind).cloned()) {
        return Ok(worker);
    }
    let worker = Port::start(CELLS, kind.options(), move |event| match event {
        PortEvent::Message(Envelope { id, body }) => deliver(id, body),
        PortEvent::Failed(why) => fail_all(kind, &why),
    })?;
    let worker = Rc::new(worker);
    CLIENT.with_borrow_mut(|client| client.workers.insert(kind, Rc::clone(&worker)));
    Ok(worker)
}

/// Calls a request's listener, which may itself ask for more work: it is taken out meanwhile. An
/// answer without a listener is that of a request that was dropped.
fn deliver(id: u64, reply: CellReply) {
    let taken = CLIENT.with_borrow_mut(|client| client.listeners.remove(&id));
    let Some((kind, mut listener)) = taken else {
        return;
    };
    let is_last = matches!(reply, CellReply::Finished { .. });
    listener(reply);
    if !is_last {
        CLIENT.with_borrow_mut(|client| client.listeners.insert(id, (kind, listener)));
    }
}

/// Ends the worker of a kind and answers all of its requests with the reason. The next request
/// starts another one.
fn fail_all(kind: WorkerKind, why: &str) {
    let (worker, waiting) = CLIENT.with_borrow_mut(|client| {
        let all = std::mem::take(&mut client.listeners);
        let (waiting, rest): (BTreeMap<_, _>, _) =
            all.into_iter().partition(|(_, (of, _))| *of == kind);
        client.listeners = rest;
        (client.workers.remove(&kind), waiting)
    });
    drop(worker);
    for (_, mut listener) in waiting.into_values() {
        let why = format!(
            "What computes this cell could not be started, or it stopped: {}. Try again; if that does not help, reload the page.",
            why.trim_end_matches('.')
        );
        listener(CellReply::Finished {
            result: Err(CellError::Worker(why)),
            elapsed_ms: 0.0,
        });
    }
}
