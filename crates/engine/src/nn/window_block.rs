//! The block of Swin V2: attention within windows, then an MLP, each normalised before it is added.
//!
//! ```text
//! a = x + norm_1(uncut(attention(partition(x, shift))))     y = a + norm_2(mlp(a))      x [H·W, C] -> [H·W, C]
//! ```
//! Every second block of a stage shifts the map by half a window, so windows exchange information.
//! It is assembled in [`crate::model::swin`]; `examples/reference` compares it with PyTorch's.
//!
//! Source: Liu et al. 2022, "Swin Transformer V2", section 3.2 (res-post-norm) and figure 1; Liu et
//! al. 2021, equation 3.

use super::cosine_attention::CosineAttention;
use super::feed_forward::FeedForward;
use super::norm::LayerNorm;
use super::pre_norm::Mlp;
use super::window::{partition, uncut};
use crate::error::Result;
use crate::trace::{Observer, observe};
use ndarray::{Array2, Array3, ArrayView2};

/// The parameters of one block, and its windows.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowBlock {
    /// Rows and columns of the map.
    pub size: (usize, usize),
    /// M.
    pub window: usize,
    /// Rows and columns by which the map is shifted, below M.
    pub shift: usize,
    /// `[N, M·M, M·M]`, where the map is shifted.
    pub mask: Option<Array3<f32>>,
    /// Attention within each window.
    pub attention: CosineAttention,
    /// The norm of the output of attention.
    pub norm_1: LayerNorm,
    /// The MLP on each token.
    pub mlp: FeedForward,
    /// The norm of the output of the MLP.
    pub norm_2: LayerNorm,
}

impl WindowBlock {
    /// The block. The observer gets `windows`, `attention.…` (see [`CosineAttention::forward`]),
    /// `norm_1`, `residual_1`, `mlp.…`, `norm_2` and `output`.
    ///
    /// # Errors
    /// When the map has another size, or a shape does not fit.
    pub fn forward(
        &self,
        x: ArrayView2<'_, f32>,
        trace: &mut Option<&mut dyn Observer>,
    ) -> Result<Array2<f32>> {
        // x [H·W, C] -> [H·W, C]
        let mut windows = partition(x, self.size, self.window, self.shift)?;
        observe(trace, "windows", &mut windows);
        let mask = self.mask.as_ref().map(|mask| mask.view());
        let attended = self.attention.forward(windows.view(), mask, trace)?;
        let attended = uncut(attended.view(), self.size, self.window, self.shift)?;
        let mut middle = self.norm_1.forward(attended.view())?;
        observe(trace, "norm_1", &mut middle);
        middle += &x;
        observe(trace, "residual_1", &mut middle);
        let changed = self.mlp.forward(middle.view(), trace)?;
        let mut output = self.norm_2.forward(changed.view())?;
        observe(trace, "norm_2", &mut output);
        output += &middle;
        observe(trace, "output", &mut output);
        Ok(output)
    }
}
