//! The Transformer of 2017: an encoder reads the source, a decoder writes the target token by token
//! and looks back at it.
//!
//! ```text
//! x = √C · E[source] + PE        [S, C], then encoder blocks (post-norm, ReLU)                  -> [S, C]
//! y = √C · E[target] + PE        [T, C], then decoder blocks: causal, over the source, mlp      -> [T, C]
//! logits = y · Eᵀ                one table E [V, C] for source, target and output               -> [T, V]
//! ```
//!
//! ```
//! use engine::model::transformer::{Config, Transformer};
//! use engine::formula::Formula;
//! let config = Config { vocabulary: 20, width: 8, heads: 2, inner: 16, encoder_layers: 1, decoder_layers: 2, norm_eps: 1e-5 };
//! let model = Transformer::load(config.clone(), &mut Formula::new(0, config.shapes()))?;
//! let all = model.forward(&[3, 1, 4], &[1, 5], None)?;
//! assert_eq!(all.dim(), (2, 20));
//! let mut translation = model.read(&[3, 1, 4], None)?;
//! translation.feed(&[1])?;
//! let last = translation.feed(&[5])?; // The same with a cache, one token at a time.
//! assert!((&last - &all.row(1)).iter().all(|d| d.abs() < 1e-5));
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Vaswani et al. 2017, "Attention is all you need", section 3. Names of parameters: those
//! of `torch.nn.Transformer` under `transformer.`, and `embedding.weight`. Norms after the stacks,
//! which the paper has not, are used where the source has them.

mod blocks;
mod translation;

pub use translation::Translation;

use super::config::{self, Lookup};
use super::encoder_decoder::EncoderDecoder;
use super::names::Shapes;
use crate::error::Result;
use crate::math;
use crate::nn::compute::Compute;
use crate::nn::cross_attention::CrossMemory;
use crate::nn::kv_cache::KvCaches;
use crate::nn::norm::{LayerNorm, Norm};
use crate::nn::packed::Packed;
use crate::nn::parts::Parts;
use crate::nn::plain::Plain;
use crate::nn::position::sinusoidal;
use crate::nn::post_norm::PostNormBlock;
use crate::nn::post_norm_decoder::PostNormDecoderBlock;
use crate::parameters::{Parameters, Weight};
use crate::sample::greedy;
use crate::trace::Observer;
use crate::trainable::{self, Kind, Trainable, Visit};
use blocks::{decoder_block, encoder_block};
use ndarray::Array2;

/// The sizes of a Transformer.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// V, of source and target together.
    pub vocabulary: usize,
    /// C, a multiple of `heads`.
    pub width: usize,
    /// H.
    pub heads: usize,
    /// F.
    pub inner: usize,
    /// Blocks of the encoder.
    pub encoder_layers: usize,
    /// Blocks of the decoder.
    pub decoder_layers: usize,
    /// Added to the variance in each norm.
    pub norm_eps: f32,
}

