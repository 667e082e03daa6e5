//! The three translators of the lesson on the bottleneck, which learned from the same pairs of
//! sentences.

use std::sync::Arc;

use engine::token::tokenizer::Tokenizer;
use engine::translate::{Pair, Translator};

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

/// The sentences written for the site, with their accepted translations.
pub(crate) const SET: &str = "eval-en-it.tsv";

/// Number of sentences.
pub(crate) const SENTENCES: usize = 273;

/// Text of the token that ends a translation.
pub(crate) const END: &str = "\u{27e8}end\u{27e9}";

/// The sentences of the set.
///
/// # Errors
/// When the file is not here or holds another number of sentences.
pub(crate) fn sentences(record: &mut Record, cache: &ModelCache) -> Result<Vec<Pair>, CellError> {
    let text = cache.opened::<String>(SET)?;
    let text = text.as_str();
    let pairs = shown!(record, engine::translate::read_set, text)?;
    if pairs.len() != SENTENCES {
        let found = format!("{SET}: {} sentences, not {SENTENCES}", pairs.len());
        return Err(CellError::Mismatch(found));
    }
    Ok(pairs)
}

/// One sentence of each length, then the second of each, and so on: whenever somebody stops, all
/// lengths have been measured.
pub(crate) fn in_turn(mut pairs: Vec<Pair>) -> Vec<Pair> {
    pairs.sort_by_key(Pair::words);
    let (mut round, mut length) = (0, 0);
    let mut placed: Vec<(usize, Pair)> = pairs
        .into_iter()
        .map(|pair| {
            round = if pair.words() == length { round + 1 } else { 0 };
            length = pair.words();
            (round, pair)
        })
        .collect();
    placed.sort_by_key(|(round, pair)| (*round, pair.words()));
    placed.into_iter().map(|(_, pair)| pair).collect()
}

/// The texts of some tokens of a target, the end by its name.
pub(crate) fn texts<M>(
    translator: &Translator<M>,
    ids: &[usize],
) -> Result<Vec<String>, CellError> {
    let mut texts = pieces(translator, ids)?;
    for (text, &id) in texts.iter_mut().zip(ids) {
        if id == translator.end() {
            END.clone_into(text);
        }
    }
    Ok(texts)
}

/// The text of a target, without the token that ends it.
pub(crate) fn text<M>(translator: &Translator<M>, ids: &[usize]) -> Result<String, CellError> {
    let open = ids.strip_suffix(&[translator.end()]).unwrap_or(ids);
    Ok(translator.text(open)?)
}

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
pub(crate) fn pieces<M>(
    translator: &Translator<M>,
    ids: &[usize],
) -> Result<Vec<String>, CellError> {
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
pub(crate) fn typed<M>(
    inputs: &Inputs,
    name: &str,
    label: &str,
    translator: &Translator<M>,
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
