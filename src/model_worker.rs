//! A worker of its own for a full-size model: requests go in, events come out one by one. Ending it
//! gives all of its memory back.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use web_sys::File;
use worker::build::{Build, Purpose};
use worker::model::protocol::{InnerStepNumbers, ModelEvent, ModelRequest};
use worker::protocol::Envelope;

use crate::browser::port::{Port, PortEvent};

/// An event for a page that works with a model.
pub(crate) enum WorkerEvent {
    /// The worker has started.
    Ready {
        /// The build that runs.
        build: Build,
        /// Number of threads that share its work.
        threads: usize,
        /// The inner steps of its products, as [`ModelEvent::Ready`] has them.
        inner_steps: InnerStepNumbers,
    },
    /// An answer to the request of this id.
    Model(u64, ModelEvent),
    /// The reader has agreed to the download.
    Confirmed,
    /// The page has ended the worker.
    Terminated,
    /// The worker failed; why, in words.
    Failed(String),
}

/// Events that were not taken yet, and the waker of the future that waits for one.
#[derive(Default)]
struct Queue {
    events: RefCell<VecDeque<WorkerEvent>>,
    waker: Cell<Option<Waker>>,
}

impl Queue {
    fn push(&self, event: WorkerEvent) {
        self.events.borrow_mut().push_back(event);
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

/// A running worker; it ends when this is dropped.
pub(crate) struct ModelWorker {
    /// `None` once the page has ended it.
    port: RefCell<Option<Port>>,
    last_id: Cell<u64>,
    queue: Rc<Queue>,
}

impl ModelWorker {
    /// Starts a build with this number of threads.
    ///
    /// # Errors
    /// When the site lacks the build, or the browser has no workers.
    pub(crate) fn start(purpose: Purpose, build: Build, threads: usize) -> Result<Self, String> {
        let queue = Rc::new(Queue::default());
        let events = Rc::clone(&queue);
        let port = Port::start(
            &purpose.file(build),
            &format!("threads={threads}"),
            move |event| {
                events.push(match event {
                    PortEvent::Message(Envelope {
                        body:
                            ModelEvent::Ready {
                                build,
                                threads,
                                inner_steps,
                            },
                        ..
                    }) => WorkerEvent::Ready {
                        build,
                        threads,
                        inner_steps,
                    },
                    PortEvent::Message(Envelope { id, body }) => WorkerEvent::Model(id, body),
                    PortEvent::Failed(why) => WorkerEvent::Failed(why),
                });
            },
        )?;
        Ok(Self {
            port: RefCell::new(Some(port)),
            last_id: Cell::new(0),
            queue,
        })
    }

    /// Sends a request; returns its id, which its answers carry.
    pub(crate) fn send(&self, request: ModelRequest) -> u64 {
        self.send_with(request, &[])
    }

    /// Sends a request with files of the reader's; returns its id.
    pub(crate) fn send_with(&self, request: ModelRequest, files: &[File]) -> u64 {
        let id = self.last_id.get() + 1;
        self.last_id.set(id);
        self.post(id, request, files);
        id
    }

    /// Ends the request of an id, if it is still under way.
    pub(crate) fn cancel(&self, id: u64) {
        self.post(id, ModelRequest::Cancel, &[]);
    }

    fn post(&self, id: u64, request: ModelRequest, files: &[File]) {
        if let Some(port) = self.port.borrow().as_ref()
            && let Err(why) = port.send(id, request, files)
        {
            self.queue.push(WorkerEvent::Failed(why));
        }
    }

    /// Wakes the waiting future with [`WorkerEvent::Confirmed`].
    pub(crate) fn confirm(&self) {
        self.queue.push(WorkerEvent::Confirmed);
    }

    /// Waits for the next event.
    pub(crate) async fn next_event(&self) -> WorkerEvent {
        poll_fn(|context| match self.queue.events.borrow_mut().pop_front() {
            Some(event) => Poll::Ready(event),
            None => {
                self.queue.waker.set(Some(context.waker().clone()));
                Poll::Pending
            }
        })
        .await
    }

    /// Ends the worker at once; the waiting future wakes with [`WorkerEvent::Terminated`].
    pub(crate) fn terminate(&self) {
        self.port.take();
        self.queue.push(WorkerEvent::Terminated);
    }
}
