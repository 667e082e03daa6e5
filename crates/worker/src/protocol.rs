//! What the page and the worker say to each other, as postcard bytes.

use crate::build::Build;
use crate::model::protocol::{News, Order};
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
    /// About the worker's model.
    Model(Order),
}

/// From the worker to the page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// The worker has started and listens.
    Ready {
        /// Which of its files this is.
        build: Build,
        /// How many threads share the work.
        threads: usize,
    },
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
    /// About the worker's model.
    Model(News),
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
