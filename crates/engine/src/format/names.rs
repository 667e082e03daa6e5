//! The names that llama.cpp gives tensors in GGUF files, for models that ask for Hugging Face's.
//!
//! | Hugging Face | GGUF |
//! |---|---|
//! | `model.embed_tokens`, `transformer.wte`, `embeddings.word_embeddings` | `token_embd` |
//! | `model.layers.3.self_attn.q_proj` | `blk.3.attn_q` |
//! | `h.3.mlp.c_fc` | `blk.3.ffn_up` |
//! | `encoder.layer.3.output.LayerNorm` | `blk.3.layer_output_norm` |
//! | `lm_head` | `output` |
//! | `model.layers.3.block_sparse_moe.experts.5.w1` | `blk.3.ffn_gate.5`, matrix 5 of `blk.3.ffn_gate_exps` |
//!
//! Each name ends in `.weight` or `.bias`. Hugging Face's names are read with and without the
//! prefix that they have in its files (`model.`, `transformer.`, `bert.`), and written without.
//! BERT's masked-LM head (`cls.predictions`) has no name: llama.cpp's converter leaves it out, and
//! its own `cls` is a classifier of sentences.
//!
//! Source: llama.cpp, `gguf-py/gguf/tensor_mapping.py` and `convert_hf_to_gguf.py`.

use ndarray::{Array2, ArrayD};

use crate::error::{EngineError, Result};
use crate::parameters::{Parameters, Weight};
use crate::quant::Type;

/// The kinds of model whose names are known, by GGUF's `general.architecture`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Architecture {
    /// `gpt2`.
    Gpt2,
    /// `llama`: Llama, Mistral, SmolLM. Rows of q and k are ordered so that rotary planes are
    /// neighbours.
    Llama,
    /// `qwen2`. Rotary planes are halves.
    Qwen2,
    /// `bert`.
    Bert,
}

/// Names outside blocks, and names in blocks, each as Hugging Face's and GGUF's.
struct Table {
    prefix: &'static str,
    whole: &'static [(&'static str, &'static str)],
    blocks: &'static str,
    part: &'static [(&'static str, &'static str)],
    has_experts: bool,
}

const GPT2: Table = Table {
    prefix: "transformer.",
    whole: &[
        ("wte", "token_embd"),
        ("wpe", "position_embd"),
        ("ln_f", "output_norm"),
        ("lm_head", "output"),
    ],
    blocks: "h.",
    part: &[
        ("ln_1", "attn_norm"),
        ("attn.c_attn", "attn_qkv"),
        ("attn.c_proj", "attn_output"),
        ("ln_2", "ffn_norm"),
        ("mlp.c_fc", "ffn_up"),
        ("mlp.c_proj", "ffn_down"),
    ],
    has_experts: false,
};

const LLAMA: Table = Table {
    prefix: "model.",
    whole: &[
        ("embed_tokens", "token_embd"),
        ("norm", "output_norm"),
        ("lm_head", "output"),
        ("rope_freqs", "rope_freqs"),
    ],
    blocks: "layers.",
    part: &[
        ("input_layernorm", "attn_norm"),
        ("self_attn.q_proj", "attn_q"),
        ("self_attn.k_proj", "attn_k"),
        ("self_attn.v_proj", "attn_v"),
        ("self_attn.o_proj", "attn_output"),
        ("post_attention_layernorm", "ffn_norm"),
        ("mlp.gate_proj", "ffn_gate"),
        ("mlp.up_proj", "ffn_up"),
        ("mlp.down_proj", "ffn_down"),
        ("block_sparse_moe.gate", "ffn_gate_inp"),
    ],
    has_experts: true,
};

/// The matrices of an expert, as Hugging Face's and GGUF's names.
const EXPERT: [(&str, &str); 3] = [("w1", "ffn_gate"), ("w2", "ffn_down"), ("w3", "ffn_up")];
/// The part before an expert's number in Hugging Face's names.
const EXPERTS: &str = "block_sparse_moe.experts.";
/// The end of the name of a GGUF tensor that holds the matrices of all experts.
const STACK: &str = "_exps";

const BERT: Table = Table {
    prefix: "bert.",
    whole: &[
        ("embeddings.word_embeddings", "token_embd"),
        ("embeddings.position_embeddings", "position_embd"),
        ("embeddings.token_type_embeddings", "token_types"),
        ("embeddings.LayerNorm", "token_embd_norm"),
    ],
    blocks: "encoder.layer.",
    part: &[
        ("attention.self.query", "attn_q"),
        ("attention.self.key", "attn_k"),
        ("attention.self.value", "attn_v"),
        ("attention.output.dense", "attn_output"),
        ("attention.output.LayerNorm", "attn_output_norm"),
        ("intermediate.dense", "ffn_up"),
        ("output.dense", "ffn_down"),
        ("output.LayerNorm", "layer_output_norm"),
    ],
    has_experts: false,
};

