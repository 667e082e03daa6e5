//! The sizes of a Llama, from named numbers or a llama2.c header.

use super::config::{self, Lookup};
use crate::error::{EngineError, Result};
use crate::math;
use crate::nn::position::rope::Pairing;
use crate::nn::position::rope::{Rope, Scaling};

/// The sizes of a Llama.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// V.
    pub vocabulary: usize,
    /// C.
    pub width: usize,
    /// H.
    pub heads: usize,
    /// G, a divisor of `heads`.
    pub kv_heads: usize,
    /// D, mostly C / H.
    pub head_width: usize,
    /// Number of blocks.
    pub layers: usize,
    /// F.
    pub inner: usize,
    /// The longest text.
    pub context: usize,
    /// Added to the mean square in each norm.
    pub norm_eps: f32,
    /// The rotary positions.
    pub rope: Rope,
    /// Experts of each MLP, and how many of them a token goes through; `None` for a single MLP.
    pub experts: Option<(usize, usize)>,
    /// For each layer the number of tokens that a token attends to, itself and those before it;
    /// `None`, and in layers beyond the list, for all. Empty in most models.
    pub windows: Vec<Option<usize>>,
    /// True where biases of MLPs are computed if the source has them.
    pub mlp_bias: bool,
}

impl Config {
    /// The sizes from named numbers: our reference files', Hugging Face's or GGUF's names (see
    /// [`super::config`]). Which numbers make a rotary plane is a matter of the format: halves in
    /// Hugging Face's, neighbours in GGUF's `llama`.
    ///
    /// Entries of `rope_scaling` or `rope_parameters` in a `config.json` are asked for as
    /// `rope_scaling.factor` and so on, those of lists as `rope_scaling.long_factor.0`. The kind of
    /// scaling, which is no number, is asked for as `rope_type.yarn` and so on; where no kind is
    /// known (reference files) a factor scales linearly. The window of layer n is asked for
    /// as `windows.n`, if there is a `has_windows`, and `mlp_bias` of 0 forbids biases of MLPs, which otherwise are taken where
    /// the source has them.
    ///
    /// # Errors
    /// When a size is missing or not a whole number in range, or sizes do not divide.
    pub fn from_keys(lookup: Lookup<'_>, pairing: Pairing) -> Result<Self> {
        let size = |names: &[&'static str]| config::size("llama", lookup, names);
        let optional = |names: &[&'static str]| config::optional("llama", lookup, names);
        let number = |names: &[&'static str]| config::number(lookup, names).map(|n| n as f32);
        let width = size(&["width", "hidden_size", "embedding_length"])?;
        let heads = size(&["heads", "num_attention_heads", "attention.head_count"])?;
        let kv_heads = [
            "key_value_heads",
            "num_key_value_heads",
            "attention.head_count_kv",
        ];
        let head_width = match optional(&["head_width", "head_dim", "attention.key_length"])? {
            Some(given) => given,
            None => {
                config::divides("llama", "heads", heads, width)?;
                width / heads
            }
        };
        let experts = optional(&["experts", "num_local_experts", "expert_count"])?;
        let chosen = optional(&[
            "experts_per_token",
            "num_experts_per_tok",
            "expert_used_count",
        ])?;
        let width_of_rope =
            optional(&["rotary_width", "rope.dimension_count"])?.unwrap_or(head_width);
        let bases = [
            "rope_scaling.rope_theta",
            "rope_parameters.rope_theta",
            "rope_theta",
            "rope.freq_base",
        ];
        let mut config = Self {
            vocabulary: size(&["vocabulary", "vocab_size"])?,
            width,
            heads,
            kv_heads: optional(&kv_heads)?.unwrap_or(heads),
            head_width,
            layers: size(&["layers", "num_hidden_layers", "block_count"])?,
            inner: size(&["inner", "intermediate_size", "feed_forward_length"])?,
            context: size(&["context", "max_position_embeddings", "context_length"])?,
            norm_eps: number(&[
                "norm_eps",
                "rms_norm_eps",
                "attention.layer_norm_rms_epsilon",
            ])
            .unwrap_or(1e-5),
            rope: Rope {
                width: width_of_rope,
                base: number(&bases).unwrap_or(10_000.0),
                pairing,
                scaling: scaling(lookup, width_of_rope / 2)?,
            },
            experts: experts.map(|count| (count, chosen.unwrap_or(2))),
            windows: Vec::new(),
            mlp_bias: lookup("mlp_bias") != Some(0.0),
        };
        config.check()?;
        // Asked first, so that a file that promises very many layers takes no memory.
        if lookup("has_windows").is_some() {
            let window = |n| lookup(&format!("windows.{n}")).map(|size| size as usize);
            config.windows = (0..config.layers).map(window).collect();
        }
        Ok(config)
    }

    /// The sizes in the header of a llama2.c file: width, inner, layers, heads, key/value heads,
    /// vocabulary (below 0: the head is not the token table), context. Rotary base 10,000 over
    /// neighbours, epsilon 1e-5, as `run.c` has them.
    ///
    /// # Errors
    /// When a size is not in range, or sizes do not divide.
    pub fn from_llama2c(header: [i32; 7]) -> Result<Self> {
        let [width, inner, layers, heads, kv_heads, vocabulary, context] = header.map(f64::from);
        let lookup = |key: &str| match key {
            "width" => Some(width),
            "inner" => Some(inner),
            "layers" => Some(layers),
            "heads" => Some(heads),
            "key_value_heads" => Some(kv_heads),
            "vocabulary" => Some(vocabulary.abs()),
            "context" => Some(context),
            _ => None,
        };
        Self::from_keys(&lookup, Pairing::Neighbours)
    }

    /// The names of the parameters with their shapes, as Hugging Face's files have them, of a model
    /// without biases whose head is the token table.
    pub fn shapes(&self) -> Vec<(String, Vec<usize>)> {
        let (c, f) = (self.width, self.inner);
        let wide = self.heads * self.head_width;
        let narrow = self.kv_heads * self.head_width;
        let mut all = vec![(
            "model.embed_tokens.weight".to_owned(),
            vec![self.vocabulary, c],
        )];
        for n in 0..self.layers {
            let mut add = |name: &str, shape: &[usize]| {
                all.push((format!("model.layers.{n}.{name}.weight"), shape.to_vec()));
            };
            add("input_layernorm", &[c]);
            add("self_attn.q_proj", &[wide, c]);
            add("self_attn.k_proj", &[narrow, c]);
            add("self_attn.v_proj", &[narrow, c]);
            add("self_attn.o_proj", &[c, wide]);
            add("post_attention_layernorm", &[c]);
            let Some((experts, _)) = self.experts else {
                add("mlp.gate_proj", &[f, c]);
                add("mlp.up_proj", &[f, c]);
                add("mlp.down_proj", &[c, f]);
                continue;
            };
            add("block_sparse_moe.gate", &[experts, c]);
            for expert in 0..experts {
                for (part, shape) in [("w1", [f, c]), ("w2", [c, f]), ("w3", [f, c])] {
                    add(&format!("block_sparse_moe.experts.{expert}.{part}"), &shape);
                }
            }
        }
        all.push(("model.norm.weight".to_owned(), vec![c]));
        all
    }

    pub(super) fn check(&self) -> Result<()> {
        config::divides("llama", "key_value_heads", self.kv_heads, self.heads)?;
        // Twice the head width of all heads is the largest product that is ever formed.
        let limit = config::LARGEST / self.heads.max(1);
        if self.head_width > limit || self.rope.width > self.head_width {
            let expected = format!("at least {} and at most {limit}", self.rope.width);
            return Err(EngineError::value(
                "llama",
                "head_width",
                expected,
                self.head_width,
            ));
        }
        if let Some((count, chosen)) = self.experts.filter(|(count, chosen)| chosen > count) {
            let expected = format!("at most the {count} experts");
            return Err(EngineError::value(
                "llama",
                "experts_per_token",
                expected,
                chosen,
            ));
        }
        if self.windows.contains(&Some(0)) || self.windows.len() > self.layers {
            let found = format!("{:?}", self.windows);
            return Err(EngineError::value(
                "llama",
                "windows",
                "at least 1 token, for each layer at most one",
                found,
            ));
        }
        self.rope.check()
    }
}

/// The scaling of the rotary positions in `planes` planes.
fn scaling(lookup: Lookup<'_>, planes: usize) -> Result<Scaling> {
    // Hugging Face's older and newer name of the same entry.
    let found = |part: &str| {
        lookup(&format!("rope_scaling.{part}"))
            .or_else(|| lookup(&format!("rope_parameters.{part}")))
    };
    let number = |part: &str| found(part).map(|n| n as f32);
    let missing = |part: &'static str| EngineError::value("llama", part, "given", "none");
    let context = ["context", "max_position_embeddings", "context_length"];
    let original = || {
        let names = [
            "original_max_position_embeddings",
            "rope_scaling.original_max_position_embeddings",
            "rope_parameters.original_max_position_embeddings",
            "rope.scaling.original_context_length",
        ];
        match config::optional("llama", lookup, &names)? {
            Some(length) => Ok(length),
            None => config::size("llama", lookup, &context),
        }
    };
    let is = |kind: &str| lookup(&format!("rope_type.{kind}")).is_some();
    // How many times longer texts may be than before stretching.
    let stretch = || Ok(config::size("llama", lookup, &context)? as f32 / original()? as f32);
    if is("default") || is("dynamic") {
        // NTK scaling changes the base for texts longer than the context, which are refused here.
        return Ok(Scaling::None);
    }
    if is("longrope") {
        // One more than the planes, so that a list that is too long is refused.
        let list = |name: &str| -> Vec<f32> {
            (0..=planes)
                .map_while(|n| number(&format!("{name}.{n}")))
                .collect()
        };
        let factor = number("factor").map_or_else(stretch, Ok)?;
        let original_context = original()?;
        let usual = match factor > 1.0 {
            true => math::sqrt(1.0 + math::ln(factor) / math::ln(original_context as f32)),
            false => 1.0,
        };
        return Ok(Scaling::LongRope {
            short: list("short_factor"),
            long: list("long_factor"),
            original_context,
            attention: number("attention_factor").unwrap_or(usual),
        });
    }
    let of_gguf = |part: &str| lookup(&format!("rope.scaling.{part}")).map(|n| n as f32);
    if is("yarn") {
        let factor = number("factor").or_else(|| of_gguf("factor"));
        let factor = factor.map_or_else(stretch, Ok)?;
        let share = |weight: f32| match factor > 1.0 {
            true => 0.1 * weight * math::ln(factor) + 1.0,
            false => 1.0,
        };
        let given = |part| number(part).filter(|&n| n != 0.0);
        let usual = match (given("mscale"), given("mscale_all_dim")) {
            (Some(one), Some(all)) => share(one) / share(all),
            _ => share(1.0),
        };
        // GGUF's attention factor comes on top of the usual one.
        let more = of_gguf("yarn_attn_factor").or_else(|| of_gguf("attn_factor"));
        let usual = usual * more.unwrap_or(1.0);
        let beta = |hub, gguf| given(hub).or_else(|| of_gguf(gguf));
        return Ok(Scaling::Yarn {
            factor,
            fast: beta("beta_fast", "yarn_beta_fast").unwrap_or(32.0),
            slow: beta("beta_slow", "yarn_beta_slow").unwrap_or(1.0),
            original_context: original()?,
            truncate: found("truncate") != Some(0.0),
            attention: number("attention_factor").unwrap_or(usual),
        });
    }
    let other = || lookup("rope_factor").map(|n| n as f32);
    let Some(factor) = number("factor")
        .or_else(other)
        .or_else(|| of_gguf("factor"))
    else {
        return Ok(Scaling::None);
    };
    let Some(low) = number("low_freq_factor").filter(|_| is("llama3")) else {
        return Ok(Scaling::Linear { factor });
    };
    Ok(Scaling::Llama3 {
        factor,
        low,
        high: number("high_freq_factor").ok_or_else(|| missing("high_freq_factor"))?,
        original_context: original()?,
    })
}
