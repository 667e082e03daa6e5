//! The vocabulary that lies beside weights.

use super::{Files, OpenError};
use crate::error::{EngineError, Result};
use crate::format::error::FormatError;
use crate::token::llama::{Llama, LlamaFiles};
use crate::token::tokenizer::Tokenizer;
use crate::token::word_piece::{WordPiece, WordPieceFiles};
use crate::token::{json, llama_files};

/// Names of the two files of a byte-level vocabulary.
const PAIRS: [(&str, &str); 2] = [("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe")];

/// Reads one file.
type Read = fn(&[u8]) -> Result<Box<dyn Tokenizer>>;

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

/// How a vocabulary in one file is read, by the file's name.
fn reader(name: &str) -> Option<Read> {
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

/// Whether a file of this name is a vocabulary or a part of one.
pub(super) fn is_known(name: &str) -> bool {
    let in_pair = |(vocabulary, merges): &(&str, &str)| name == *vocabulary || name == *merges;
    reader(name).is_some() || PAIRS.iter().any(in_pair)
}

/// The vocabulary that a file of weights holds in its own metadata, under the name that it would have beside them; else the one that
/// lies there.
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

/// The vocabulary beside the weights; `None` where there is none. `tokenizer.json` goes before the others.
pub(super) fn beside(files: &Files) -> std::result::Result<Option<Box<dyn Tokenizer>>, OpenError> {
    let wrong = |file: &str, source| OpenError::Model {
        file: file.to_owned(),
        source,
    };
    let one = |name: &str, bytes: &[u8]| {
        let read = reader(name)?;
        Some(read(bytes).map_err(|error| wrong(name, error)))
    };
    if let Some(found) = files
        .find(&["tokenizer.json"])
        .and_then(|(name, bytes)| one(name, bytes))
    {
        return found.map(Some);
    }
    for (vocabulary, merges) in PAIRS {
        if let (Some((name, pieces)), Some((_, merges))) =
            (files.find(&[vocabulary]), files.find(&[merges]))
        {
            let read = text(pieces).and_then(|pieces| json::byte_bpe(pieces, text(merges)?));
            let read = read.map_err(|error| wrong(name, error))?;
            return Ok(Some(Box::new(read)));
        }
    }
    let found = files
        .beside
        .iter()
        .find_map(|(name, bytes)| one(name, bytes));
    found.transpose()
}
