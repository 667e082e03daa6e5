//! What the page and the worker say to each other about models.

use serde::{Deserialize, Serialize};

use super::packing::Packing;
use crate::bench::Figures;
use crate::build::Build;

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
    /// A file of a host, with what lies beside it.
    Url(String),
    /// Files from the reader's disk, which come with the order.
    Disk,
}

/// From the page. A model is unloaded by ending the worker, which gives back all of its memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Order {
    /// Load a model in place of the one that is there.
    Load {
        /// Its parameters.
        origin: Origin,
        /// The form of its matrices; `None` leaves them as the file has them.
        packing: Option<Packing>,
    },
    /// Run it once, and say how long that took.
    Measure {
        /// Tokens read before the first new one; a sentence encoder reads as many, a picture has none.
        prompt: usize,
        /// Tokens written one by one.
        new: usize,
    },
    /// Say how fast this device takes in weights.
    Pace,
    /// Continue a text.
    Write(Writing),
    /// Say how alike two sentences are.
    Compare {
        /// The first.
        first: String,
        /// The second.
        second: String,
    },
    /// Say which tokens fill the gaps of a text, each written `[MASK]`.
    Fill(String),
    /// Say what is on a picture.
    See(Picture),
    /// Say how much a token of the text takes from each token up to it, or a patch of the picture from all of it.
    Attend(Place),
    /// Go no further with what is under way.
    Stop,
}

/// How a text is continued.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Writing {
    /// The text.
    pub prompt: String,
    /// 0 takes the likeliest token, 1 draws from the model's own distribution.
    pub temperature: f32,
    /// Only so many of the likeliest tokens.
    pub top_k: Option<usize>,
    /// Only the likeliest tokens that together have this probability.
    pub top_p: Option<f32>,
    /// 1 is none; above it, tokens that are in the text become less probable.
    pub repetition_penalty: f32,
    /// Where the draws start.
    pub seed: u64,
    /// The most new tokens.
    pub new: usize,
}

/// A picture, as it was decoded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Picture {
    /// Pixels from left to right.
    pub width: usize,
    /// Pixels from top to bottom.
    pub height: usize,
    /// Red, green and blue of each pixel, row by row.
    pub rgb: Vec<u8>,
}

/// How alike two sentences are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// The texts of the tokens of both.
    pub tokens: [Vec<String>; 2],
    /// The cosine of the angle between their vectors, -1 to 1.
    pub similarity: f32,
    /// Milliseconds for both.
    pub elapsed_ms: f64,
}

/// What fills the gaps of a text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Filled {
    /// The texts of its tokens.
    pub tokens: Vec<String>,
    /// For each gap its token, from 0, and the likeliest tokens for it, largest first; none is taken.
    pub gaps: Vec<(usize, Vec<Candidate>)>,
    /// Milliseconds that it took.
    pub elapsed_ms: f64,
}

/// What a model makes of a picture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// The picture as it was scaled and cropped for the model.
    pub picture: Picture,
    /// Side of a patch in its pixels.
    pub patch: usize,
    /// Tokens before those of the patches: the class token, where there is one.
    pub before: usize,
    /// The likeliest classes by number and name, largest first; none where the model has no classes.
    pub classes: Vec<(usize, Candidate)>,
    /// Milliseconds from the pixels to the classes.
    pub elapsed_ms: f64,
}

/// A token of the text, or of the picture, in a layer and a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The token, from 0.
    pub token: usize,
    /// The layer, from 0.
    pub layer: usize,
    /// The head, from 0.
    pub head: usize,
}

/// A token that might come next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// Its text.
    pub text: String,
    /// What the model gives it, before the settings of the sampling.
    pub probability: f32,
    /// Whether it is the one that was taken.
    pub taken: bool,
}

/// Where the bytes of an address are now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Storage {
    /// Kept on the device.
    Kept {
        /// Bytes that were there before, and were not fetched.
        before: u64,
    },
    /// In memory only; why, in the browser's words.
    Refused(String),
}

/// What a loaded model is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Loaded {
    /// The kind of model: `GPT-2`, `Llama` …
    pub kind: String,
    /// The format of its file; `None` for random weights.
    pub format: Option<String>,
    /// Layers and heads in which attention can be seen; 0 where it cannot.
    pub layers: usize,
    /// See `layers`.
    pub heads: usize,
    /// The most tokens that it reads; 0 for pictures.
    pub context: usize,
    /// Whether a vocabulary came with it; without one its text is the numbers of tokens.
    pub has_vocabulary: bool,
    /// Whether it continues a text.
    pub writes: bool,
    /// Whether it reads tokens.
    pub reads: bool,
    /// Whether it fills the gaps of a text.
    pub fills: bool,
    /// Bytes of the parameters that it keeps.
    pub weight_bytes: u64,
    /// Bytes of the memory of all threads.
    pub memory_bytes: u64,
    /// Bits of the activations where they meet the matrices.
    pub activation_bits: u32,
    /// Types in the file, by name, that are kept as Q8_0 because products with them are slow; empty where none is.
    pub repacked: Vec<String>,
    /// Milliseconds from the order on.
    pub load_ms: f64,
    /// Bytes of the weights' file; 0 where there is none.
    pub file_bytes: u64,
    /// Where the file is kept, if it came from an address.
    pub storage: Option<Storage>,
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
    /// How the model stands.
    News(News),
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
    /// So many tokens of the prompt are read. The first time with the text of each.
    Reading {
        /// Texts of the prompt's tokens, the first time.
        tokens: Vec<String>,
        /// How many are read.
        done: usize,
        /// Milliseconds since the last news of it.
        elapsed_ms: f64,
    },
    /// A token was written.
    Wrote {
        /// Its text by itself.
        token: String,
        /// What is new of the whole text: whole characters.
        text: String,
        /// The likeliest tokens that it was chosen from, largest first.
        candidates: Vec<Candidate>,
        /// Milliseconds that it took.
        elapsed_ms: f64,
    },
    /// The text has ended; why.
    Written(String),
    /// Two sentences are compared.
    Compared(Compared),
    /// Gaps are filled.
    Filled(Filled),
    /// A picture was seen.
    Seen(Seen),
    /// The attention that was asked for.
    Attended {
        /// Whose.
        place: Place,
        /// What it takes from each token up to it, of a picture from all of its tokens; the sum is 1.
        weights: Vec<f32>,
    },
    /// So many bytes of weights in a second.
    Pace(f64),
    /// A run goes on: share that is done, 0 to 1.
    Measuring(f32),
    /// A run ended.
    Measured(Figures),
    /// Nothing is under way any more, as was asked.
    Stopped,
    /// It went wrong, in words for the reader.
    Failed(String),
}
