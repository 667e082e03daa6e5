//! What the page and the worker say to each other about models.

use serde::{Deserialize, Serialize};

use super::packing::Packing;
use crate::bench::Figures;

/// Where the parameters of a model come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Origin {
    /// A named shape, filled by the formula.
    Shape {
        /// Its name, see [`super::shape`].
        name: String,
        /// Seed of the formula.
        seed: u64,
    },
    /// A file of this site's host.
    Url(String),
}

/// From the page. A model is unloaded by ending the worker, which gives back all of its memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// Load a model in place of the one that is there.
    Load {
        /// Its parameters.
        origin: Origin,
        /// The form of its matrices.
        packing: Packing,
    },
    /// Run it once, and say how long that took.
    Measure {
        /// Tokens read before the first new one; a sentence encoder reads as many, a picture has none.
        prompt: usize,
        /// Tokens written one by one.
        new: usize,
    },
    /// Go no further with what is under way.
    Stop,
}

/// What a loaded model is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Loaded {
    /// Whether it continues a text.
    pub writes: bool,
    /// Whether it reads tokens.
    pub reads: bool,
    /// Bytes of the parameters that it keeps.
    pub weight_bytes: u64,
    /// Bytes of the memory of all threads.
    pub memory_bytes: u64,
    /// Bits of the activations where they meet the matrices.
    pub activation_bits: u32,
    /// Milliseconds from the order on.
    pub load_ms: f64,
}

/// To the page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum News {
    /// A file is coming.
    Fetching {
        /// Bytes that are here.
        done: u64,
        /// Bytes of the file, where the host says so.
        total: Option<u64>,
    },
    /// The model is being built: share that is done, 0 to 1.
    Loading(f32),
    /// It is ready.
    Loaded(Loaded),
    /// A run goes on: share that is done, 0 to 1.
    Measuring(f32),
    /// A run ended.
    Measured(Figures),
    /// Nothing is under way any more, as was asked.
    Stopped,
    /// It went wrong, in words for the reader.
    Failed(String),
}
