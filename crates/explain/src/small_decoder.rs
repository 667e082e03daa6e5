//! A small GPT-2 with untrained parameters, drawn from a seed: enough to see the effect of masks
//! and positions on logits.
//!
//! ```text
//! matrices: normal, standard deviation 1/√inputs      token table: normal, 1      positions: sines and cosines
//! norms: scale 1, shift 0      biases: 0      exact GELU      the head is the token table
//! ```
//!
//! ```
//! use explain::small_decoder::small_decoder;
//! use engine::model::{decoder::DecoderExt, gpt2::Config};
//! let config = Config { vocabulary: 50, width: 16, heads: 2, layers: 2, inner: 64, context: 32, norm_eps: 1e-5 };
//! let model = small_decoder(&config, 7)?;
//! let before = model.forward(&[3, 1, 4], None)?;
//! let after = model.forward(&[3, 1, 5], None)?;
//! assert_eq!(before.row(1), after.row(1)); // The mask hides token 2 from token 1, to the last bit.
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Radford et al. 2019 (GPT-2), section 2.3; the tied embedding of Press and Wolf 2017;
//! sines and cosines of Vaswani et al. 2017, section 3.5.

use engine::error::Result;
use engine::model::gpt2::{Config, Gpt2};
use engine::nn::attention::scale;
use engine::nn::feed_forward::Activation;
use engine::nn::position::sinusoidal;
use engine::parameters::Memory;
use engine::rng::normal_matrix;
use ndarray::{ArrayD, Axis, IxDyn, concatenate};

/// The model with the parameters that [`parameters`] draws.
///
/// # Errors
/// When the heads do not divide the width.
pub fn small_decoder(config: &Config, seed: u64) -> Result<Gpt2> {
    let model = Gpt2::load(config.clone(), &mut parameters(config, seed))?;
    Ok(model.with_activation(Activation::Gelu))
}

/// The parameters, under the names that [`Gpt2::load`] asks for. Each matrix has a random stream of
/// its own (`embedding`, `blocks.0.attention.w_q`, `blocks.0.mlp.w_1` …).
pub fn parameters(config: &Config, seed: u64) -> Memory {
    let (c, f) = (config.width, config.inner);
    let mut all = Memory::default();
    for (name, shape) in config.shapes() {
        let value = f32::from(u8::from(name.contains("ln_") && name.ends_with("weight")));
        all.insert(name, ArrayD::from_elem(IxDyn(&shape), value));
    }
    let embedding = normal_matrix(seed, "embedding", config.vocabulary, c, 1.0);
    all.insert("transformer.wte.weight", embedding.into_dyn());
    let positions = sinusoidal::table(config.context, c);
    all.insert("transformer.wpe.weight", positions.into_dyn());
    for n in 0..config.layers {
        let draw = |part: &str, inputs: usize, outputs: usize| {
            let stream = format!("blocks.{n}.{part}");
            normal_matrix(seed, &stream, inputs, outputs, scale(inputs))
        };
        let [q, k, v] = ["w_q", "w_k", "w_v"].map(|part| draw(&format!("attention.{part}"), c, c));
        // Three matrices with as many rows always fit side by side.
        if let Ok(qkv) = concatenate(Axis(1), &[q.view(), k.view(), v.view()]) {
            all.insert(
                format!("transformer.h.{n}.attn.c_attn.weight"),
                qkv.into_dyn(),
            );
        }
        for (name, part, inputs, outputs) in [
            ("attn.c_proj", "attention.w_o", c, c),
            ("mlp.c_fc", "mlp.w_1", c, f),
            ("mlp.c_proj", "mlp.w_2", f, c),
        ] {
            let drawn = draw(part, inputs, outputs).into_dyn();
            all.insert(format!("transformer.h.{n}.{name}.weight"), drawn);
        }
    }
    all
}
