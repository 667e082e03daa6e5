//! What the page and the worker for cells say to each other, and how messages are written: as postcard bytes. The files for models have
//! messages of their own ([`crate::model::protocol`]), so that they are without the code that reads what cells compute.

use cells::{CellError, Computation, Inputs};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// From the page to the worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// Compute a cell. The answer carries the same number.
    Compute {
        /// Number of the request, chosen by the page.
        job: u64,
        /// Name of the cell in the registry.
        cell: String,
        /// Its inputs.
        inputs: Inputs,
    },
    /// Drop a request; nothing more is said about it.
    Cancel {
        /// Number of the request.
        job: u64,
    },
}

/// From the worker to the page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// A computation goes on.
    Working {
        /// Number of the request.
        job: u64,
        /// Share that is done, 0 to 1.
        share: f32,
    },
    /// A computation ended.
    Finished {
        /// Number of the request.
        job: u64,
        /// Result, or why there is none.
        result: Result<Computation, CellError>,
        /// Milliseconds of computing.
        elapsed_ms: f64,
    },
}

/// Bytes of a message.
pub fn encode<T: Serialize>(message: &T) -> Vec<u8> {
    // The message types hold nothing that postcard cannot write; an empty message is refused by `decode`.
    postcard::to_allocvec(message).unwrap_or_default()
}

/// A message from bytes; `None` for anything that [`encode`] did not write.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    postcard::from_bytes(bytes).ok()
}
