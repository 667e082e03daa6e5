//! The Llama family: Llama, Mistral, SmolLM, Qwen2, TinyStories' Llamas, and Mixtral with its
//! experts.
//!
//! ```text
//! x = E[ids]                                                       ids [T], E [V, C] -> [T, C]
//! a = x + attention_n(rms_norm(x)),  x = a + mlp_n(rms_norm(a)),  n = 1 … N          -> [T, C]
//! logits = rms_norm(x) · headᵀ         head [V, C], or E where there is none          -> [T, V]
//! ```
//! Attention is grouped-query with rotary positions, the MLP SwiGLU or a mixture of experts.
//! Parameters have the names of Hugging Face's files, with or without `model.` before them. Biases
//! (of q, k and v in Qwen2) are taken where the source has them.
//!
//! The observer gets `embedding`, for each block n `blocks.n.{norm_1, attention.…, residual_1,
//! norm_2, mlp.…, output}` (see [`GroupedAttention`], [`SwiGlu`] and [`MixtureOfExperts`]), `norm`
//! and `logits`.
//!
//! Source: Touvron et al. 2023, "LLaMA", section 2.2; Jiang et al. 2024, "Mixtral of experts"; the
//! parameter names are those of transformers' `modeling_llama.py`, `modeling_qwen2.py` and
//! `modeling_mixtral.py`.

use super::decoder::{Decoder, Tokens};
use super::gpt_trunk::Trunk;
use super::names::prefix;
use crate::error::Result;
use crate::nn::compute::Compute;
use crate::nn::grouped::{GroupedAttention, Qkv};
use crate::nn::kv_cache::KvCaches;
use crate::nn::moe::MixtureOfExperts;
use crate::nn::norm::{Norm, RmsNorm};
use crate::nn::parts::Parts;
use crate::nn::plain::Plain;
use crate::nn::position::rope::Scaling;
use crate::nn::pre_norm::{Mlp, PreNormBlock};
use crate::nn::projection::Projection;
use crate::nn::swiglu::SwiGlu;
use crate::parameters::{Parameters, vector};
use crate::trace::Observer;
use crate::trainable::{self, Kind, Trainable, Visit};
use ndarray::{Array2, ArrayView2};

pub use super::llama_config::Config;

/// The MLP of a block.
#[derive(Debug, Clone)]
enum LlamaMlp {
    One(SwiGlu),
    Experts(MixtureOfExperts),
}

impl LlamaMlp {
    fn load(config: &Config, source: &mut dyn Parameters, name: &str) -> Result<Self> {
        let (c, f) = (config.width, config.inner);
        let layer =
            |source: &mut dyn Parameters, name: &str, inputs: usize, outputs: usize| match config
                .mlp_bias
            {
                true => biased(source, name, inputs, outputs),
                false => Projection::load(source, name, inputs, outputs, false),
            };
        let swiglu =
            |source: &mut dyn Parameters, [gate, up, down]: [String; 3]| -> Result<SwiGlu> {
                Ok(SwiGlu {
                    gate: layer(source, &gate, c, f)?,
                    up: layer(source, &up, c, f)?,
                    down: layer(source, &down, f, c)?,
                })
            };
        let Some((count, top_k)) = config.experts else {
            let parts = ["gate_proj", "up_proj", "down_proj"];
            return swiglu(source, parts.map(|part| format!("{name}.mlp.{part}"))).map(Self::One);
        };
        let name = format!("{name}.block_sparse_moe");
        let router = Projection::load(source, &format!("{name}.gate"), c, count, false)?;
        let experts = (0..count).map(|n| {
            let parts = ["w1", "w3", "w2"];
            swiglu(
                source,
                parts.map(|part| format!("{name}.experts.{n}.{part}")),
            )
        });
        let experts = experts.collect::<Result<_>>()?;
        Ok(Self::Experts(MixtureOfExperts {
            router,
            experts,
            top_k,
        }))
    }
}