/// The start of the names of blocks in GGUF files.
const BLOCKS: &str = "blk.";

impl Architecture {
    /// The kind of model that `general.architecture` names; `None` for other names.
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [Self::Gpt2, Self::Llama, Self::Qwen2, Self::Bert];
        all.into_iter().find(|known| known.name() == name)
    }

    /// The name in `general.architecture`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gpt2 => "gpt2",
            Self::Llama => "llama",
            Self::Qwen2 => "qwen2",
            Self::Bert => "bert",
        }
    }

    fn table(self) -> &'static Table {
        match self {
            Self::Gpt2 => &GPT2,
            Self::Llama | Self::Qwen2 => &LLAMA,
            Self::Bert => &BERT,
        }
    }

    /// GGUF's name of the tensor that Hugging Face's files call `name`; `None` where this kind of
    /// model has no such tensor.
    pub fn gguf_name(self, name: &str) -> Option<String> {
        let table = self.table();
        let name = name.strip_prefix(table.prefix).unwrap_or(name);
        let expert = |stem: &str| {
            let (number, matrix) = stem.strip_prefix(EXPERTS)?.split_once('.')?;
            let (_, gguf) = EXPERT.iter().find(|(theirs, _)| *theirs == matrix)?;
            is_number(number).then(|| format!("{gguf}.{number}"))
        };
        translated(name, [table.blocks, BLOCKS], table, expert, |pair| pair)
    }

    /// Hugging Face's name, without prefix, of the tensor that GGUF files call `name`; `None` where
    /// this kind of model has no such tensor.
    pub fn hugging_face_name(self, name: &str) -> Option<String> {
        let table = self.table();
        let expert = |stem: &str| {
            let (matrix, number) = stem.split_once('.')?;
            let (theirs, _) = EXPERT.iter().find(|(_, gguf)| *gguf == matrix)?;
            is_number(number).then(|| format!("{EXPERTS}{number}.{theirs}"))
        };
        let swapped = |(theirs, gguf)| (gguf, theirs);
        translated(name, [BLOCKS, table.blocks], table, expert, swapped)
    }
}

/// The name of matrix `n` of the GGUF tensor `stack`, which holds all experts of a block; `None`
/// for any other tensor.
pub(super) fn unstacked_name(stack: &str, n: usize) -> Option<String> {
    let (stem, end) = stack.rsplit_once('.')?;
    let stem = stem.strip_suffix(STACK)?;
    let (_, matrix) = stem.strip_prefix(BLOCKS)?.split_once('.')?;
    let known = EXPERT.iter().any(|(_, gguf)| *gguf == matrix);
    known.then(|| format!("{stem}.{n}.{end}"))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit())
}

/// Translates the stem of a name from the first column of the table to the second, with the columns
/// in the order that `pair` gives. `.weight` or `.bias` and the block's number stay. `expert`
/// translates the rest of the name of an expert's matrix after the block.
fn translated(
    name: &str,
    [from, to]: [&str; 2],
    table: &Table,
    expert: impl Fn(&str) -> Option<String>,
    pair: impl Fn((&'static str, &'static str)) -> (&'static str, &'static str),
) -> Option<String> {
    let (stem, end) = name.rsplit_once('.')?;
    if !matches!(end, "weight" | "bias") {
        return None;
    }
    let find = |rows: &'static [_], stem: &str| {
        let mut rows = rows.iter().copied().map(&pair);
        rows.find(|(from, _)| *from == stem).map(|(_, to)| to)
    };
    if let Some(stem) = find(table.whole, stem) {
        return Some(format!("{stem}.{end}"));
    }
    let (block, stem) = stem.strip_prefix(from)?.split_once('.')?;
    let known = find(table.part, stem).map(str::to_owned);
    let stem = known.or_else(|| expert(stem).filter(|_| table.has_experts));
    let stem = stem.filter(|_| is_number(block))?;
    Some(format!("{to}{block}.{stem}.{end}"))
}

/// A source with GGUF's names, under the names of Hugging Face that models ask for.
#[derive(Debug, Clone)]
pub struct Renamed<P> {
    source: P,
    architecture: Architecture,
}

impl<P: Parameters> Renamed<P> {
    /// The tensors of `source` under Hugging Face's names.
    pub fn new(source: P, architecture: Architecture) -> Self {
        Self {
            source,
            architecture,
        }
    }

    /// The source with its own names.
    pub fn into_inner(self) -> P {
        self.source
    }

