//! A source that notes which tensors of a file a model read: a tensor that was not read is a part
//! that the model here lacks.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use ndarray::ArrayD;

use super::OpenedModel;
use crate::error::Result;
use crate::format::tensors::Tensors;
use crate::forward_description;
use crate::parameters::{Parameters, Weight};

/// The names of the tensors that were read. A clone shares them.
#[derive(Debug, Clone, Default)]
pub(super) struct ReadNames(Rc<RefCell<BTreeSet<String>>>);

impl ReadNames {
    /// The names that were not read, without those of tensors that `model` does not need.
    pub(super) fn rest(&self, names: &[String], model: &OpenedModel) -> Vec<String> {
        let read = self.0.borrow();
        let rest = names
            .iter()
            .filter(|name| !read.contains(*name) && !is_harmless(model, name));
        rest.cloned().collect()
    }
}

/// The tensors of a file, which note the names that are read.
#[derive(Debug, Clone)]
pub(super) struct Tracked {
    tensors: Tensors,
    read: ReadNames,
}

impl Tracked {
    /// The tensors of a file; the names that are read are added to `read`.
    pub(super) fn new(tensors: Tensors, read: ReadNames) -> Self {
        Self { tensors, read }
    }

    fn note(&self, name: &str) {
        self.read.0.borrow_mut().insert(name.to_owned());
    }
}

impl Parameters for Tracked {
    forward_description!(self => self.tensors);

    fn read(&mut self, name: &str) -> Result<ArrayD<f32>> {
        self.note(name);
        self.tensors.read(name)
    }

    fn weight(&mut self, name: &str, rows: usize, cols: usize) -> Result<Weight> {
        self.note(name);
        self.tensors.weight(name, rows, cols)
    }
}

/// True for a tensor that changes no number of the model: constants that are computed again, heads
/// of the pre-training, and copies of tied parameters. (Tensors of whole numbers, such as
/// `position_ids`, are not parameters and never get here.)
fn is_harmless(model: &OpenedModel, name: &str) -> bool {
    let ends = |known: &[&str]| known.iter().any(|end| name.ends_with(end));
    let begins = |known: &[&str]| known.iter().any(|start| name.starts_with(start));
    let pooler = name.starts_with("pooler.dense.") || name.contains(".pooler.dense.");
    match model {
        // The causal mask.
        OpenedModel::Gpt2(_) => ends(&[".attn.bias", ".attn.masked_bias"]),
        OpenedModel::Llama(_) => ends(&[".rotary_emb.inv_freq", ".attn_rot_embd.weight"]),
        OpenedModel::Bert(_) => {
            pooler
                || begins(&["cls.seq_relationship.", "cls.predictions.decoder."])
                || ends(&["embeddings.position_ids"])
        }
        OpenedModel::Vit(_) | OpenedModel::Dinov2(_) => pooler || ends(&["embeddings.mask_token"]),
        OpenedModel::Swin(_) => ends(&[
            "embeddings.mask_token",
            ".relative_coords_table",
            ".relative_position_index",
            ".attn_mask",
        ]),
    }
}
