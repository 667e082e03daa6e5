//! One parameter, several names: the same layer is called differently by each library that writes
//! weights.

use crate::error::Result;
use crate::nn::projection::Projection;
use crate::parameters::{Parameters, matrix, vector};
use ndarray::{Array2, s};

/// The first of `names` of which the source has a `NAME.weight`, else the first, so an error names
/// it.
pub(super) fn known(source: &dyn Parameters, prefix: &str, names: &[&str]) -> String {
    let full = |name: &&str| format!("{prefix}{name}");
    let has = |name: &String| source.shape(&format!("{name}.weight")).is_some();
    let mut all = names.iter().map(full);
    let first = names.first().map(full).unwrap_or_default();
    all.find(has).unwrap_or(first)
}

/// The first of `prefixes` under which the source has `name`, else the first.
pub(super) fn prefix(source: &dyn Parameters, prefixes: &[&str], name: &str) -> String {
    let has = |prefix: &&&str| source.shape(&format!("{prefix}{name}")).is_some();
    let found = prefixes.iter().find(has).or(prefixes.first());
    found.copied().unwrap_or_default().to_owned()
}

/// The names of all parameters of a model with their shapes, as its `Config` lists them.
#[derive(Default)]
pub(super) struct Shapes(pub(super) Vec<(String, Vec<usize>)>);

impl Shapes {
    /// Adds the parameter `name`.
    pub(super) fn add(&mut self, name: impl Into<String>, shape: &[usize]) {
        self.0.push((name.into(), shape.to_vec()));
    }

    /// Adds `NAME.weight` in this shape, and `NAME.bias` with a number for each of its rows.
    pub(super) fn layer(&mut self, name: &str, shape: &[usize]) {
        self.add(format!("{name}.bias"), &shape[..1]);
        self.add(format!("{name}.weight"), shape);
    }
}

/// The names of queries, keys and values where they are saved one by one.
pub(super) const SEPARATE: [&str; 3] = ["q_proj", "k_proj", "v_proj"];

/// Queries, keys and values: PyTorch's packed projections `NAME.in_proj_weight` `[3C, C]` and
/// `NAME.in_proj_bias` `[3C]`, or `NAME.q_proj.weight` and its kind `[C, C]`, as our own training
/// saves them.
pub(super) fn packed(
    source: &mut dyn Parameters,
    name: &str,
    width: usize,
) -> Result<[Projection; 3]> {
    if source.shape(&format!("{name}.q_proj.weight")).is_some() {
        let mut part =
            |part: &str| Projection::load(source, &format!("{name}.{part}"), width, width, true);
        let [q, k, v] = SEPARATE;
        return Ok([part(q)?, part(k)?, part(v)?]);
    }
    let weight = matrix(source, &format!("{name}.in_proj_weight"), 3 * width, width)?;
    let bias = vector(source, &format!("{name}.in_proj_bias"), 3 * width)?;
    let part = |n: usize| -> Result<Projection> {
        let rows = n * width..(n + 1) * width;
        let part: Array2<f32> = weight.slice(s![rows.clone(), ..]).to_owned();
        Ok(Projection {
            weight: source.pack(name, part)?,
            bias: Some(bias.slice(s![rows]).to_owned()),
        })
    };
    Ok([part(0)?, part(1)?, part(2)?])
}
