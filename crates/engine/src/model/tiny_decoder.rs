//! A small decoder with untrained weights, drawn from a seed: enough to see what masks and positions do to logits.
//!
//! ```text
//! x = E[ids] (+ positions)              ids [T], E [V, C] -> [T, C]
//! x = block_n(x, mask), n = 1 … N                         -> [T, C]
//! logits = layer_norm(x) · Eᵀ           (tied embedding)  -> [T, V]
//! ```
//!
//! ```
//! use engine::model::tiny_decoder::{Positions, TinyConfig, TinyDecoder};
//! let config = TinyConfig { vocabulary: 50, width: 16, heads: 2, blocks: 2, max_tokens: 32, positions: Positions::Sinusoidal };
//! let model = TinyDecoder::new(&config, 7)?;
//! let before = model.logits(&[3, 1, 4], true, true)?;
//! let after = model.logits(&[3, 1, 5], true, true)?;
//! assert_eq!(before.row(1), after.row(1)); // The mask hides token 2 from token 1, to the last bit.
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: the layout of Radford et al. 2019 (GPT-2), section 2.3, with the tied embedding of Press and Wolf 2017.

use crate::error::{EngineError, Result};
use crate::nn::attention::Mask;
use crate::nn::block::{LayerNorm, PreNormDecoderBlock};
use crate::nn::embedding::embed;
use crate::nn::linear::linear;
use crate::nn::mask::causal;
use crate::nn::position::{learned::LearnedTable, sinusoidal};
use crate::rng::normal_matrix;
use crate::trace::{Observer, Prefixed};
use ndarray::Array2;

/// How the model knows where a token stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Positions {
    /// It does not.
    None,
    /// Sines and cosines, at any length.
    Sinusoidal,
    /// A (here random) table of `max_tokens` rows.
    Learned,
}

/// The sizes of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TinyConfig {
    /// V.
    pub vocabulary: usize,
    /// C, a multiple of `heads`.
    pub width: usize,
    /// H.
    pub heads: usize,
    /// How many blocks stand on each other.
    pub blocks: usize,
    /// The longest sequence that is accepted.
    pub max_tokens: usize,
    /// How positions enter.
    pub positions: Positions,
}

/// The model: token table, positions, blocks, last norm.
#[derive(Debug, Clone, PartialEq)]
pub struct TinyDecoder {
    config: TinyConfig,
    embedding: Array2<f32>,
    positions: LearnedTable,
    blocks: Vec<PreNormDecoderBlock>,
    norm: LayerNorm,
}

impl TinyDecoder {
    /// A model whose weights are normal draws from `seed`; each tensor has its own stream (`embedding`, `positions`,
    /// `blocks.0.attention.w_q`, …).
    ///
    /// # Errors
    /// When a size is 0 or the heads do not divide the width.
    pub fn new(config: &TinyConfig, seed: u64) -> Result<Self> {
        let TinyConfig {
            vocabulary,
            width,
            heads,
            blocks,
            max_tokens,
            positions,
        } = *config;
        for (name, size) in [
            ("vocabulary", vocabulary),
            ("width", width),
            ("heads", heads),
            ("max_tokens", max_tokens),
        ] {
            if size == 0 {
                return Err(EngineError::value("tiny_decoder", name, "at least 1", size));
            }
        }
        if !width.is_multiple_of(heads) {
            return Err(EngineError::value(
                "tiny_decoder",
                "heads",
                format!("a divisor of the width {width}"),
                heads,
            ));
        }
        let table = match positions {
            Positions::None => Array2::zeros((max_tokens, width)),
            Positions::Sinusoidal => sinusoidal::table(max_tokens, width),
            Positions::Learned => normal_matrix(seed, "positions", max_tokens, width, 1.0),
        };
        Ok(Self {
            config: config.clone(),
            embedding: normal_matrix(seed, "embedding", vocabulary, width, 1.0),
            positions: LearnedTable { table },
            blocks: (0..blocks)
                .map(|n| PreNormDecoderBlock::random(seed, &format!("blocks.{n}."), width, heads))
                .collect(),
            norm: LayerNorm::new(width),
        })
    }

    /// The sizes it was built with.
    pub fn config(&self) -> &TinyConfig {
        &self.config
    }

    /// The logits of every place; `causal` hides later tokens, `positions` adds the position vectors.
    ///
    /// # Errors
    /// When there are more ids than `max_tokens`, or an id is outside the vocabulary.
    pub fn logits(&self, ids: &[usize], causal: bool, positions: bool) -> Result<Array2<f32>> {
        // ids [T] -> [T, V]
        self.forward(ids, causal, positions, None)
    }

    /// As [`Self::logits`], with an observer that gets `embedding`, `input`, `blocks.N.…` (see [`PreNormDecoderBlock::forward`]),
    /// `norm` and `logits`.
    ///
    /// # Errors
    /// When there are more ids than `max_tokens`, or an id is outside the vocabulary.
    pub fn forward(
        &self,
        ids: &[usize],
        causal_mask: bool,
        positions: bool,
        mut trace: Option<&mut dyn Observer>,
    ) -> Result<Array2<f32>> {
        // ids [T] -> [T, V]
        let (longest, tokens) = (self.config.max_tokens, ids.len());
        if tokens > longest {
            return Err(EngineError::value(
                "tiny_decoder",
                "tokens",
                format!("at most {longest}"),
                tokens,
            ));
        }
        let embedded = embed(self.embedding.view(), ids)?;
        let mut x = if positions {
            self.positions.add(embedded.view())?
        } else {
            embedded.clone()
        };
        if let Some(observer) = trace.as_deref_mut() {
            observer.observe("embedding", embedded.view().into_dyn());
            observer.observe("input", x.view().into_dyn());
        }
        let mask = if causal_mask {
            Mask::Boolean(causal(tokens))
        } else {
            Mask::None
        };
        for (n, block) in self.blocks.iter().enumerate() {
            x = match trace.as_deref_mut() {
                Some(observer) => {
                    let mut inner = Prefixed::new(format!("blocks.{n}."), observer);
                    block.forward(x.view(), &mask, Some(&mut inner))?
                }
                None => block.forward(x.view(), &mask, None)?,
            };
        }
        let normed = self.norm.forward(x.view())?;
        let logits = linear(normed.view(), self.embedding.view(), None)?;
        if let Some(observer) = trace {
            observer.observe("norm", normed.view().into_dyn());
            observer.observe("logits", logits.view().into_dyn());
        }
        Ok(logits)
    }
}
