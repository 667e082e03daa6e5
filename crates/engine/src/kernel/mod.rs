//! The only doors to fast loops, on contiguous slices.
//!
//! [`reference`] is plain loops: the documentation, the oracle of the tests, and what runs where nothing faster exists.
//! `generic.rs` writes each fast algorithm once over a small vector type; one thin file for each instruction set says what that
//! vector is. The functions are not generic at this border, so that they are compiled with this crate's settings and not with
//! the caller's.

mod dispatch;
pub mod reference;
#[allow(unsafe_code)]
mod table;

#[cfg(any(
    target_arch = "x86_64",
    all(target_arch = "wasm32", target_feature = "simd128")
))]
#[macro_use]
#[allow(unsafe_code)]
mod vector;
#[cfg(any(
    target_arch = "x86_64",
    all(target_arch = "wasm32", target_feature = "simd128")
))]
#[allow(unsafe_code)]
mod generic;
#[cfg(any(
    target_arch = "x86_64",
    all(target_arch = "wasm32", target_feature = "simd128")
))]
#[allow(unsafe_code)]
mod generic_rows;
#[cfg(all(
    feature = "relaxed-simd",
    target_arch = "wasm32",
    target_feature = "simd128",
    target_feature = "relaxed-simd"
))]
#[allow(unsafe_code)]
mod wasm_relaxed;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
#[allow(unsafe_code)]
mod wasm_simd128;
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod x86_avx2;

pub use dispatch::{
    axpy, chosen, dot, gelu, implementations, layer_norm, matmul, matmul_nt, matvec, max, mix,
    relu, rms_norm, softmax, sum,
};
pub use table::Kernels;
