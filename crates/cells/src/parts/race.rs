//! The three translators of the lesson on the bottleneck, which learned from the same pairs of
//! sentences.

use std::sync::Arc;

use engine::token::tokenizer::Tokenizer;
use engine::translate::Translator;

use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::Inputs;
use crate::model_cache::ModelCache;

/// The models: the name of their tensors and texts, and their file.
pub(crate) const MODELS: [(&str, &str); 3] = [
    ("fixed", "seq2seq-gru.safetensors"),
    ("attention", "seq2seq-attention.safetensors"),
    ("transformer", "translator.safetensors"),
];

/// The files of all three.
pub(crate) fn files(_: &Inputs) -> Vec<&'static str> {
    MODELS.map(|(_, file)| file).to_vec()
}

/// Those that are in the cache, each with the name of its tensors, in the order of [`MODELS`].
pub(crate) fn open(cache: &ModelCache) -> Result<Vec<(&'static str, Arc<Translator>)>, CellError> {
    let here = MODELS.into_iter().filter(|(_, file)| cache.has(file));
    here.map(|(name, file)| Ok((name, cache.opened(file)?)))
        .collect()
}

/// The translation of a sentence, with the number of tokens that it was written in.
pub(crate) fn translation(
    record: &mut Record,
    translator: &Translator,
    sentence: &str,
) -> Result<(String, usize), CellError> {
    let ids = shown!(
        record,
        engine::translate::Translator::ids,
        translator,
        sentence
    )?;
    let found = shown!(
        record,
        engine::translate::Translator::greedy,
        translator,
        &ids
    )?;
    let text = shown!(
        record,
        engine::translate::Translator::text,
        translator,
        &found
    )?;
    Ok((text, found.len()))
}

/// The tokens of a sentence as they are shown: one that continues a word begins with a plus sign.
pub(crate) fn pieces(translator: &Translator, ids: &[usize]) -> Result<Vec<String>, CellError> {
    let mut pieces = Vec::with_capacity(ids.len());
    for &id in ids {
        let text = translator.tokenizer().decode(&[id])?;
        pieces.push(match text.strip_prefix(' ') {
            Some(word) => word.to_owned(),
            None => format!("+{text}"),
        });
    }
    Ok(pieces)
}

/// The ids of a sentence that the reader typed: at least one, and at most `most`.
pub(crate) fn typed(
    inputs: &Inputs,
    name: &str,
    label: &str,
    translator: &Translator,
    most: usize,
) -> Result<Vec<usize>, CellError> {
    let ids = translator.ids(inputs.text(name)?)?;
    if ids.is_empty() {
        return Err(CellError::input(name, label, "type at least one word."));
    }
    if ids.len() > most {
        let message = format!(
            "this cell reads at most {most} tokens, and these are {}. Your text is kept: shorten it to continue.",
            ids.len()
        );
        return Err(CellError::input(name, label, message));
    }
    Ok(ids)
}
