//! Real shapes by name, to be filled with random weights.
//!
//! | name | sizes of | names of parameters as in |
//! |---|---|---|
//! | `gpt2` | GPT-2 124M | Hugging Face's file |
//! | `smollm2-135m`, `smollm2-360m` | SmolLM2 135M and 360M, with rotary positions up to 8,192 | Hugging Face's file |
//! | `qwen2-500m` | Qwen2.5 0.5B, with biases of queries, keys and values | Hugging Face's file |
//! | `llama3-1b` | Llama 3.2 1B | Hugging Face's file |
//! | `vit-b16` | ViT-B/16 for 224 pixels and 1,000 classes | `transformers` 5 |
//! | `minilm` | all-MiniLM-L6-v2: BERT without the head that fills masks | Hugging Face's file |
//!
//! The formula makes a number from its parameter's name and index ([`engine::formula`]), so any
//! other program can fill the same model; with seed 0 the first four are the models that the engine
//! is compared with PyTorch on.

use engine::model::{bert, gpt2, llama, vit};
use engine::nn::position::rope::Pairing;
use engine::nn::position::rope::{Rope, Scaling};

use super::any_model::ModelConfig;
use super::error::ModelError;

/// A shape with a name.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Its name in addresses.
    pub name: &'static str,
    /// Its title, for the reader.
    pub title: &'static str,
    sizes: fn() -> ModelConfig,
}

/// Numbers of a head of the Llamas here.
const HEAD_WIDTH: usize = 64;

/// The name of the Llama whose queries, keys and values have biases.
const QWEN: &str = "qwen2-500m";

/// All shapes; those of `cargo xtask bench` without an option first.
pub const SHAPES: [Shape; 7] = [
    Shape {
        name: "gpt2",
        title: "GPT-2, 124 million parameters",
        sizes: gpt2,
    },
    Shape {
        name: "smollm2-135m",
        title: "SmolLM2, 135 million",
        sizes: smollm2_135m,
    },
    Shape {
        name: "vit-b16",
        title: "ViT-B/16, 86 million",
        sizes: vit_b16,
    },
    Shape {
        name: "minilm",
        title: "MiniLM, 23 million",
        sizes: minilm,
    },
    Shape {
        name: "smollm2-360m",
        title: "SmolLM2, 362 million",
        sizes: smollm2_360m,
    },
    Shape {
        name: QWEN,
        title: "Qwen2.5, 494 million",
        sizes: qwen2,
    },
    Shape {
        name: "llama3-1b",
        title: "Llama 3.2, 1.2 billion",
        sizes: llama3,
    },
];

impl Shape {
    /// The shape of a name.
    ///
    /// # Errors
    /// When there is none.
    pub fn from_name(name: &str) -> Result<Self, ModelError> {
        let found = SHAPES.into_iter().find(|shape| shape.name == name);
        found.ok_or_else(|| ModelError::UnknownShape {
            found: name.to_owned(),
            known: SHAPES.map(|shape| shape.name).join(", "),
        })
    }

    /// Its sizes.
    pub fn sizes(&self) -> ModelConfig {
        (self.sizes)()
    }

    /// Side of the pictures that it reads, in pixels; `None` where it reads text.
    pub fn side(&self) -> Option<usize> {
        match self.sizes() {
            ModelConfig::Vit(config) => Some(config.image),
            _ => None,
        }
    }

    /// Names and shapes of its parameters.
    pub fn parameters(&self) -> Vec<(String, Vec<usize>)> {
        match self.sizes() {
            ModelConfig::Gpt2(config) => config.shapes(),
            ModelConfig::Llama(config) => {
                let mut all = config.shapes();
                if self.name == QWEN {
                    all.extend(qkv_biases(&config));
                }
                all
            }
            ModelConfig::Bert(config) => {
                let all = config.shapes().into_iter();
                all.filter(|(name, _)| !name.starts_with("cls.")).collect()
            }
            ModelConfig::Vit(config) => vit_parameters(&config),
        }
    }
}

fn gpt2() -> ModelConfig {
    ModelConfig::Gpt2(gpt2::Config::gpt2_124m())
}

