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
use engine::sample::greedy;
use engine::translate::Translator;
use ndarray::Array1;

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
    let mut free = given.clone();
    let mut found = BothPrefixes {
        right: Vec::new(),
        own: Vec::new(),
        chosen: Vec::new(),
    };
    let (mut before, mut own) = (translator.end(), translator.end());
    for &id in target {
        let logits = given.feed(before)?;
        found.right.push(loss(&logits, id)?);
        let logits = free.feed(own)?;
        found.own.push(loss(&logits, id)?);
        own = greedy(logits.view())?;
        found.chosen.push(own);
        before = id;
    }
    Ok(found)
}

/// −ln softmax(logits)[id], in f64.
fn loss(logits: &Array1<f32>, id: usize) -> Result<f64> {
    let largest = f64::from(logits[greedy(logits.view())?]);
    let parts = logits.iter().map(|&x| double::exp(f64::from(x) - largest));
    let total: f64 = parts.sum();
    let chosen = logits.get(id).copied().map_or(f64::NEG_INFINITY, f64::from);
    Ok(largest + double::ln(total) - chosen)
}
