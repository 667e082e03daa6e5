//! Reasons why a model cannot be loaded or run, in words for the reader.

use cells::CellError;
use engine::EngineError;
use engine::open::OpenError;

use super::protocol::AttentionPosition;

/// A reason why a model cannot be loaded or run.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// There is no shape of this name.
    #[error(
        "There is no shape called {found}. The shapes are {known}; a file is named by its address, which ends in .safetensors or .gguf."
    )]
    UnknownShape {
        /// The name that came.
        found: String,
        /// The names that there are.
        known: String,
    },
    /// The bytes are of no format that is read here.
    #[error(
        "{file} is no model: it begins with {found:?}, and is neither GGUF, safetensors nor llama2.c."
    )]
    NotAModel {
        /// The file's name.
        file: String,
        /// Its beginning, as text.
        found: String,
    },
    /// A page where a file was expected.
    #[error(
        "{name} is a web page, and not the file that it may describe. On Hugging Face the address of a file has /resolve/ where its page has /blob/."
    )]
    WebPage {
        /// Its address, or the file's name.
        name: String,
    },
    /// A file that is needed beside the weights is not there.
    #[error(
        "{file} needs {needed} beside it: give both files at once, or put them in one folder of the host."
    )]
    Missing {
        /// The weights' name.
        file: String,
        /// The missing file.
        needed: String,
    },
    /// Nothing to open.
    #[error("There is no file of weights among them. Weights end in .gguf, .safetensors or .bin.")]
    NoWeights,
    /// Weights of several models.
    #[error(
        "There are {count} files of weights, which are not the parts of one model. Open one model at a time."
    )]
    SeveralModels {
        /// Number of the files.
        count: usize,
    },
    /// Memory does not hold it.
    #[error(
        "A model of {bytes} bytes is too large: WebAssembly has {memory_gb} GB of memory for everything."
    )]
    TooLarge {
        /// Its size.
        bytes: u64,
        /// The most memory that this build can have.
        memory_gb: u64,
    },
    /// More tokens than the model reads.
    #[error("The model reads at most {context} tokens, and {asked} were asked for.")]
    TooLong {
        /// The most tokens.
        context: usize,
        /// Prompt and new tokens.
        asked: usize,
    },
    /// Another kind of model would be needed.
    #[error("A {kind} model does not do this.")]
    OtherKind {
        /// The kind that is loaded.
        kind: String,
    },
    /// A text without a gap.
    #[error("Write [MASK] where a word is to be filled in.")]
    NoGap,
    /// No text.
    #[error("A sentence has to have a word.")]
    Empty,
    /// Attention before a picture was chosen.
    #[error("Choose a picture first.")]
    NoPicture,
    /// Attention of a token, layer or head that is not there.
    #[error(
        "There are no attention weights of token {} in layer {}, head {}.",
        place.token + 1, place.layer + 1, place.head + 1
    )]
    UnknownPosition {
        /// Token, layer and head.
        place: AttentionPosition,
    },
    /// The attention weights of a picture that could not be had.
    #[error("{0}")]
    Cell(CellError),
    /// A list of names for another number of classes.
    #[error("The list has {found} names, and the model {classes} classes.")]
    Names {
        /// Names that came.
        found: usize,
        /// Classes of the model.
        classes: usize,
    },
    /// Nothing has been loaded.
    #[error("No model is loaded.")]
    None,
    /// The files are damaged, or say something that is not known here.
    #[error("{0}")]
    Open(OpenError),
    /// The model does not fit its parameters, or refuses its input.
    #[error("{0}")]
    Engine(#[from] EngineError),
}

impl From<OpenError> for ModelError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Format { file, found } => Self::NotAModel { file, found },
            OpenError::Missing { file, needed } => Self::Missing { file, needed },
            other => Self::Open(other),
        }
    }
}
