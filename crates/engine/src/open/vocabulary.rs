//! Vocabularies in files beside weights, and in their metadata.

use super::{Files, OpenError, OpenedModel};
use crate::error::{EngineError, Result};
use crate::format::error::FormatError;
use crate::token::llama::{Llama, LlamaFiles};
use crate::token::tokenizer::Tokenizer;
use crate::token::word_piece::{WordPiece, WordPieceFiles};
use crate::token::{json, llama_files};

/// The names of the two files of a byte-level vocabulary.
const PAIRS: [(&str, &str); 2] = [("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe")];

/// A function that reads a vocabulary in one file.
type Reader = fn(&[u8]) -> Result<Box<dyn Tokenizer>>;

fn text(bytes: &[u8]) -> Result<&str> {
    let wrong = |error: std::str::Utf8Error| {
        EngineError::value("vocabulary", "file", "text in UTF-8", error)
    };
    std::str::from_utf8(bytes).map_err(wrong)
}

fn llama(files: Result<LlamaFiles, FormatError>) -> Result<Box<dyn Tokenizer>> {
    let files = files.map_err(FormatError::into_engine)?;
    Ok(Box::new(Llama::new(files)?))
}

/// The reader of a vocabulary in one file, by the file's name.
fn reader(name: &str) -> Option<Reader> {
    match name {
        "tokenizer.json" => Some(|bytes| json::tokenizer(text(bytes)?)),
        "vocab.txt" => Some(|bytes| {
            let files = WordPieceFiles::from_vocab_txt(text(bytes)?);
            Ok(Box::new(WordPiece::new(files)?))
        }),
        _ if name.ends_with(".model") => Some(|bytes| llama(llama_files::from_model(bytes))),
        _ if name.ends_with(".vocab") => Some(|bytes| llama(llama_files::from_vocab(text(bytes)?))),
        _ if name.starts_with("tok") && name.ends_with(".bin") => {
            Some(|bytes| llama(llama_files::from_tokenizer_bin(bytes)))
        }
        _ => None,
    }
}

/// True for the name of a vocabulary's file.
pub(super) fn is_known(name: &str) -> bool {
    let in_pair = |(vocabulary, merges): &(&str, &str)| name == *vocabulary || name == *merges;
    reader(name).is_some() || PAIRS.iter().any(in_pair)
}

/// Refuses the vocabulary of another model: one with an id for which the model's embedding has no
/// row, or one with tokens for less than half of the rows. Some rows without a token are usual:
/// they fill the matrix up to a round size.
///
/// # Errors
/// [`OpenError::Vocabulary`].
pub(super) fn check(
    files: &Files,
    model: &OpenedModel,
    tokenizer: &dyn Tokenizer,
) -> std::result::Result<(), OpenError> {
    let rows = match model {
        OpenedModel::Gpt2(model) => model.config().vocabulary,
        OpenedModel::Llama(model) => model.config().vocabulary,
        OpenedModel::Bert(model) => model.config().vocabulary,
        // They read pictures.
        OpenedModel::Vit(_) | OpenedModel::Dinov2(_) | OpenedModel::Swin(_) => return Ok(()),
    };
    let tokens = tokenizer.size();
    if (rows.div_ceil(2)..=rows).contains(&tokens) {
        return Ok(());
    }
    Err(OpenError::Vocabulary {
        file: files.name.clone(),
        tokens,
        rows,
    })
}

/// The vocabulary in the metadata of a file of weights, under the name of a vocabulary's file;
/// without that the one beside the weights.
pub(super) fn of(
    files: &Files,
    metadata: &[(String, String)],
) -> std::result::Result<Option<Box<dyn Tokenizer>>, OpenError> {
    let own = metadata
        .iter()
        .find_map(|(key, held)| Some(reader(key)?(held.as_bytes())));
    match own {
        Some(own) => files.model(own).map(Some),
        None => beside(files),
    }
}

/// The vocabulary beside the weights; `None` where there is none. `tokenizer.json` goes before the
/// others.
pub(super) fn beside(files: &Files) -> std::result::Result<Option<Box<dyn Tokenizer>>, OpenError> {
    let one = |name: &str, bytes: &[u8]| {
        let read = reader(name)?;
        Some(read(bytes).map_err(|error| OpenError::model(name, error)))
    };
    if let Some((name, bytes)) = files.find(&["tokenizer.json"]) {
        return one(name, bytes).transpose();
    }
    for (vocabulary, merges) in PAIRS {
        if let (Some((name, tokens)), Some((_, merges))) =
            (files.find(&[vocabulary]), files.find(&[merges]))
        {
            let read = text(tokens).and_then(|tokens| json::byte_bpe(tokens, text(merges)?));
            let read = read.map_err(|error| OpenError::model(name, error))?;
            return Ok(Some(Box::new(read)));
        }
    }
    let mut beside = files.beside.iter();
    let found = beside.find_map(|(name, bytes)| one(name, bytes));
    found.transpose()
}
