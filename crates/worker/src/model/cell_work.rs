//! A cell that is computed with the loaded model, one slice at a time.

use cells::jobs::{self, JobCache};
use cells::{CellError, Job, Progress};

use super::protocol::ModelEvent;
use crate::cell_protocol::CellReply;
use crate::protocol::pack;

/// The job of a cell, or why it could not be started.
pub(super) struct CellWork {
    /// The name of the cell.
    cell: String,
    job: Result<Box<dyn Job>, CellError>,
    /// Milliseconds of computing so far.
    elapsed_ms: f64,
}

impl CellWork {
    /// The work of a cell whose start took so long.
    pub(super) fn new(cell: &str, job: Result<Box<dyn Job>, CellError>, elapsed_ms: f64) -> Self {
        Self {
            cell: cell.to_owned(),
            job,
            elapsed_ms,
        }
    }

    /// Keeps the job for the next request for this cell, where it may serve that one too.
    pub(super) fn keep(self, kept: &mut JobCache) {
        if let (Some(name), Ok(job)) = (jobs::name_of(&self.cell), self.job) {
            kept.keep(name, job);
        }
    }

    /// Does one slice, by the clock `now_ms`; returns its answer, and whether it is the last.
    pub(super) fn advance(&mut self, now_ms: impl Fn() -> f64) -> (ModelEvent, bool) {
        let begun = now_ms();
        let progress = match &mut self.job {
            Ok(job) => job.advance(),
            Err(error) => Err(error.clone()),
        };
        self.elapsed_ms += now_ms() - begun;
        let result = match progress {
            Ok(Progress::Working(share)) => return packed(&CellReply::Working(share), false),
            Ok(Progress::Done(computation)) => Ok(*computation),
            Err(error) => Err(error),
        };
        let elapsed_ms = self.elapsed_ms;
        packed(&CellReply::Finished { result, elapsed_ms }, true)
    }
}

/// An answer as an event; one that cannot be written is the last.
fn packed(reply: &CellReply, is_last: bool) -> (ModelEvent, bool) {
    match pack(reply) {
        Ok(bytes) => (ModelEvent::Computed(bytes), is_last),
        Err(error) => (ModelEvent::Failed(error.to_string()), true),
    }
}
