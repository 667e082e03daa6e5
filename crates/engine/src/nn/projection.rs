//! A linear layer as a model stores it: the matrix in the form of its source, and the bias if there
//! is one.
//!
//! ```text
//! y = x · weightᵀ + bias      x [T, C_in], weight [C_out, C_in], bias [C_out] -> y [T, C_out]
//! ```
//!
//! ```
//! use engine::nn::projection::Projection;
//! use engine::parameters::Memory;
//! use ndarray::array;
//! let mut source = Memory::default();
//! source.insert("up.weight", array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]].into_dyn());
//! source.insert("up.bias", array![0.0, 0.0, 1.0].into_dyn());
//! let up = Projection::load(&mut source, "up", 2, 3, true)?;
//! assert_eq!(up.forward(array![[1.0, 1.0]].view())?, array![[3.0, 7.0, 12.0]]);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: `torch.nn.Linear`; `transformers.pytorch_utils.Conv1D` for the transposed form in
//! GPT-2's files.

use super::compute::Compute;
use crate::error::Result;
use crate::parameters::{Parameters, Weight, matrix, vector};
use crate::trainable::{self, Kind, Visit};
use ndarray::{Array1, Array2, ArrayView2};

/// A matrix to multiply with, and the bias.
#[derive(Debug, Clone, PartialEq)]
pub struct Projection {
    /// `[C_out, C_in]`.
    pub weight: Weight,
    /// `[C_out]`.
    pub bias: Option<Array1<f32>>,
}

impl Projection {
    /// `NAME.weight`, stored as `[outputs, inputs]`, and with `bias` also `NAME.bias`.
    ///
    /// # Errors
    /// When the source has no such parameters in these shapes.
    pub fn load(
        source: &mut dyn Parameters,
        name: &str,
        inputs: usize,
        outputs: usize,
        bias: bool,
    ) -> Result<Self> {
        let weight = source.weight(&format!("{name}.weight"), outputs, inputs)?;
        let bias = bias.then(|| vector(source, &format!("{name}.bias"), outputs));
        Ok(Self {
            weight,
            bias: bias.transpose()?,
        })
    }

    /// As [`Self::load`] with a bias, from a source that stores the matrix as `[inputs, outputs]`.
    ///
    /// # Errors
    /// When the source has no such parameters in these shapes.
    pub fn load_transposed(
        source: &mut dyn Parameters,
        name: &str,
        inputs: usize,
        outputs: usize,
    ) -> Result<Self> {
        let weight = format!("{name}.weight");
        let stored = matrix(source, &weight, inputs, outputs)?;
        let weight = source.pack(&weight, stored.t().as_standard_layout().into_owned())?;
        let bias = Some(vector(source, &format!("{name}.bias"), outputs)?);
        Ok(Self { weight, bias })
    }

    /// x · weightᵀ + bias.
    ///
    /// # Errors
    /// When `x` has not `C_in` columns.
    pub fn forward(&self, x: ArrayView2<'_, f32>) -> Result<Array2<f32>> {
        // x [T, C_in] -> [T, C_out]
        self.weight
            .linear(x, self.bias.as_ref().map(|bias| bias.view()))
    }

    /// As [`Self::forward`], generic over the executor.
    ///
    /// # Errors
    /// As [`Self::forward`].
    pub fn run<C: Compute>(&self, compute: &mut C, x: &C::Matrix) -> Result<C::Matrix> {
        // x [T, C_in] -> [T, C_out]
        compute.linear(x, &self.weight, self.bias.as_ref())
    }

    /// Visits `NAME.weight` and, where there is one, `NAME.bias`.
    ///
    /// # Errors
    /// When `visit` fails.
    pub fn parameters(&mut self, name: &str, visit: &mut Visit<'_>) -> Result<()> {
        let weight = format!("{name}.weight");
        trainable::weight(&mut self.weight, &weight, Kind::Matrix, visit)?;
        match &mut self.bias {
            Some(bias) => trainable::array(bias, &format!("{name}.bias"), Kind::Bias, visit),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::Memory;
    use ndarray::array;

    #[test]
    fn both_orientations_are_one_layer() {
        let weight = array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
        let mut source = Memory::default();
        source.insert("a.weight", weight.clone().into_dyn());
        source.insert("a.bias", array![1.0, 2.0, 3.0].into_dyn());
        source.insert("b.weight", weight.t().to_owned().into_dyn());
        source.insert("b.bias", array![1.0, 2.0, 3.0].into_dyn());
        let plain = Projection::load(&mut source, "a", 2, 3, true).unwrap();
        assert_eq!(
            plain,
            Projection::load_transposed(&mut source, "b", 2, 3).unwrap()
        );
        assert!(Projection::load(&mut source, "b", 2, 3, true).is_err());
    }
}
