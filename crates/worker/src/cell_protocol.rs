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

/// A file that a request lacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lacking {
    /// Its name below `models/`.
    pub file: String,
    /// The part of it that has arrived.
    pub fetched: Fetched,
}

/// An answer of the worker to [`CellRequest::Compute`]: any number of `Fetching`, `Working` and
/// `Partial`, then one `Finished`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum CellReply {
    /// The files that the computation still lacks, in the order in which they are fetched.
    Fetching(Vec<Lacking>),
    /// The share of the computation that is done, 0 to 1.
    Working(f32),
    /// What can be computed with the files that are here: some of the tensors of the result. The
    /// request goes on.
    Partial(Computation),
    /// The end of a computation.
    Finished {
        /// Result, or why there is none.
        result: Result<Computation, CellError>,
        /// Milliseconds of computing.
        elapsed_ms: f64,
    },
}
