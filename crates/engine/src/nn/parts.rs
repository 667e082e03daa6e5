//! The parts of a Transformer that can be left out, to see the effect of each.
//!
//! ```text
//! scaling:    scores q · kᵀ / √D        without: q · kᵀ
//! mask:       later tokens hidden       without: every token sees the whole target
//! residual:   x + branch(x)             without: branch(x)
//! norm:       norm(x)                   without: x
//! positions:  √C · E[ids] + PE          without: √C · E[ids]
//! ```
//! The parameters of the model are the same with and without a part; those of a norm that is left
//! out are not used.
//!
//! Source: Vaswani et al. 2017, sections 3.1 (residual, norm), 3.2.1 (scaling), 3.2.3 (mask) and
//! 3.5 (positions).

use super::compute::Compute;
use super::norm::Norm;
use crate::error::Result;
use crate::math;

/// The parts of a model that are in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// Scores are divided by √D.
    pub scaling: bool,
    /// The decoder does not see later tokens.
    pub mask: bool,
    /// A branch's input is added to its output.
    pub residual: bool,
    /// Layer norms.
    pub norm: bool,
    /// Positions are added to the embedding.
    pub positions: bool,
}

impl Default for Parts {
    /// All of them: the paper's model.
    fn default() -> Self {
        Self {
            scaling: true,
            mask: true,
            residual: true,
            norm: true,
            positions: true,
        }
    }
}

impl Parts {
    /// Queries of heads of width `head_width`. Attention always divides by √D, so without scaling
    /// the queries are multiplied by it.
    pub(crate) fn queries<C: Compute>(
        self,
        compute: &mut C,
        q: C::Matrix,
        head_width: usize,
    ) -> C::Matrix {
        match self.scaling {
            true => q,
            false => compute.scale(q, math::sqrt(head_width as f32)),
        }
    }

    /// A branch's output plus its input.
    pub(crate) fn add<C: Compute>(
        self,
        compute: &mut C,
        branch: C::Matrix,
        x: &C::Matrix,
    ) -> Result<C::Matrix> {
        match self.residual {
            true => compute.add(branch, x),
            false => Ok(branch),
        }
    }

    /// The norm of a branch's output, after dropout, with its input; `names` are those of sum and
    /// norm for the observer.
    pub(crate) fn add_norm<C: Compute>(
        self,
        compute: &mut C,
        branch: C::Matrix,
        x: &C::Matrix,
        norm: &impl Norm,
        names: [&str; 2],
    ) -> Result<C::Matrix> {
        let branch = compute.dropout(branch);
        let mut sum = self.add(compute, branch, x)?;
        compute.trace(names[0], &mut sum);
        let mut normed = self.norm(compute, norm, &sum)?;
        compute.trace(names[1], &mut normed);
        Ok(normed)
    }

    /// The norm of each row.
    pub(crate) fn norm<C: Compute>(
        self,
        compute: &mut C,
        norm: &impl Norm,
        x: &C::Matrix,
    ) -> Result<C::Matrix> {
        match self.norm {
            true => norm.run(compute, x),
            false => Ok(x.clone()),
        }
    }
}