impl Mlp for LlamaMlp {
    fn run<C: Compute>(&self, compute: &mut C, x: &C::Matrix) -> Result<C::Matrix> {
        // x [T, C] -> [T, C]
        match self {
            Self::One(swiglu) => swiglu.run(compute, x),
            Self::Experts(mixture) => mixture.run(compute, x),
        }
    }
}

type Block = PreNormBlock<RmsNorm, GroupedAttention, LlamaMlp>;

/// A projection, with a bias where the source has one.
fn biased(
    source: &mut dyn Parameters,
    name: &str,
    inputs: usize,
    outputs: usize,
) -> Result<Projection> {
    let bias = source.shape(&format!("{name}.bias")).is_some();
    Projection::load(source, name, inputs, outputs, bias)
}

fn load_block(
    config: &Config,
    source: &mut dyn Parameters,
    name: &str,
    window: Option<usize>,
) -> Result<Block> {
    let c = config.width;
    let (wide, narrow) = (
        config.heads * config.head_width,
        config.kv_heads * config.head_width,
    );
    let mut layer = |part: &str, inputs: usize, outputs: usize| {
        biased(source, &format!("{name}.self_attn.{part}"), inputs, outputs)
    };
    let qkv = Qkv::Separate {
        q: layer("q_proj", c, wide)?,
        k: layer("k_proj", c, narrow)?,
        v: layer("v_proj", c, narrow)?,
    };
    let attention = GroupedAttention {
        qkv,
        output: layer("o_proj", wide, c)?,
        heads: config.heads,
        kv_heads: config.kv_heads,
        head_width: config.head_width,
        window,
    };
    let norm = |source: &mut dyn Parameters, part: &str| {
        RmsNorm::load(source, &format!("{name}.{part}"), c, config.norm_eps)
    };
    Ok(Block {
        norm_1: norm(source, "input_layernorm")?,
        attention,
        scale_1: None,
        norm_2: norm(source, "post_attention_layernorm")?,
        mlp: LlamaMlp::load(config, source, name)?,
        scale_2: None,
    })
}

/// The model: token table, blocks, last norm, and a head where it is not the token table.
#[derive(Debug, Clone)]
pub struct Llama {
    config: Config,
    trunk: Trunk<RmsNorm, LlamaMlp>,
}

impl Llama {
    /// The model with the parameters of a source. A `rope_freqs.weight` (GGUF's form of Llama 3's
    /// scaling) replaces the scaling of the config.
    ///
    /// # Errors
    /// When sizes do not divide, or a parameter is missing or has another shape.
    pub fn load(mut config: Config, source: &mut dyn Parameters) -> Result<Self> {
        if source.shape("rope_freqs.weight").is_some() {
            let divisors = vector(source, "rope_freqs.weight", config.rope.width / 2)?;
            config.rope.scaling = Scaling::Divisors(divisors.to_vec());
        }
        config.check()?;
        let (v, c) = (config.vocabulary, config.width);
        let prefix = prefix(source, &["", "model."], "embed_tokens.weight");
        // The largest matrix first: the memory that packing it needs is free again for the blocks.
        let tokens = source.weight(&format!("{prefix}embed_tokens.weight"), v, c)?;
        let own_head = source.shape("lm_head.weight").is_some();
        let head = own_head
            .then(|| source.weight("lm_head.weight", v, c))
            .transpose()?;
        let blocks = (0..config.layers).map(|n| {
            let window = config.windows.get(n).copied().flatten();
            load_block(&config, source, &format!("{prefix}layers.{n}"), window)
        });
        let blocks = blocks.collect::<Result<_>>()?;
        let trunk = Trunk {
            tokens,
            positions: None,
            blocks,
            norm: RmsNorm::load(source, &format!("{prefix}norm"), c, config.norm_eps)?,
            head,
        };
        Ok(Self { config, trunk })
    }

