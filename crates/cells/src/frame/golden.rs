//! "Verify this page": recomputes cells and compares them with tensors that PyTorch computed.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::computation::Computation;
use crate::input::Inputs;
use crate::spec::CellSpec;

/// One file of reference tensors, `tests/golden/lessons/SLUG.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Golden {
    /// Script, versions of PyTorch and numpy: where the values come from.
    pub header: BTreeMap<String, String>,
    /// The cells of the page that have references.
    pub cells: Vec<GoldenCell>,
}

/// Reference tensors of one cell on one set of inputs.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct GoldenCell {
    /// Name of the cell.
    pub cell: String,
    /// Id of the section on the page.
    pub id: String,
    /// Inputs that differ from the cell's own defaults.
    pub inputs: Map<String, Value>,
    /// Expected tensors by name.
    pub tensors: BTreeMap<String, GoldenTensor>,
}

/// One expected tensor.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct GoldenTensor {
    /// Lengths of the axes.
    pub shape: Vec<usize>,
    /// Values in row-major order; `null` is minus infinity, which JSON cannot write.
    pub values: Vec<Option<f64>>,
    /// Largest absolute difference allowed.
    pub tolerance: f64,
}

/// The outcome for one tensor.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// Id of the cell's section.
    pub id: String,
    /// Name of the tensor.
    pub tensor: String,
    /// Number of values compared.
    pub values: usize,
    /// Largest absolute difference; infinite where shapes or infinities disagree.
    pub largest_error: f64,
    /// Largest difference allowed.
    pub tolerance: f64,
}

impl Check {
    /// True where the largest difference is within the tolerance.
    pub fn passed(&self) -> bool {
        self.largest_error <= self.tolerance
    }
}

impl GoldenCell {
    /// The inputs on which PyTorch computed, of the cell `spec`.
    ///
    /// # Errors
    /// A text that names the cell and the input that does not fit.
    pub fn inputs(&self, spec: &CellSpec) -> Result<Inputs, String> {
        let inputs = spec
            .inputs_from(&self.inputs, &BTreeMap::new())
            .map_err(|error| format!("{}: {error}", self.id))?;
        Ok(crate::picture::with_drawn_samples(inputs))
    }
}

/// Compares what a cell gave on the reference's inputs with each of its tensors.
///
/// # Errors
/// A text that names the cell and the tensor that it did not give.
pub fn check(golden: &GoldenCell, computed: &Computation) -> Result<Vec<Check>, String> {
    let fail = |e: String| format!("{}: {e}", golden.id);
    let mut checks = Vec::new();
    for (name, expected) in &golden.tensors {
        let found = computed
            .tensor(name)
            .ok_or_else(|| fail(format!("there is no tensor {name}")))?;
        let same_shape =
            found.shape() == expected.shape && expected.values.len() == found.values.len();
        let largest_error = if same_shape {
            found
                .values
                .iter()
                .zip(&expected.values)
                .map(|(&a, b)| difference(a, b.unwrap_or(f64::NEG_INFINITY)))
                .fold(0.0, f64::max)
        } else {
            f64::INFINITY
        };
        checks.push(Check {
            id: golden.id.clone(),
            tensor: name.clone(),
            values: expected.values.len(),
            largest_error,
            tolerance: expected.tolerance,
        });
    }
    Ok(checks)
}

/// Absolute difference; equal infinities differ by nothing, NaN differs from everything.
fn difference(a: f64, b: f64) -> f64 {
    if a == b {
        return 0.0;
    }
    let d = (a - b).abs();
    if d.is_nan() { f64::INFINITY } else { d }
}
