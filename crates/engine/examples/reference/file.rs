//! What a reference file holds, and what a model gives for it.

use engine::formula::Formula;
use engine::ndarray::{ArrayD, ArrayViewD, Ix3};
use engine::trace::Observer;
use serde_json::Value;
use std::collections::BTreeMap;

/// Why a file cannot be used.
pub(crate) type Failure = Box<dyn std::error::Error>;

/// A reference file.
pub(crate) struct Reference {
    /// Which model it is of.
    pub(crate) model: String,
    /// Seed of the fill, and of the picture.
    #[allow(dead_code, reason = "the test of the decoders does not read pictures")]
    pub(crate) seed: u64,
    /// The parameters, filled by the formula when they are read.
    pub(crate) parameters: Formula,
    /// The whole file.
    pub(crate) content: Value,
}

/// What a model computed.
pub(crate) struct Found {
    /// Under the names of the file's fields.
    pub(crate) tensors: BTreeMap<&'static str, ArrayD<f32>>,
    /// Attention weights after softmax.
    pub(crate) attention: AttentionWeights,
}

/// An observer that keeps the tensors called `PREFIX.N.attention.weights`, `[H, T, S]`, by N.
#[derive(Default)]
pub(crate) struct AttentionWeights(BTreeMap<usize, ArrayD<f32>>);

impl AttentionWeights {
    /// One row of weights; `None` where there is no such layer, head or row.
    pub(crate) fn row(&self, layer: usize, head: usize, row: usize) -> Option<Vec<f32>> {
        let weights = self
            .0
            .get(&layer)?
            .view()
            .into_dimensionality::<Ix3>()
            .ok()?;
        let (heads, rows, _) = weights.dim();
        (head < heads && row < rows)
            .then(|| weights.slice(engine::ndarray::s![head, row, ..]).to_vec())
    }
}

impl Observer for AttentionWeights {
    fn observe(&mut self, name: &str, tensor: ArrayViewD<'_, f32>) {
        let layer = name.strip_suffix(".attention.weights");
        let layer = layer.and_then(|prefix| prefix.rsplit('.').next()?.parse().ok());
        if let Some(layer) = layer {
            self.0.insert(layer, tensor.to_owned());
        }
    }
}

impl Reference {
    /// Reads a file.
    pub(crate) fn open(path: &str) -> Result<Self, Failure> {
        let content: Value = serde_json::from_str(&std::fs::read_to_string(path)?)?;
        let model = content["model"].as_str().ok_or("no string model")?;
        let seed = content["seed"].as_u64().ok_or("no whole number seed")?;
        let shapes = content["parameters"]
            .as_object()
            .ok_or("no object parameters")?;
        let shapes = shapes.iter().map(|(name, shape)| {
            let shape = indices(shape).ok_or_else(|| format!("parameter {name}: no shape"))?;
            Ok((name.clone(), shape))
        });
        let shapes: Vec<_> = shapes.collect::<Result<_, Failure>>()?;
        Ok(Self {
            model: model.to_owned(),
            seed,
            parameters: Formula::new(seed, shapes),
            content,
        })
    }

    /// A hyperparameter that is a number.
    pub(crate) fn number(&self, key: &str) -> Option<f64> {
        self.content["hyperparameters"][key].as_f64()
    }

    /// A hyperparameter that is a size.
    #[allow(dead_code, reason = "the test of the decoders does not read pictures")]
    pub(crate) fn size(&self, key: &str) -> Result<usize, Failure> {
        let size = self.content["hyperparameters"][key].as_u64();
        let size = size.filter(|n| (1..=1 << 16).contains(n));
        let size = size.ok_or_else(|| format!("{key}: no whole number from 1 to 65536"))?;
        Ok(usize::try_from(size)?)
    }

    /// A list of token ids.
    pub(crate) fn ids(&self, key: &str) -> Result<Vec<usize>, Failure> {
        indices(&self.content[key]).ok_or_else(|| format!("no list of whole numbers {key}").into())
    }
}

/// A list of whole numbers.
pub(crate) fn indices(list: &Value) -> Option<Vec<usize>> {
    let number = |value: &Value| value.as_u64().and_then(|n| usize::try_from(n).ok());
    list.as_array()?.iter().map(number).collect()
}