impl Config {
    /// The sizes from named numbers: our reference files' or `torch.nn.Transformer`'s names.
    ///
    /// # Errors
    /// When a size is missing or not a whole number in range, or the heads do not divide the width.
    pub fn from_keys(lookup: Lookup<'_>) -> Result<Self> {
        let size = |names: &[&'static str]| config::size("transformer", lookup, names);
        let config = Self {
            vocabulary: size(&["vocabulary", "vocab_size"])?,
            width: size(&["width", "d_model"])?,
            heads: size(&["heads", "nhead"])?,
            inner: size(&["inner", "dim_feedforward"])?,
            encoder_layers: size(&["encoder_layers", "num_encoder_layers"])?,
            decoder_layers: size(&["decoder_layers", "num_decoder_layers"])?,
            norm_eps: config::number(lookup, &["norm_eps", "layer_norm_eps"]).unwrap_or(1e-5)
                as f32,
        };
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<()> {
        config::divides("transformer", "heads", self.heads, self.width)
    }

    /// The names of all parameters with their shapes, as PyTorch has them, without norms after the
    /// stacks.
    pub fn shapes(&self) -> Vec<(String, Vec<usize>)> {
        let (c, f) = (self.width, self.inner);
        let mut all = Shapes::default();
        all.add("embedding.weight", &[self.vocabulary, c]);
        let (encoder, decoder) = (&["self_attn"][..], &["self_attn", "multihead_attn"][..]);
        for (stack, layers, attentions) in [
            ("encoder", self.encoder_layers, encoder),
            ("decoder", self.decoder_layers, decoder),
        ] {
            for n in 0..layers {
                let name = |part: &str| format!("transformer.{stack}.layers.{n}.{part}");
                for attention in attentions {
                    let packed = name(&format!("{attention}.in_proj"));
                    all.add(format!("{packed}_weight"), &[3 * c, c]);
                    all.add(format!("{packed}_bias"), &[3 * c]);
                    all.layer(&name(&format!("{attention}.out_proj")), &[c, c]);
                }
                all.layer(&name("linear1"), &[f, c]);
                all.layer(&name("linear2"), &[c, f]);
                for norm in 1..=attentions.len() + 1 {
                    all.layer(&name(&format!("norm{norm}")), &[c]);
                }
            }
        }
        all.0
    }
}

/// The model: one table, two stacks of blocks.
#[derive(Debug, Clone)]
pub struct Transformer {
    config: Config,
    embedding: Weight,
    encoder: Vec<PostNormBlock>,
    encoder_norm: Option<LayerNorm>,
    decoder: Vec<PostNormDecoderBlock>,
    decoder_norm: Option<LayerNorm>,
    parts: Parts,
}

/// The keys and values of one or more sources: `[layer][sequence]`.
type Memories = Vec<Vec<CrossMemory>>;

impl Transformer {
    /// The model with the parameters of a source.
    ///
    /// # Errors
    /// When the heads do not divide the width, or a parameter is missing or has another shape.
    pub fn load(config: Config, source: &mut dyn Parameters) -> Result<Self> {
        config.check()?;
        let encoder = (0..config.encoder_layers).map(|n| encoder_block(&config, source, n));
        let encoder = encoder.collect::<Result<_>>()?;
        let decoder = (0..config.decoder_layers).map(|n| decoder_block(&config, source, n));
        let decoder = decoder.collect::<Result<_>>()?;
        let (width, eps) = (config.width, config.norm_eps);
        let mut last = |name: &str| {
            let present = source.shape(&format!("{name}.weight")).is_some();
            let norm = present.then(|| LayerNorm::load(source, name, width, eps));
            norm.transpose()
        };
        Ok(Self {
            encoder_norm: last("transformer.encoder.norm")?,
            decoder_norm: last("transformer.decoder.norm")?,
            embedding: source.weight("embedding.weight", config.vocabulary, width)?,
            encoder,
            decoder,
            config,
            parts: Parts::default(),
        })
    }

    /// The parts that are in use.
    pub fn parts(&self) -> Parts {
        self.parts
    }

    /// The same model with only these parts in use. Without the mask it runs on whole targets only,
    /// not token by token.
    #[must_use]
    pub fn with_parts(mut self, parts: Parts) -> Self {
        self.parts = parts;
        let (encoder, decoder) = (self.encoder.iter_mut(), self.decoder.iter_mut());
        encoder.for_each(|block| block.parts = parts);
        decoder.for_each(|block| block.parts = parts);
        self
    }

    /// The sizes of the model.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// √C · E[ids] + PE.
    fn embed<C: Compute>(&self, compute: &mut C, tokens: &Packed) -> Result<C::Matrix> {
        // ids [N] -> [N, C]
        let x = compute.embed(&self.embedding, &tokens.ids)?;
        let mut x = compute.scale(x, math::sqrt(self.config.width as f32));
        compute.trace("embedding", &mut x);
        if self.parts.positions {
            let positions: Vec<f32> = tokens.positions.iter().map(|&p| p as f32).collect();
            let encoded = sinusoidal::encode_all(&positions, self.config.width);
            let encoded = compute.constant(encoded.view());
            x = compute.add(x, &encoded)?;
        }
        compute.trace("input", &mut x);
        Ok(compute.dropout(x))
    }

    /// The encoder's output for one or more sources, `[N, C]` in the order of `source`. The
    /// observer gets `encoder.embedding`, `encoder.input`, `encoder.blocks.N.…` (see
    /// [`PostNormBlock::forward`]) and `encoder.output`.
    ///
    /// # Errors
    /// When an id is outside the vocabulary.
    pub fn encode<C: Compute>(&self, compute: &mut C, source: &Packed) -> Result<C::Matrix> {
        // ids [N] -> [N, C]
        let prefix = || "encoder.".to_owned();
        let mut x = compute.scope(prefix, |compute| self.embed(compute, source))?;
        for (n, block) in self.encoder.iter().enumerate() {
            let prefix = || format!("encoder.blocks.{n}.");
            x = compute.scope(prefix, |compute| block.run(compute, x, &source.lengths))?;
        }
        if let Some(norm) = &self.encoder_norm {
            x = norm.run(compute, &x)?;
        }
        compute.trace("encoder.output", &mut x);
        Ok(x)
    }

    /// Keys and values of the encoder's output, for each decoder block. The observer gets
    /// `decoder.blocks.N.cross.attention.{k, v}`.
    fn cache_kv<C: Compute>(
        &self,
        compute: &mut C,
        encoded: &C::Matrix,
        lengths: &[usize],
    ) -> Result<Vec<C::Memory>> {
        // encoded [N, C]
        let blocks = self.decoder.iter().enumerate();
        let layers = blocks.map(|(n, block)| {
            let prefix = || format!("decoder.blocks.{n}.cross.");
            compute.scope(prefix, |compute| {
                block.cross.memory(compute, encoded, lengths)
            })
        });
        layers.collect()
    }

    /// The logits of new target tokens that follow the tokens in the caches.
    fn decode<C: Compute>(
        &self,
        compute: &mut C,
        target: &Packed,
        caches: &mut KvCaches,
        memories: &[C::Memory],
    ) -> Result<C::Matrix> {
        // ids [N] -> [N, V]
        let prefix = || "decoder.".to_owned();
        let mut y = compute.scope(prefix, |compute| self.embed(compute, target))?;
        for (n, (block, memory)) in self.decoder.iter().zip(memories).enumerate() {
            let caches = caches.layer(n)?;
            let prefix = || format!("decoder.blocks.{n}.");
            y = compute.scope(prefix, |compute| {
                block.run(compute, y, &target.lengths, caches, memory)
            })?;
        }
        if let Some(norm) = &self.decoder_norm {
            y = norm.run(compute, &y)?;
        }
        compute.trace("decoder.output", &mut y);
        let mut logits = compute.linear(&y, &self.embedding, None)?;
        compute.trace("logits", &mut logits);
        Ok(logits)
    }

    fn caches(&self, sequences: usize) -> KvCaches {
        let (heads, width) = (self.config.heads, self.config.width);
        KvCaches::new(self.config.decoder_layers, sequences, heads, width / heads)
    }

    /// The logits at every position of a target. The observer gets the intermediates of
    /// [`Self::encode`], then `decoder.blocks.N.cross.attention.{k, v}`, `decoder.embedding`,
    /// `decoder.input`, `decoder.blocks.N.…` (see `PostNormDecoderBlock::run`), `decoder.output`
    /// and `logits`.
    ///
    /// # Errors
    /// When an id is outside the vocabulary.
    pub fn forward(
        &self,
        source: &[usize],
        target: &[usize],
        mut trace: Option<&mut dyn Observer>,
    ) -> Result<Array2<f32>> {
        // source [S], target [T] -> [T, V]
        let compute = &mut Plain::new(&mut trace);
        self.run(compute, &Packed::one(source), &Packed::one(target))
    }

    /// Reads a source once; the target is then written token by token. The observer gets the
    /// intermediates of [`Self::encode`] and the keys and values of cross-attention.
    ///
    /// # Errors
    /// When an id is outside the vocabulary.
    pub fn read(
        &self,
        source: &[usize],
        mut trace: Option<&mut dyn Observer>,
    ) -> Result<Translation<'_>> {
        // source [S]
        let compute = &mut Plain::new(&mut trace);
        let source = Packed::one(source);
        let encoded = self.encode(compute, &source)?;
        Ok(Translation {
            model: self,
            memories: self.cache_kv(compute, &encoded, &source.lengths)?,
            caches: self.caches(1),
        })
    }

    /// A target by greedy decoding, the most likely token at each step: from `start` (not given
    /// back) until `end` (given back) or `longest` tokens.
    ///
    /// # Errors
    /// When an id is outside the vocabulary, or a logit is not a number.
    pub fn greedy(
        &self,
        source: &[usize],
        start: usize,
        end: usize,
        longest: usize,
    ) -> Result<Vec<usize>> {
        // source [S] -> at most `longest` ids
        let mut translation = self.read(source, None)?;
        let (mut target, mut last) = (Vec::new(), start);
        while target.len() < longest && target.last() != Some(&end) {
            last = greedy(translation.feed(&[last])?.view())?;
            target.push(last);
        }
        Ok(target)
    }
}

impl EncoderDecoder for Transformer {
    fn run<C: Compute>(
        &self,
        compute: &mut C,
        source: &Packed,
        target: &Packed,
    ) -> Result<C::Matrix> {
        // source ids [M], target ids [N] -> [N, V]
        let encoded = self.encode(compute, source)?;
        let memories = self.cache_kv(compute, &encoded, &source.lengths)?;
        let mut caches = self.caches(target.lengths.len());
        self.decode(compute, target, &mut caches, &memories)
    }

    fn uses(&self, parameter: &str) -> bool {
        self.parts.norm || !parameter.contains(".norm")
    }
}

impl Trainable for Transformer {
    fn parameters(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        let table = &mut self.embedding;
        trainable::weight(table, "embedding.weight", Kind::Table, visit)?;
        for (n, block) in self.encoder.iter_mut().enumerate() {
            blocks::encoder_parameters(block, n, visit)?;
        }
        for (n, block) in self.decoder.iter_mut().enumerate() {
            blocks::decoder_parameters(block, n, visit)?;
        }
        for (norm, stack) in [
            (&mut self.encoder_norm, "encoder"),
            (&mut self.decoder_norm, "decoder"),
        ] {
            if let Some(norm) = norm {
                norm.parameters(&format!("transformer.{stack}.norm"), visit)?;
            }
        }
        Ok(())
    }
}