    /// The sizes of the model.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// As [`Decoder::hidden`], generic over the executor.
    ///
    /// # Errors
    /// As [`Decoder::hidden`].
    pub fn run<C: Compute>(
        &self,
        compute: &mut C,
        tokens: &Tokens<'_>,
        caches: &mut KvCaches,
    ) -> Result<C::Matrix> {
        // ids [T] -> [T, C]
        let rotary = self.config.rope.table(tokens.positions())?;
        let (rotary, parts) = (Some(&rotary), Parts::default());
        self.trunk.run(compute, tokens, caches, rotary, parts)
    }

    /// As [`Decoder::logits`], generic over the executor.
    ///
    /// # Errors
    /// As [`Decoder::logits`].
    pub fn run_logits<C: Compute>(&self, compute: &mut C, hidden: &C::Matrix) -> Result<C::Matrix> {
        // hidden [T, C] -> [T, V]
        compute.linear(hidden, self.trunk.head(), None)
    }
}

impl Trainable for Llama {
    fn parameters(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        let tokens = &mut self.trunk.tokens;
        trainable::weight(tokens, "model.embed_tokens.weight", Kind::Table, visit)?;
        for (n, block) in self.trunk.blocks.iter_mut().enumerate() {
            block_parameters(block, &format!("model.layers.{n}."), visit)?;
        }
        self.trunk.norm.parameters("model.norm", visit)?;
        self.trunk.head_parameters(visit)
    }
}

fn block_parameters(block: &mut Block, place: &str, visit: &mut Visit<'_>) -> Result<()> {
    let name = |part: &str| format!("{place}{part}");
    let separate = ["q_proj", "k_proj", "v_proj"];
    block.norm_1.parameters(&name("input_layernorm"), visit)?;
    let GroupedAttention { qkv, output, .. } = &mut block.attention;
    qkv.parameters(&name("self_attn."), "qkv_proj", separate, visit)?;
    output.parameters(&name("self_attn.o_proj"), visit)?;
    let norm = name("post_attention_layernorm");
    block.norm_2.parameters(&norm, visit)?;
    let mut swiglu = |SwiGlu { gate, up, down }: &mut SwiGlu, place: &str, parts: [&str; 3]| {
        for (layer, part) in [gate, up, down].into_iter().zip(parts) {
            layer.parameters(&format!("{place}{part}"), visit)?;
        }
        Ok(())
    };
    match &mut block.mlp {
        LlamaMlp::One(mlp) => swiglu(mlp, &name("mlp."), ["gate_proj", "up_proj", "down_proj"]),
        LlamaMlp::Experts(MixtureOfExperts {
            router, experts, ..
        }) => {
            let place = name("block_sparse_moe.");
            for (n, expert) in experts.iter_mut().enumerate() {
                swiglu(expert, &format!("{place}experts.{n}."), ["w1", "w3", "w2"])?;
            }
            router.parameters(&format!("{place}gate"), visit)
        }
    }
}

impl Decoder for Llama {
    fn layers(&self) -> usize {
        self.config.layers
    }

    fn heads(&self) -> usize {
        self.config.heads
    }

    fn context(&self) -> usize {
        self.config.context
    }

    fn vocabulary(&self) -> usize {
        self.config.vocabulary
    }

    fn caches(&self, sequences: usize) -> KvCaches {
        let (layers, width) = (self.config.layers, self.config.head_width);
        KvCaches::new(layers, sequences, self.config.kv_heads, width)
    }

    fn hidden(
        &self,
        tokens: &Tokens<'_>,
        caches: &mut KvCaches,
        trace: &mut Option<&mut dyn Observer>,
    ) -> Result<Array2<f32>> {
        // ids [T] -> [T, C]
        self.run(&mut Plain::new(trace), tokens, caches)
    }

    fn logits(&self, hidden: ArrayView2<'_, f32>) -> Result<Array2<f32>> {
        // hidden [T, C] -> [T, V]
        self.trunk.head().linear(hidden, None)
    }
}
