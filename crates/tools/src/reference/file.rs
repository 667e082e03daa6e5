//! What a reference file holds, and what a model gives for it.

use engine::formula::Formula;
use engine::ndarray::{Array2, ArrayD, ArrayViewD, Axis, Ix3};
use engine::trace::Observer;
use serde_json::Value;
use std::collections::BTreeMap;

/// Why a file cannot be used.
pub type Failure = Box<dyn std::error::Error>;

/// A reference file.
pub(crate) struct Reference {
    /// Which model it is of.
    pub(crate) model: String,
    /// Seed of the fill, and of the picture.
    pub(crate) seed: u64,
    /// The parameters, filled by the formula when they are read.
    pub(crate) parameters: Formula,
    /// The whole file.
    pub(crate) content: Value,
}

/// What a model computed.
pub(crate) struct Found {
    /// Under the names of the file's fields.
    pub(crate) tensors: BTreeMap<String, ArrayD<f32>>,
    /// Attention weights after softmax.
    pub(crate) attention: AttentionWeights,
}

impl Found {
    /// The rows of `all` `[T, C]` that the file has summaries of, as `PREFIXn`; `last` is what it
    /// calls the last of them.
    pub(crate) fn of_rows(
        reference: &Reference,
        all: &Array2<f32>,
        prefix: &str,
        last: Option<&str>,
        attention: AttentionWeights,
    ) -> Result<Self, Failure> {
        let mut tensors = BTreeMap::new();
        for (field, _) in reference.summaries()? {
            let row = match field.strip_prefix(prefix) {
                Some(number) => number.parse().ok(),
                None if last == Some(field) => all.nrows().checked_sub(1),
                None => None,
            };
            let Some(row) = row else { continue };
            if row >= all.nrows() {
                let rows = all.nrows();
                return Err(format!("{field}: the model gives {rows} rows").into());
            }
            let row = all.index_axis(Axis(0), row).to_owned().into_dyn();
            tensors.insert(field.to_owned(), row);
        }
        Ok(Self { tensors, attention })
    }

    /// One tensor that the model gives whole.
    pub(crate) fn whole(name: &str, tensor: ArrayD<f32>, attention: AttentionWeights) -> Self {
        let tensors = BTreeMap::from([(name.to_owned(), tensor)]);
        Self { tensors, attention }
    }
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
        (head < heads && row < rows).then(|| {
            let head = weights.index_axis(Axis(0), head);
            head.row(row).to_vec()
        })
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
    /// Reads the text of a file.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        let content: Value = serde_json::from_str(text)?;
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

    /// The fields that hold a summary of a tensor, by name.
    pub(crate) fn summaries(&self) -> Result<impl Iterator<Item = (&str, &Value)>, Failure> {
        let fields = self.content.as_object().ok_or("no object")?;
        let fields = fields.iter().map(|(name, value)| (name.as_str(), value));
        Ok(fields.filter(|(_, value)| value.get("values").is_some()))
    }

    /// An error where the file names another activation than the one that its model has.
    pub(crate) fn expect_activation(&self, expected: &str) -> Result<(), Failure> {
        match &self.content["hyperparameters"]["activation"] {
            Value::Null => Ok(()),
            Value::String(found) if found == expected => Ok(()),
            found => Err(format!("activation: expected {expected:?}, found {found}").into()),
        }
    }

    /// A hyperparameter that is a number.
    pub(crate) fn number(&self, key: &str) -> Option<f64> {
        self.content["hyperparameters"][key].as_f64()
    }

    /// A hyperparameter that is a size.
    pub(crate) fn size(&self, key: &str) -> Result<usize, Failure> {
        let size = self.content["hyperparameters"][key].as_u64();
        let size = size.filter(|n| (1..=1 << 16).contains(n));
        let size = size.ok_or_else(|| format!("{key}: no whole number from 1 to 65536"))?;
        Ok(usize::try_from(size)?)
    }

    /// A list of at least one token id.
    pub(crate) fn ids(&self, key: &str) -> Result<Vec<usize>, Failure> {
        let ids = indices(&self.content[key]).filter(|ids| !ids.is_empty());
        ids.ok_or_else(|| format!("no list of whole numbers {key}").into())
    }
}

/// A list of whole numbers.
pub(crate) fn indices(list: &Value) -> Option<Vec<usize>> {
    let number = |value: &Value| value.as_u64().and_then(|n| usize::try_from(n).ok());
    list.as_array()?.iter().map(number).collect()
}
