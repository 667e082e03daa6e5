//! Teacher forcing and free running: the loss of a target when the decoder is given the right tokens
//! before each position, and when it is given its own.
//!
//! ```text
//! right prefix:  loss_t = −ln p(y_t | source, y_1 … y_{t−1})
//! own prefix:    loss_t = −ln p(y_t | source, ŷ_1 … ŷ_{t−1}),   ŷ_t = argmax p(· | source, ŷ_1 … ŷ_{t−1})
//! ```
//! The own prefix continues after an end token, so both have a loss at each position of the target.
//!
//! Source: Williams and Zipser 1989, "A learning algorithm for continually running fully recurrent
//! neural networks" (teacher forcing); Bengio et al. 2015, "Scheduled sampling", section 2.

use engine::error::Result;
use engine::math::double;
use engine::model::encoder_decoder::EncoderDecoder;
use engine::nn::packed::Packed;
use engine::nn::plain::Plain;
use engine::sample::greedy;
use engine::translate::{Reading, Translator};
use ndarray::ArrayView1;

/// What [`both_prefixes`] finds, position by position.
#[derive(Debug, Clone, PartialEq)]
pub struct BothPrefixes {
    /// `[T]`: the loss of each right token after the right ones before it, in nats.
    pub right: Vec<f64>,
    /// `[T]`: the same after the decoder's own tokens.
    pub own: Vec<f64>,
    /// `[T]`: the tokens that the decoder chose by itself.
    pub chosen: Vec<usize>,
}

impl BothPrefixes {
    /// The first position at which the decoder's own token is not the right one.
    pub fn parting(&self, target: &[usize]) -> Option<usize> {
        self.chosen.iter().zip(target).position(|(a, b)| a != b)
    }
}

/// The losses of the tokens of `target`, whose last one should be the end, after both prefixes.
/// Until they part, both are the same computation.
///
/// # Errors
/// When the source has no token, or an id is outside the vocabulary.
pub fn both_prefixes(
    translator: &Translator,
    source: &[usize],
    target: &[usize],
) -> Result<BothPrefixes> {
    // source [S], target [T]
    let mut given = translator.read(source)?;
    let mut free = None;
    let mut found = BothPrefixes {
        right: Vec::new(),
        own: Vec::new(),
        chosen: Vec::new(),
    };
    let (mut before, mut own) = (translator.end(), translator.end());
    for &id in target {
        let logits = given.feed(before)?;
        found.right.push(loss(logits.view(), id)?);
        let logits = match &mut free {
            Some(free) => Reading::feed(free, own)?,
            None => logits,
        };
        found.own.push(loss(logits.view(), id)?);
        own = greedy(logits.view())?;
        found.chosen.push(own);
        if free.is_none() && own != id {
            free = Some(given.clone());
        }
        before = id;
    }
    Ok(found)
}

/// The loss of a whole target after the right tokens, in one pass: the sum over its tokens.
///
/// # Errors
/// As [`both_prefixes`].
pub fn right_loss(translator: &Translator, source: &[usize], target: &[usize]) -> Result<f64> {
    // source [S], target [T]
    let fed = std::iter::once(translator.end()).chain(target.iter().copied());
    let fed: Vec<usize> = fed.take(target.len()).collect();
    let (reads, writes) = (Packed::one(source), Packed::one(&fed));
    let logits = (translator.model).run(&mut Plain::silent(), &reads, &writes)?;
    let rows = logits.rows().into_iter().zip(target);
    rows.map(|(row, &id)| loss(row, id)).sum()
}

/// −ln softmax(logits)[id], in f64.
fn loss(logits: ArrayView1<'_, f32>, id: usize) -> Result<f64> {
    let largest = f64::from(logits[greedy(logits)?]);
    let parts = logits.iter().map(|&x| double::exp(f64::from(x) - largest));
    let total: f64 = parts.sum();
    let chosen = logits.get(id).copied().map_or(f64::NEG_INFINITY, f64::from);
    Ok(largest + double::ln(total) - chosen)
}
