//! The bodies of messages between the page and a worker for models. Each answer has the id of its
//! request ([`crate::protocol::Envelope`]).

use engine::kernel::BlockType;
use serde::{Deserialize, Serialize};

use super::packing::Packing;
use crate::bench::Figures;
use crate::build::Build;

/// The numbers of the inner steps of products with each type of [`BlockType::ALL`]: for one token,
/// and for many.
pub type InnerStepNumbers = [[u8; 2]; BlockType::ALL.len()];

/// Source of a model's parameters.
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
    /// Files from the reader's disk, which come with the request.
    Disk,
}

/// A request of the page. A model is unloaded by ending the worker, which gives back all of its
/// memory.
///
/// Each request but `Cancel` gets one last answer: the event that its line names,
/// [`ModelEvent::Failed`], or [`ModelEvent::Stopped`] where it was cancelled or a newer request of
/// its kind took its place. `Load` may end in [`ModelEvent::TooLarge`], too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ModelRequest {
    /// Loads a model in place of the one that is there: [`ModelEvent::Fetching`],
    /// [`ModelEvent::Loading`], [`ModelEvent::Loaded`].
    Load {
        /// Its parameters.
        origin: Origin,
        /// The form of its matrices; `None` leaves them as the file has them.
        packing: Option<Packing>,
    },
    /// Runs the model once and takes the time: [`ModelEvent::Measuring`], [`ModelEvent::Measured`].
    Measure {
        /// Tokens read before the first new one; a sentence encoder reads as many, a picture has
        /// none.
        prompt: usize,
        /// Tokens written one by one.
        new: usize,
    },
    /// Measures how fast this device reads weights of a type, by the type's name:
    /// [`ModelEvent::Bandwidth`].
    MeasureBandwidth(String),
    /// Continues a text: [`ModelEvent::Reading`], [`ModelEvent::Wrote`], [`ModelEvent::Written`].
    Write(WritingRequest),
    /// Compares the vectors of two sentences: [`ModelEvent::Compared`].
    Compare {
        /// The first.
        first: String,
        /// The second.
        second: String,
    },
    /// Predicts the tokens of the gaps in a text, each written `[MASK]`: [`ModelEvent::Filled`].
    Fill(String),
    /// Gives the classes of the model names, one a line: [`ModelEvent::Named`].
    NameClasses(String),
    /// Classifies a picture: [`ModelEvent::Seen`].
    See(Picture),
    /// Gives a row of attention weights, of the text or of the picture; while a text is written,
    /// too: [`ModelEvent::Attended`].
    Attend(AttentionPosition),
    /// Computes a cell with the model: any number of [`ModelEvent::Computed`]. It is a
    /// [`crate::cell_protocol::CellRequest`] as [`crate::protocol::pack`] writes it, so that the file
    /// that only measures has no code that reads it.
    Compute(Vec<u8>),
    /// Ends the request of the same id, if it is still under way.
    Cancel,
}

/// A text to continue, and the settings of the sampling.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WritingRequest {
    /// The text.
    pub prompt: String,
    /// 0 takes the most likely token, 1 draws from the model's own distribution.
    pub temperature: f32,
    /// Number of the most likely tokens that are kept.
    pub top_k: Option<usize>,
    /// Probability of the most likely tokens that are kept.
    pub top_p: Option<f32>,
    /// 1 is none; above it, tokens that are in the text become less probable.
    pub repetition_penalty: f32,
    /// Seed of the draws.
    pub seed: u64,
    /// The most new tokens.
    pub new: usize,
    /// Keys and values are kept with 16 bits a number, in half the memory, and not with 32.
    pub half_cache: bool,
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

/// The similarity of two sentences.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// The texts of the tokens of both.
    pub tokens: [Vec<String>; 2],
    /// The cosine of the angle between their vectors, -1 to 1.
    pub similarity: f32,
    /// Milliseconds for both.
    pub elapsed_ms: f64,
}

/// Predictions for the gaps of a text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Filled {
    /// The texts of its tokens.
    pub tokens: Vec<String>,
    /// For each gap its token, from 0, and the most likely tokens for it, largest first; none is
    /// taken.
    pub gaps: Vec<(usize, Vec<Candidate>)>,
    /// Milliseconds that it took.
    pub elapsed_ms: f64,
}

/// A picture as the model reads it, and its classes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// The picture as it was scaled and cropped for the model.
    pub picture: Picture,
    /// Side of a patch in its pixels.
    pub patch: usize,
    /// Tokens before those of the patches: the class token, where there is one.
    pub before: usize,
    /// The most likely classes by number and name, largest first; none where the model has no
    /// classes.
    pub classes: Vec<(usize, Candidate)>,
    /// Milliseconds from the pixels to the classes.
    pub elapsed_ms: f64,
}

/// A token of the text, or of the picture, in a layer and a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttentionPosition {
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
    /// Its probability under the model, before the settings of the sampling.
    pub probability: f32,
    /// It is the one that was taken.
    pub taken: bool,
}

