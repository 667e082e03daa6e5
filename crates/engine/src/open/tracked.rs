//! Tensors of a file that remember whether a model read them: a tensor that nothing read is a part that the model here has not.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use ndarray::ArrayD;

use super::Model;
use crate::error::Result;
use crate::format::tensors::Tensors;
use crate::forward_description;
use crate::parameters::{Parameters, Weight};

/// Names of the tensors that were read. A clone shares them.
#[derive(Debug, Clone, Default)]
pub(super) struct Read(Rc<RefCell<BTreeSet<String>>>);

impl Read {
    /// The names that were not read, without those that `model` can do without.
    pub(super) fn rest(&self, names: &[String], model: &Model) -> Vec<String> {
        let read = self.0.borrow();
        let rest = names
            .iter()
            .filter(|name| !read.contains(*name) && !is_harmless(model, name));
        rest.cloned().collect()
    }
}

/// The tensors of a file.
#[derive(Debug, Clone)]
pub(super) struct Tracked {
    tensors: Tensors,
    read: Read,
}

impl Tracked {
    /// Notes the names of the tensors that are read in `read`.
    pub(super) fn new(tensors: Tensors, read: Read) -> Self {
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

/// True for a tensor that changes no number of the model: constants that are computed anew, heads of the pre-training, and copies of
/// tied parameters. (Tensors of whole numbers, such as `position_ids`, are no parameters and never get here.)
fn is_harmless(model: &Model, name: &str) -> bool {
    let ends = |known: &[&str]| known.iter().any(|end| name.ends_with(end));
    let begins = |known: &[&str]| known.iter().any(|start| name.starts_with(start));
    let pooler = name.starts_with("pooler.dense.") || name.contains(".pooler.dense.");
    match model {
        // The causal mask.
        Model::Gpt2(_) => ends(&[".attn.bias", ".attn.masked_bias"]),
        Model::Llama(_) => ends(&[".rotary_emb.inv_freq", ".attn_rot_embd.weight"]),
        Model::Bert(_) => {
            pooler
                || begins(&["cls.seq_relationship.", "cls.predictions.decoder."])
                || ends(&["embeddings.position_ids"])
        }
        Model::Vit(_) | Model::Dinov2(_) => pooler || ends(&["embeddings.mask_token"]),
        Model::Swin(_) => ends(&[
            "embeddings.mask_token",
            ".relative_coords_table",
            ".relative_position_index",
            ".attn_mask",
        ]),
    }
}
