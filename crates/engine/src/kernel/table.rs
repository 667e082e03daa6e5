//! One implementation of all kernels, as a table of functions.

/// All kernels of one instruction set. The functions mean what their namesakes in [`crate::kernel`] say.
#[derive(Debug, Clone, Copy)]
pub struct Kernels {
    /// `reference`, `avx2`, `simd128` or `relaxed`.
    pub name: &'static str,
    /// See [`crate::kernel::dot`].
    pub dot: fn(&[f32], &[f32]) -> f32,
    /// See [`crate::kernel::axpy`].
    pub axpy: fn(f32, &[f32], &mut [f32]),
    /// See [`crate::kernel::matvec`].
    pub matvec: fn(&[f32], &[f32], &mut [f32]),
    /// See [`crate::kernel::matmul`].
    pub matmul: fn(&[f32], &[f32], &mut [f32], usize, usize, usize),
    /// See [`crate::kernel::matmul_nt`].
    pub matmul_nt: fn(&[f32], &[f32], &mut [f32], usize, usize, usize),
    /// See [`crate::kernel::mix`].
    pub mix: fn(&[f32], &[f32], &mut [f32], usize, usize, usize),
    /// See [`crate::kernel::softmax`].
    pub softmax: fn(&mut [f32]),
    /// See [`crate::kernel::layer_norm`].
    pub layer_norm: fn(&[f32], &[f32], &[f32], f32, &mut [f32]),
    /// See [`crate::kernel::rms_norm`].
    pub rms_norm: fn(&[f32], &[f32], f32, &mut [f32]),
    /// See [`crate::kernel::gelu`].
    pub gelu: fn(&mut [f32]),
    /// See [`crate::kernel::relu`].
    pub relu: fn(&mut [f32]),
    /// See [`crate::kernel::sum`].
    pub sum: fn(&[f32]) -> f32,
    /// See [`crate::kernel::max`].
    pub max: fn(&[f32]) -> f32,
}