/// Place of the bytes of an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Storage {
    /// Stored on the device.
    Stored {
        /// Bytes that were there before, and were not fetched.
        before: u64,
    },
    /// In memory only, for this reason in the browser's words.
    Refused(String),
}

impl Storage {
    /// The place of this file and another one together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Stored { before: a }, Self::Stored { before: b }) => {
                Self::Stored { before: a + b }
            }
            (refused @ Self::Refused(_), _) | (_, refused) => refused,
        }
    }
}

/// Properties of a loaded model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ModelInfo {
    /// The kind of model: `GPT-2`, `Llama` …
    pub kind: String,
    /// The format of its file; `None` for random weights.
    pub format: Option<String>,
    /// Layers and heads in which attention can be seen; 0 where it cannot.
    pub layers: usize,
    /// Heads of a layer; see `layers`.
    pub heads: usize,
    /// The most tokens that it reads; 0 for pictures.
    pub context: usize,
    /// A vocabulary came with it; without one its text is the numbers of tokens.
    pub has_vocabulary: bool,
    /// It continues a text.
    pub writes: bool,
    /// It reads tokens.
    pub reads: bool,
    /// It fills the gaps of a text.
    pub fills: bool,
    /// It is a GPT-2, each of whose numbers can be written out.
    pub is_gpt2: bool,
    /// Classes of pictures; 0 where it has none.
    pub classes: usize,
    /// Names of the classes came with it.
    pub has_labels: bool,
    /// Bytes of its parameters in memory.
    pub weight_bytes: u64,
    /// Bytes of the memory of all threads.
    pub memory_bytes: u64,
    /// Bits of the activations where they meet the matrices.
    pub activation_bits: u32,
    /// Types in the file that are kept in another one because products with them are slow, such as
    /// `Q6_K as Q6`; empty where none is.
    pub repacked: Vec<String>,
    /// Milliseconds from the request on.
    pub load_ms: f64,
    /// Bytes of the weights' file; 0 where there is none.
    pub file_bytes: u64,
    /// Place of the file's bytes, if it came from an address.
    pub storage: Option<Storage>,
}

/// A message of the worker: an answer to a request, or `Ready`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ModelEvent {
    /// The worker has started; the only event that answers no request
    /// ([`crate::protocol::UNASKED`]).
    Ready {
        /// The build that runs.
        build: Build,
        /// Number of threads that share the work.
        threads: usize,
        /// The inner steps of its products with quantized weights
        /// ([`engine::kernel::inner_steps`]), by their numbers.
        inner_steps: InnerStepNumbers,
    },
    /// A file is on its way.
    Fetching {
        /// Bytes that are here.
        done: u64,
        /// Bytes of the file, where the host says so.
        total: Option<u64>,
        /// Which of the files of the weights it is, from 1 on, and how many there are.
        part: (usize, usize),
    },
    /// The model is being built: share that is done, 0 to 1.
    Loading(f32),
    /// The model is ready.
    Loaded(ModelInfo),
    /// Tokens of the prompt were read.
    Reading {
        /// Texts of the prompt's tokens in the first such event, later empty.
        tokens: Vec<String>,
        /// Number of tokens that are read by now.
        done: usize,
        /// Milliseconds since the event before.
        elapsed_ms: f64,
    },
    /// A token was written.
    Wrote {
        /// Its text by itself.
        token: String,
        /// The whole characters that it adds to the text.
        text: String,
        /// The most likely tokens that it was chosen from, largest first.
        candidates: Vec<Candidate>,
        /// Bytes of the keys and values of the tokens that were read for it.
        cache_bytes: u64,
        /// Milliseconds that it took.
        elapsed_ms: f64,
    },
    /// The text has ended, for this reason.
    Written(String),
    /// Two sentences are compared.
    Compared(Compared),
    /// Gaps are filled.
    Filled(Filled),
    /// The classes have their names.
    Named,
    /// A picture is classified.
    Seen(Seen),
    /// A row of attention weights.
    Attended {
        /// Token, layer and head that were asked for.
        place: AttentionPosition,
        /// The weight of each token up to it, of a picture of all of its tokens; the sum is 1.
        weights: Vec<f32>,
    },
    /// An answer to a request for a cell: a [`crate::cell_protocol::CellReply`] as
    /// [`crate::protocol::pack`] writes it.
    Computed(Vec<u8>),
    /// Bytes of weights that this device reads in a second.
    Bandwidth(f64),
    /// A run is under way: share that is done, 0 to 1.
    Measuring(f32),
    /// A run has ended.
    Measured(Figures),
    /// The request was cancelled, or a newer one took its place.
    Stopped,
    /// The weights are too large for the memory of this build.
    TooLarge {
        /// Bytes of the weights, or of the part of them that is too large.
        bytes: u64,
        /// In words for the reader.
        why: String,
    },
    /// The request failed, in words for the reader.
    Failed(String),
}
