//! Why a model cannot be loaded or run, in words for the reader.

use engine::EngineError;
use engine::format::error::FormatError;

/// What can go wrong with a model.
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
    #[error("This file is no model: it is neither safetensors nor GGUF.")]
    NotAModel,
    /// A safetensors file does not say how many heads its model has.
    #[error("A safetensors file needs its config.json in the same folder: {0}")]
    Config(String),
    /// The tensors have names of no model that is known here.
    #[error(
        "The tensors of this file belong to no model that runs here: GPT-2, Llama, BERT and ViT do."
    )]
    UnknownFamily,
    /// Memory does not hold it.
    #[error("A file of {bytes} bytes is too large: WebAssembly has 4 GB of memory for everything.")]
    TooLarge {
        /// Its size.
        bytes: u64,
    },
    /// More tokens than the model reads.
    #[error("The model reads at most {context} tokens, and {asked} were asked for.")]
    TooLong {
        /// The most tokens.
        context: usize,
        /// Prompt and new tokens.
        asked: usize,
    },
    /// Nothing has been loaded.
    #[error("No model is loaded.")]
    None,
    /// The file is not as its format has it.
    #[error("{0}")]
    Format(#[from] FormatError),
    /// The model does not fit its parameters, or refuses its input.
    #[error("{0}")]
    Engine(#[from] EngineError),
}
