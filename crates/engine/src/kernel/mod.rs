//! The only doors to fast loops, on contiguous slices.
//!
//! [`reference`] is plain loops: the documentation, the oracle of the tests, and what runs where nothing faster exists.

mod dispatch;
pub mod reference;
mod table;

pub use dispatch::{
    axpy, chosen, dot, gelu, implementations, layer_norm, matmul, matmul_nt, matvec, max, mix,
    relu, rms_norm, softmax, sum,
};
pub use table::Kernels;
