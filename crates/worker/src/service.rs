//! The worker's work: takes requests, computes in slices, answers.

use std::collections::VecDeque;

use cells::{CellError, Computation, Inputs, Job, Progress, Run, registry};

use crate::protocol::{Reply, Request};

/// A request under way.
struct Running {
    number: u64,
    job: Box<dyn Job>,
    elapsed_ms: f64,
}

/// The state of the worker.
#[derive(Default)]
pub struct Service {
    queue: VecDeque<(u64, String, Inputs)>,
    running: Option<Running>,
}

impl Service {
    /// Takes a request; the computing happens in [`Service::turn`].
    pub fn accept(&mut self, request: Request) {
        match request {
            Request::Compute { job, cell, inputs } => self.queue.push_back((job, cell, inputs)),
            Request::Cancel { job } => {
                self.queue.retain(|(number, ..)| *number != job);
                self.running.take_if(|running| running.number == job);
            }
        }
    }

    /// Whether there is nothing to do.
    pub fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.running.is_none()
    }

    /// Computes for about `slice_ms` by the clock `now_ms` and says how it stands; `None` when idle.
    pub fn turn(&mut self, slice_ms: f64, now_ms: impl Fn() -> f64) -> Option<Reply> {
        let begun = now_ms();
        if self.running.is_none() {
            let (number, cell, inputs) = self.queue.pop_front()?;
            match begin(&cell, &inputs) {
                Ok(job) => {
                    self.running = Some(Running {
                        number,
                        job,
                        elapsed_ms: 0.0,
                    });
                }
                Err(error) => return Some(finished(number, Err(error), 0.0)),
            }
        }
        let running = self.running.as_mut()?;
        let mut share = 0.0;
        while now_ms() - begun < slice_ms {
            let result = match running.job.advance() {
                Ok(Progress::Working(done)) => {
                    share = done;
                    continue;
                }
                Ok(Progress::Done(result)) => Ok(*result),
                Err(error) => Err(error),
            };
            let elapsed_ms = running.elapsed_ms + now_ms() - begun;
            let number = running.number;
            self.running = None;
            return Some(finished(number, result, elapsed_ms));
        }
        running.elapsed_ms += now_ms() - begun;
        Some(Reply::Working {
            job: running.number,
            share,
        })
    }
}

fn begin(cell: &str, inputs: &Inputs) -> Result<Box<dyn Job>, CellError> {
    let missing = || CellError::Missing(cell.to_owned());
    let spec = registry::find_sliced(cell).ok_or_else(missing)?;
    spec.check(inputs)?;
    match spec.run {
        Run::Sliced(start) => start(inputs),
        Run::Now(_) => Err(missing()),
    }
}

fn finished(job: u64, result: Result<Computation, CellError>, elapsed_ms: f64) -> Reply {
    Reply::Finished {
        job,
        result,
        elapsed_ms,
    }
}