/// A Llama whose heads have 64 numbers, as Hugging Face's files have it: V, C, H, G, layers, F and
/// the longest text.
fn llama(
    [vocabulary, width, heads, kv_heads, layers, inner, context]: [usize; 7],
    norm_eps: f32,
    base: f32,
    scaling: Scaling,
) -> ModelConfig {
    ModelConfig::Llama(llama::Config {
        vocabulary,
        width,
        heads,
        kv_heads,
        head_width: HEAD_WIDTH,
        layers,
        inner,
        context,
        norm_eps,
        rope: Rope {
            width: HEAD_WIDTH,
            base,
            pairing: Pairing::Halves,
            scaling,
        },
        experts: None,
        windows: Vec::new(),
        mlp_bias: true,
    })
}

fn smollm2_135m() -> ModelConfig {
    let sizes = [49_152, 576, 9, 3, 30, 1536, 8192];
    llama(sizes, 1e-5, 100_000.0, Scaling::None)
}

fn smollm2_360m() -> ModelConfig {
    let sizes = [49_152, 960, 15, 5, 32, 2560, 8192];
    llama(sizes, 1e-5, 100_000.0, Scaling::None)
}

fn qwen2() -> ModelConfig {
    let sizes = [151_936, 896, 14, 2, 24, 4864, 32_768];
    llama(sizes, 1e-6, 1_000_000.0, Scaling::None)
}

fn llama3() -> ModelConfig {
    let sizes = [128_256, 2048, 32, 8, 16, 8192, 131_072];
    let scaling = Scaling::Llama3 {
        factor: 32.0,
        low: 1.0,
        high: 4.0,
        original_context: 8192,
    };
    llama(sizes, 1e-5, 500_000.0, scaling)
}

/// The biases of the queries, keys and values of Qwen2.
fn qkv_biases(config: &llama::Config) -> impl Iterator<Item = (String, Vec<usize>)> {
    let (wide, narrow) = (
        config.heads * config.head_width,
        config.kv_heads * config.head_width,
    );
    (0..config.layers).flat_map(move |n| {
        [("q", wide), ("k", narrow), ("v", narrow)].map(|(part, size)| {
            let name = format!("model.layers.{n}.self_attn.{part}_proj.bias");
            (name, vec![size])
        })
    })
}

fn vit_b16() -> ModelConfig {
    ModelConfig::Vit(vit::Config::vit_b16())
}

fn minilm() -> ModelConfig {
    ModelConfig::Bert(bert::Config::minilm_l6())
}

/// The parameters of a ViT as `transformers` 5 calls them; [`vit::Config::shapes`] has timm's
/// names.
fn vit_parameters(config: &vit::Config) -> Vec<(String, Vec<usize>)> {
    let (c, f, p) = (config.width, config.inner, config.patch);
    let across = config.image / p;
    let embeddings = "vit.embeddings";
    let mut all = vec![
        (format!("{embeddings}.cls_token"), vec![1, 1, c]),
        (
            format!("{embeddings}.position_embeddings"),
            vec![1, 1 + across * across, c],
        ),
    ];
    let mut layer = |name: String, weight: Vec<usize>| {
        all.push((format!("{name}.bias"), vec![weight[0]]));
        all.push((format!("{name}.weight"), weight));
    };
    layer(
        format!("{embeddings}.patch_embeddings.projection"),
        vec![c, 3, p, p],
    );
    for n in 0..config.layers {
        for (name, weight) in [
            ("layernorm_before", vec![c]),
            ("attention.q_proj", vec![c, c]),
            ("attention.k_proj", vec![c, c]),
            ("attention.v_proj", vec![c, c]),
            ("attention.o_proj", vec![c, c]),
            ("layernorm_after", vec![c]),
            ("mlp.fc1", vec![f, c]),
            ("mlp.fc2", vec![c, f]),
        ] {
            layer(format!("vit.layers.{n}.{name}"), weight);
        }
    }
    layer("vit.layernorm".to_owned(), vec![c]);
    layer("classifier".to_owned(), vec![config.classes, c]);
    all
}
