//! llama2.c's first format (`.bin`): seven numbers, then the tensors of a Llama, kind by kind.
//!
//! ```text
//! width, inner, layers, heads, key/value heads, vocabulary, context      i32 each; a vocabulary below 0: the output matrix follows
//! E [V, C]
//! for all layers each: attention norm, Wq, Wk, Wv, Wo, norm of the MLP, gate [F, C], down [C, F], up [F, C]
//! last norm [C], tables of cosines and sines [context, D / 2] each, which are not used any more, output matrix [V, C] if there is one
//! ```
//! All numbers are little-endian f32. The tensors get the names of Hugging Face's files; rotary
//! planes are neighbours.
//!
//! Source: karpathy/llama2.c, `export.py` (`legacy_export`) and `run.c`.

use super::error::FormatError;
use super::file_bytes::FileBytes;
use super::tensors::{Element, Entry, Tensors, values};
use crate::model::llama::Config;
use crate::quant::Type;

pub(super) const FORMAT: &str = "llama2.c";

/// The sizes and the tensors of a file.
#[derive(Debug, Clone)]
pub struct Llama2c {
    /// The model's sizes.
    pub config: Config,
    /// Its tensors, under Hugging Face's names.
    pub tensors: Tensors,
}

impl Llama2c {
    /// Reads the header, and finds the tensors that its sizes announce.
    ///
    /// # Errors
    /// When no Llama has these sizes, or the file has another length than they need.
    pub fn parse(file: FileBytes) -> Result<Self, FormatError> {
        let (header, start) = file.parse(FORMAT, |cursor| {
            let mut header = [0; 7];
            for field in &mut header {
                *field = i32::from_le_bytes(cursor.array("the header")?);
            }
            Ok((header, cursor.position()))
        })?;
        let config = Config::from_llama2c(header)
            .map_err(|error| FormatError::part(FORMAT, "header", "the sizes of a Llama", error))?;
        let own_head = header[5] < 0;
        let plan = Plan::new(&config, own_head);
        let needed = plan.as_ref().and_then(Plan::bytes);
        let found = file.size().saturating_sub(start);
        if needed != Some(found) {
            let expected = needed.map_or_else(
                || "a size that fits in memory".to_owned(),
                |needed| format!("{needed} bytes after a header of {header:?}"),
            );
            return Err(FormatError::part(FORMAT, "the tensors", expected, found));
        }
        // From here on all products are known not to overflow, and the number of tensors is bounded
        // by the file's length.
        let entries = plan.map(|plan| plan.entries(start)).unwrap_or_default();
        Ok(Self {
            tensors: Tensors::new(FORMAT, vec![file], entries)?,
            config,
        })
    }
}

/// One kind of tensor, of which each layer has one.
type Kind = (&'static str, Vec<usize>);

/// The tensors of a file in their order, by their shapes.
struct Plan {
    layers: usize,
    table: Vec<usize>,
    kinds: [Kind; 9],
    norm: Vec<usize>,
    rotary_tables: [usize; 2],
    own_head: bool,
}

impl Plan {
    fn new(config: &Config, own_head: bool) -> Option<Self> {
        let (c, f) = (config.width, config.inner);
        let narrow = config.kv_heads.checked_mul(config.head_width)?;
        Some(Self {
            layers: config.layers,
            table: vec![config.vocabulary, c],
            kinds: [
                ("input_layernorm", vec![c]),
                ("self_attn.q_proj", vec![c, c]),
                ("self_attn.k_proj", vec![narrow, c]),
                ("self_attn.v_proj", vec![narrow, c]),
                ("self_attn.o_proj", vec![c, c]),
                ("post_attention_layernorm", vec![c]),
                ("mlp.gate_proj", vec![f, c]),
                ("mlp.down_proj", vec![c, f]),
                ("mlp.up_proj", vec![f, c]),
            ],
            norm: vec![c],
            rotary_tables: [config.context, config.head_width],
            own_head,
        })
    }

    fn bytes(&self) -> Option<usize> {
        let layer = self
            .kinds
            .iter()
            .try_fold(0usize, |sum, (_, shape)| sum.checked_add(values(shape)?))?;
        let tables = values(&self.table)?.checked_mul(1 + usize::from(self.own_head))?;
        let all = layer.checked_mul(self.layers)?.checked_add(tables)?;
        let all = all.checked_add(values(&self.norm)?)?;
        all.checked_add(values(&self.rotary_tables)?)?
            .checked_mul(size_of::<f32>())
    }

    fn entries(&self, start: usize) -> Vec<Entry> {
        let count = self.kinds.len() * self.layers + 2 + usize::from(self.own_head);
        let mut entries = Vec::with_capacity(count);
        let bytes = |shape: &[usize]| values(shape).unwrap_or(0) * size_of::<f32>();
        let mut at = start;
        // Names of their exact lengths: a file may announce very many.
        let mut add = |name: &[&str], shape: &[usize], skipped: usize| {
            entries.push(Entry {
                file: 0,
                name: name.concat().into(),
                shape: shape.into(),
                element: Element::Number(Type::F32),
                start: at + skipped,
                length: bytes(shape),
            });
            at += skipped + bytes(shape);
        };
        add(&["model.embed_tokens.weight"], &self.table, 0);
        for (kind, shape) in &self.kinds {
            for n in 0..self.layers {
                let name = ["model.layers.", &n.to_string(), ".", kind, ".weight"];
                add(&name, shape, 0);
            }
        }
        add(&["model.norm.weight"], &self.norm, 0);
        if self.own_head {
            let skipped = bytes(&self.rotary_tables);
            add(&["lm_head.weight"], &self.table, skipped);
        }
        entries
    }
}

/// Reads any bytes as a file, and all content of a file that can be read; for fuzzing.
#[doc(hidden)]
pub fn parse_never_panics(bytes: &[u8]) {
    use crate::model::llama::Llama;
    let Ok(mut file) = Llama2c::parse(bytes.into()) else {
        return;
    };
    super::tensors::read_all(file.tensors.clone());
    let _ = Llama::load(file.config, &mut file.tensors);
}
