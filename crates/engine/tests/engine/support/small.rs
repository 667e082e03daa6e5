//! Small decoders that the formula fills.

use engine::formula::Formula;
use engine::model::decoder::Decoder;
use engine::model::gpt2::{self, Gpt2};
use engine::model::llama::{self, Llama};
use engine::nn::position::rope::Pairing;
use engine::nn::position::rope::{Rope, Scaling};

/// A text of the small vocabulary.
pub(crate) const IDS: [usize; 7] = [3, 22, 4, 4, 0, 17, 9];

pub(crate) fn gpt2_config() -> gpt2::Config {
    gpt2::Config {
        vocabulary: 23,
        width: 12,
        heads: 3,
        layers: 2,
        inner: 40,
        context: 9,
        norm_eps: 1e-5,
    }
}

pub(crate) fn llama_config() -> llama::Config {
    llama::Config {
        vocabulary: 23,
        width: 12,
        heads: 6,
        kv_heads: 2,
        head_width: 4,
        layers: 2,
        inner: 20,
        context: 9,
        norm_eps: 1e-5,
        rope: Rope {
            width: 4,
            base: 10_000.0,
            pairing: Pairing::Halves,
            scaling: Scaling::None,
        },
        experts: None,
        windows: Vec::new(),
        mlp_bias: true,
    }
}

pub(crate) fn gpt2() -> Gpt2 {
    let config = gpt2_config();
    Gpt2::load(config.clone(), &mut Formula::new(3, config.shapes())).unwrap()
}

pub(crate) fn llama(config: llama::Config, more: &[(&str, &[usize])]) -> Llama {
    let more = more
        .iter()
        .map(|(name, shape)| ((*name).to_owned(), shape.to_vec()));
    let mut source = Formula::new(3, config.shapes().into_iter().chain(more));
    Llama::load(config, &mut source).unwrap()
}

/// GPT-2, Llama, Llama with neighbours, a bias of q and a head of its own, and one with experts.
pub(crate) fn all() -> Vec<(&'static str, Box<dyn Decoder>)> {
    let mut other = llama_config();
    other.rope.pairing = Pairing::Neighbours;
    let bias = ("model.layers.1.self_attn.q_proj.bias", [24usize]);
    let head = ("lm_head.weight", [23usize, 12]);
    let mut mixture = llama_config();
    mixture.experts = Some((4, 2));
    vec![
        ("gpt2", Box::new(gpt2())),
        ("llama", Box::new(llama(llama_config(), &[]))),
        (
            "other llama",
            Box::new(llama(other, &[(bias.0, &bias.1), (head.0, &head.1)])),
        ),
        ("experts", Box::new(llama(mixture, &[]))),
    ]
}
