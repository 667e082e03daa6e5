//! A small Llama that reads a text token by token, with a key-value cache and without: the logits
//! of both ways, and the multiplications of their matrix products.
//!
//! ```text
//! projections of one token      L (2 · C · H·D + 2 · C · G·D + 3 · C · F)      Q and O, K and V, the three matrices of the MLP
//! attention of one token        L · 2 · H · D · S                              S: the tokens that it sees, itself included
//! logits                        C · V                                          of the last token only
//! with a cache                  the new token                                  without: all tokens, once more for each new one
//! bytes of the cache            4 · L · 2 · G · D · T
//! ```
//! Norms, rotations and the softmax are not counted: they are no matrix products.
//!
//! ```
//! use explain::kv_race::{model, multiplications, race};
//! let model = model(2, 1)?;
//! let race = race(&model, &[3, 1, 4])?;
//! assert!(race.differences.iter().all(|&d| d < 1e-4));
//! assert_eq!(race.bytes, 4 * 2 * 2 * 2 * 8 * 3);
//! let config = model.config();
//! assert!(multiplications(config, 2, 1) < multiplications(config, 0, 3));
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Shazeer 2019, "Fast Transformer decoding: one write-head is all you need", sections 2.4
//! and 3; Ainslie et al. 2023, "GQA", section 2.2; Touvron et al. 2023, "LLaMA", section 2.2.

use engine::error::{EngineError, Result};
use engine::model::decoder::{DecoderExt, Session};
use engine::model::llama::{Config, Llama};
use engine::nn::attention::scale;
use engine::parameters::Memory;
use engine::rng::normal_matrix;
use ndarray::{Array1, ArrayD, Axis, IxDyn};

/// C.
pub const WIDTH: i32 = 64;
/// H.
pub const HEADS: i32 = 8;
/// Number of blocks.
pub const LAYERS: i32 = 2;
/// F.
pub const INNER: i32 = 128;
/// V.
pub const VOCABULARY: i32 = 64;
/// The longest text.
pub const CONTEXT: i32 = 64;

/// An untrained model with so many heads of keys and values. Each matrix is normal with the standard
/// deviation 1/√inputs, from a random stream of its own name; norms scale by 1.
///
/// # Errors
/// When the number does not divide that of the heads.
pub fn model(kv_heads: usize, seed: u64) -> Result<Llama> {
    let outside = |_| EngineError::value("kv_race", "kv_heads", "at most 8", kv_heads);
    let kv_heads = i32::try_from(kv_heads).map_err(outside)?;
    let sizes = [WIDTH, INNER, LAYERS, HEADS, kv_heads, VOCABULARY, CONTEXT];
    let config = Config::from_llama2c(sizes)?;
    let mut all = Memory::default();
    for (name, shape) in config.shapes() {
        let tensor = match shape[..] {
            [rows, cols] => normal_matrix(seed, &name, rows, cols, scale(cols)).into_dyn(),
            _ => ArrayD::ones(IxDyn(&shape)),
        };
        all.insert(name, tensor);
    }
    Llama::load(config, &mut all)
}

/// Multiplications of the matrix products that read `new` tokens after `cached` ones and compute the
/// logits after the last.
pub fn multiplications(config: &Config, cached: usize, new: usize) -> u64 {
    let [c, f, v] = [config.width, config.inner, config.vocabulary];
    let [wide, narrow] = [config.heads, config.kv_heads].map(|heads| heads * config.head_width);
    let token = 2 * c * wide + 2 * c * narrow + 3 * c * f;
    let seen: usize = (cached + 1..=cached + new).sum();
    (config.layers * (new * token + 2 * wide * seen) + c * v) as u64
}

/// What [`race`] finds.
#[derive(Debug, Clone, PartialEq)]
pub struct Race {
    /// `[T]`: at each token, the largest difference between the logits with and without the cache.
    pub differences: Array1<f32>,
    /// `[V]`: the logits after the last token, with the cache.
    pub logits: Array1<f32>,
    /// Bytes of the cache at the end.
    pub bytes: usize,
}

/// Reads a text token by token with a cache, and from its beginning for each token without one.
///
/// # Errors
/// When there is no token, more than fit, or an id is outside the vocabulary.
pub fn race(model: &Llama, ids: &[usize]) -> Result<Race> {
    // ids [T] -> differences [T], logits [V]
    let mut session = Session::new(model);
    let (mut differences, mut last) = (Vec::new(), Array1::zeros(0));
    for (t, &id) in ids.iter().enumerate() {
        let cached = session.feed(&[id])?;
        let all = model.forward(&ids[..=t], None)?;
        let whole = all.index_axis(Axis(0), t);
        let apart = (&cached - &whole).mapv(f32::abs);
        differences.push(apart.fold(0.0, |most: f32, &d| most.max(d)));
        last = cached;
    }
    Ok(Race {
        differences: differences.into(),
        logits: last,
        bytes: session.size_bytes(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A token is multiplied once with each number of each matrix but the token table, which is read
    /// for the logits alone.
    #[test]
    fn a_token_meets_every_parameter_once() {
        for kv_heads in [1, 2, 4, 8] {
            let model = model(kv_heads, 1).unwrap();
            let config = model.config();
            let matrices = config.shapes().into_iter().filter(|(_, s)| s.len() == 2);
            let numbers: usize = matrices.map(|(_, s)| s[0] * s[1]).sum();
            let attention = config.layers * 2 * config.width * 5;
            assert_eq!(
                multiplications(config, 4, 1),
                (numbers + attention) as u64,
                "{kv_heads}"
            );
        }
    }

    #[test]
    fn the_cache_changes_rounding_at_most() {
        let ids: Vec<usize> = (0..40).map(|n| (n * n + 3) % 64).collect();
        for kv_heads in [8, 4, 2, 1] {
            let model = model(kv_heads, 2).unwrap();
            let race = race(&model, &ids).unwrap();
            let most = race.differences.iter().copied().fold(0.0, f32::max);
            assert!(most < 1e-4, "{kv_heads}: {most}");
            assert_eq!(race.bytes, 4 * 2 * 2 * kv_heads * 8 * 40);
        }
        assert!(model(3, 1).is_err() && model(1 << 40, 1).is_err());
    }

    #[test]
    fn reading_all_at_once_costs_as_much_as_one_by_one_but_for_the_logits() {
        let model = model(4, 1).unwrap();
        let config = model.config();
        let one: u64 = (0..10).map(|t| multiplications(config, t, 1)).sum();
        let logits = (config.width * config.vocabulary) as u64;
        assert_eq!(one, multiplications(config, 0, 10) + 9 * logits);
    }
}
