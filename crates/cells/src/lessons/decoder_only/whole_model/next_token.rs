//! The most likely next tokens, one that is drawn, and tokens in words.

use engine::nn::softmax::top_indices;
use engine::sample::{Sampler, Sampling};
use engine::token::tokenizer::Tokenizer;
use ndarray::ArrayView1;

use super::{COLUMNS, END, TOP};
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::parts::trained::Pieces;

/// Keeps the most likely next tokens and one that is drawn; returns the most likely ones, more of
/// them.
pub(super) fn next(
    record: &mut Record,
    tokenizer: &dyn Tokenizer,
    (logits, tau): (ArrayView1<'_, f32>, f32),
    (seed, length): (u64, usize),
) -> Result<Vec<usize>, CellError> {
    let probabilities = shown!(
        record,
        engine::nn::softmax::softmax_temperature,
        logits,
        tau
    )?;
    let mut order = top_indices(logits, logits.len());
    let top = &order[..TOP];
    let shares: Vec<f64> = top.iter().map(|&id| f64::from(probabilities[id])).collect();
    let others = order[TOP..].iter().map(|&id| f64::from(probabilities[id]));
    record.number("next.others", others.sum());
    record.numbers("next.probabilities", shares);
    record.words("next.words", words_of(tokenizer, top)?);
    let texts = top.iter().map(|&id| text_of(tokenizer, id));
    record.words("next.texts", texts.collect::<Result<_, _>>()?);
    let sampling = Sampling {
        temperature: tau,
        ..Sampling::default()
    };
    // Every position has a draw of its own: the same text and seed give the same token again.
    let mut sampler = Sampler::new(sampling, seed)?;
    let mut drawn = 0;
    for _ in 0..length {
        drawn = sampler.next(logits, &[])?;
    }
    record.words("drawn", vec![text_of(tokenizer, drawn)?]);
    record.words("drawn.word", words_of(tokenizer, &[drawn])?);
    order.truncate(COLUMNS);
    Ok(order)
}

/// Tokens as the page shows them.
pub(super) fn words_of(tokenizer: &dyn Tokenizer, ids: &[usize]) -> Result<Vec<String>, CellError> {
    let mut words = Pieces::of_ids(tokenizer, ids.to_vec())?.texts;
    for (word, id) in words.iter_mut().zip(ids) {
        if tokenizer.special().end == Some(*id) {
            END.clone_into(word);
        }
    }
    Ok(words)
}

/// The characters that a token adds to a text; none for one that ends it, one of spaces only, and
/// one that is a part of a character.
fn text_of(tokenizer: &dyn Tokenizer, id: usize) -> Result<String, CellError> {
    if tokenizer.special().end == Some(id) {
        return Ok(String::new());
    }
    let bytes = tokenizer.token_bytes(id, false)?.unwrap_or_default();
    let text = String::from_utf8(bytes.to_vec()).unwrap_or_default();
    Ok(if text.trim().is_empty() {
        String::new()
    } else {
        text
    })
}
