//! The loss of a language model, in bits: how much each token of a text surprised it.
//!
//! ```text
//! bits_t     = −log₂ softmax(logits_t)[id_t]       logits_t: computed from the tokens before t
//! perplexity = 2^(mean of the bits)                 as many equally likely tokens would surprise as much
//! ```
//!
//! ```
//! use explain::surprise::{next_token_bits, perplexity};
//! use ndarray::array;
//! let logits = array![[0.0, 0.0, 0.0, 0.0], [100.0, 0.0, 0.0, 0.0]];
//! let bits = next_token_bits(logits.view(), &[2, 0])?;
//! assert_eq!(bits.to_vec(), [2.0, 0.0]);
//! assert_eq!(perplexity(bits.view()), 2.0);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Shannon 1948, "A mathematical theory of communication", section 6; Jelinek et al. 1977,
//! "Perplexity, a measure of the difficulty of speech recognition tasks".

use engine::error::{EngineError, Result};
use engine::math;
use engine::model::decoder::Session;
use engine::model::gpt2::Gpt2;
use engine::shape::expect;
use ndarray::{Array1, ArrayView1, ArrayView2, Axis};

/// The bits of each token of a text, given the logits of its position.
///
/// # Errors
/// When there are not as many tokens as rows, or an id is outside the vocabulary.
pub fn next_token_bits(logits: ArrayView2<'_, f32>, ids: &[usize]) -> Result<Array1<f32>> {
    // logits [T, V], ids [T] -> [T]
    expect("next_token_bits", "ids", &[logits.nrows()], &[ids.len()])?;
    let mut bits = Array1::zeros(ids.len());
    for ((row, &id), bits) in logits.outer_iter().zip(ids).zip(&mut bits) {
        let chosen = row.get(id).copied();
        let outside = || EngineError::value("next_token_bits", "id", "in the vocabulary", id);
        let chosen = chosen.ok_or_else(outside)?;
        let largest = row.fold(f32::NEG_INFINITY, |most, &x| most.max(x));
        let sum: f32 = row.iter().map(|&x| math::exp(x - largest)).sum();
        let nats = math::ln(sum) - (chosen - largest);
        *bits = nats / std::f32::consts::LN_2;
    }
    Ok(bits)
}

/// The bits that a model gives each of some continuations of a text.
///
/// # Errors
/// When the text or a continuation has no token, they are longer than the context, or an id is
/// outside the vocabulary.
pub fn continuation_bits(
    model: &Gpt2,
    before: &[usize],
    continuations: &[Vec<usize>],
) -> Result<Vec<f64>> {
    // before [T], continuations [N][K] -> [N]
    let mut session = Session::new(model);
    let first = session.feed(before)?;
    let mut all = Vec::with_capacity(continuations.len());
    for ids in continuations {
        session.truncate(before.len());
        let (mut logits, mut bits) = (first.clone(), 0.0);
        for (n, &id) in ids.iter().enumerate() {
            let row = logits.view().insert_axis(Axis(0));
            bits += f64::from(next_token_bits(row, &[id])?[0]);
            if n + 1 < ids.len() {
                logits = session.feed(&[id])?;
            }
        }
        all.push(bits);
    }
    Ok(all)
}

/// Two to the power of the mean bits; 1 for no token.
pub fn perplexity(bits: ArrayView1<'_, f32>) -> f32 {
    // bits [T]
    let mean = bits.mean().unwrap_or(0.0);
    math::exp(mean * std::f32::consts::LN_2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::model::decoder::DecoderExt;
    use ndarray::array;

    #[test]
    fn the_bits_are_the_logarithm_of_the_softmax() {
        let logits = array![[1.0, -2.0, 0.5], [30.0, 31.0, 12.0]];
        let bits = next_token_bits(logits.view(), &[1, 0]).unwrap();
        for (t, id) in [(0, 1), (1, 0)] {
            let p = engine::nn::softmax::softmax(logits.row(t))[id];
            assert!((bits[t] + p.log2()).abs() < 1e-5);
        }
        let product = bits.iter().map(|&b| 0.5f32.powf(b)).product::<f32>();
        assert!((perplexity(bits.view()) - product.powf(-0.5)).abs() < 1e-4);
    }

    /// A continuation costs as much as its tokens in the whole text.
    #[test]
    fn a_continuation_costs_what_its_tokens_cost() {
        let config = engine::model::gpt2::Config {
            vocabulary: 30,
            width: 16,
            heads: 2,
            layers: 2,
            inner: 32,
            context: 16,
            norm_eps: 1e-5,
        };
        let model = crate::small_decoder::small_decoder(&config, 3).unwrap();
        let words = [vec![7, 9, 2], vec![5]];
        let found = continuation_bits(&model, &[4, 8], &words).unwrap();
        for (word, found) in words.iter().zip(found) {
            let ids = [&[4, 8], &word[..]].concat();
            let logits = model.forward(&ids[..ids.len() - 1], None).unwrap();
            let rows: Vec<usize> = (1..logits.nrows()).collect();
            let rows = logits.select(Axis(0), &rows);
            let bits = next_token_bits(rows.view(), word).unwrap();
            assert!((f64::from(bits.sum()) - found).abs() < 1e-4);
        }
        assert!(continuation_bits(&model, &[], &words).is_err());
    }

    #[test]
    fn wrong_ids_are_refused() {
        let logits = array![[1.0, 2.0]];
        assert!(next_token_bits(logits.view(), &[2]).is_err());
        assert!(next_token_bits(logits.view(), &[0, 1]).is_err());
        assert_eq!(perplexity(array![].view()), 1.0);
    }
}
