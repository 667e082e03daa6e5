//! The bodies of messages between the page and a worker for cells. The files for models have
//! messages of their own ([`crate::model::protocol`]), so they are without the code that reads what
//! cells compute.

use cells::{CellError, Computation, Inputs};
use serde::{Deserialize, Serialize};

/// A request of the page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum CellRequest {
    /// Computes a cell.
    Compute {
        /// Name of the cell in the registry.
        cell: String,
        /// Its inputs.
        inputs: Inputs,
    },
    /// Drops the request of the same id, which gets no further answer.
    Cancel,
}

/// The part of a file that has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fetched {
    /// Bytes that are here.
    pub bytes: u64,
    /// Bytes of the whole file, where the host says so.
    pub total: Option<u64>,
}

/// An answer of the worker to [`CellRequest::Compute`]: any number of `Fetching` and `Working`, then
/// one `Finished`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum CellReply {
    /// A file that the computation needs is on its way.
    Fetching(Fetched),
    /// The share of the computation that is done, 0 to 1.
    Working(f32),
    /// The end of a computation.
    Finished {
        /// Result, or why there is none.
        result: Result<Computation, CellError>,
        /// Milliseconds of computing.
        elapsed_ms: f64,
    },
}