    fn inner_name(&self, name: &str) -> Result<String> {
        let unknown = || EngineError::Parameter {
            name: name.to_owned(),
            expected: format!("a tensor of {}", self.architecture.name()),
            found: "no name for it in GGUF files".to_owned(),
        };
        self.architecture.gguf_name(name).ok_or_else(unknown)
    }
}

impl<P: Parameters> Parameters for Renamed<P> {
    fn names(&self) -> Vec<String> {
        let names = self.source.names().into_iter();
        let renamed = names.filter_map(|name| self.architecture.hugging_face_name(&name));
        renamed.collect()
    }

    fn shape(&self, name: &str) -> Option<Vec<usize>> {
        self.source.shape(&self.architecture.gguf_name(name)?)
    }

    fn form(&self, name: &str) -> Type {
        let known = self.architecture.gguf_name(name);
        known.map_or(Type::F32, |name| self.source.form(&name))
    }

    fn known_as(&self, name: &str) -> String {
        let known = self.architecture.gguf_name(name);
        known.map_or_else(|| name.to_owned(), |known| self.source.known_as(&known))
    }

    fn read(&mut self, name: &str) -> Result<ArrayD<f32>> {
        let name = self.inner_name(name)?;
        self.source.read(&name)
    }

    fn weight(&mut self, name: &str, rows: usize, cols: usize) -> Result<Weight> {
        let inner = self.inner_name(name)?;
        self.source.weight(&inner, rows, cols)
    }

    fn pack(&self, name: &str, matrix: Array2<f32>) -> Result<Weight> {
        self.source.pack(name, matrix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_there_and_back() {
        for (architecture, theirs, gguf) in [
            (Architecture::Gpt2, "wte.weight", "token_embd.weight"),
            (
                Architecture::Gpt2,
                "h.11.attn.c_attn.bias",
                "blk.11.attn_qkv.bias",
            ),
            (Architecture::Llama, "lm_head.weight", "output.weight"),
            (
                Architecture::Llama,
                "layers.0.mlp.down_proj.weight",
                "blk.0.ffn_down.weight",
            ),
            (
                Architecture::Qwen2,
                "layers.7.self_attn.q_proj.bias",
                "blk.7.attn_q.bias",
            ),
            (
                Architecture::Llama,
                "layers.3.block_sparse_moe.gate.weight",
                "blk.3.ffn_gate_inp.weight",
            ),
            (
                Architecture::Llama,
                "layers.3.block_sparse_moe.experts.12.w2.weight",
                "blk.3.ffn_down.12.weight",
            ),
            (
                Architecture::Bert,
                "embeddings.LayerNorm.bias",
                "token_embd_norm.bias",
            ),
            (
                Architecture::Bert,
                "encoder.layer.2.output.LayerNorm.weight",
                "blk.2.layer_output_norm.weight",
            ),
        ] {
            assert_eq!(architecture.gguf_name(theirs).as_deref(), Some(gguf));
            let prefixed = format!("{}{theirs}", architecture.table().prefix);
            assert_eq!(architecture.gguf_name(&prefixed).as_deref(), Some(gguf));
            assert_eq!(
                architecture.hugging_face_name(gguf).as_deref(),
                Some(theirs)
            );
        }
        for unknown in [
            "",
            "weight",
            "layers.x.mlp.down_proj.weight",
            "layers..mlp.up_proj.weight",
            "norm",
        ] {
            assert_eq!(Architecture::Llama.gguf_name(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn stacks_of_experts_are_split() {
        let name = unstacked_name("blk.3.ffn_up_exps.weight", 7);
        assert_eq!(name.as_deref(), Some("blk.3.ffn_up.7.weight"));
        for other in [
            "blk.3.ffn_up.weight",
            "ffn_up_exps.weight",
            "blk.3.x_exps.weight",
        ] {
            assert_eq!(unstacked_name(other, 0), None);
        }
        let expert = "encoder.layer.0.block_sparse_moe.experts.1.w1.weight";
        assert_eq!(Architecture::Bert.gguf_name(expert), None);
        assert_eq!(Architecture::Bert.gguf_name("cls.predictions.bias"), None);
    }

    #[test]
    fn every_parameter_of_the_models_has_a_name() {
        use crate::model::{bert, gpt2};
        let keys = |key: &str| (key != "n_inner").then_some(8.0);
        let gpt2 = gpt2::Config::from_keys(&keys).unwrap().shapes();
        let known = |architecture: Architecture, name: &str| architecture.gguf_name(name).is_some();
        assert!(gpt2.iter().all(|(name, _)| known(Architecture::Gpt2, name)));
        let bert = bert::Config::from_keys(&keys).unwrap().shapes();
        let body = bert.iter().filter(|(name, _)| !name.starts_with("cls."));
        for (name, _) in body {
            assert!(known(Architecture::Bert, name), "{name}");
        }
    }
}
