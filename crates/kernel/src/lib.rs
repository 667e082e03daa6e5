//! The engine's fast loops, on contiguous slices; the engine exports this crate as
//! `engine::kernel`.
//!
//! It is a crate of its own because it alone is compiled for speed, while the rest of the engine is
//! compiled for size: the files that run full-size models in the tab are half as large as with
//! everything compiled for speed, and as fast.
//!
//! [`mod@reference`] holds plain loops: the documentation, the oracle of the tests, and the
//! fallback without a faster implementation. `generic.rs` and its neighbours write each fast
//! algorithm once over a small vector type; one thin file for each instruction set defines that
//! vector. The public functions are not generic, so they are compiled with this crate's settings
//! and not with the caller's.
//!
//! | file | contents |
//! |---|---|
//! | `dispatch.rs` | the public functions, and the choice of an implementation |
//! | `table.rs` | [`Kernels`], the table of functions of one implementation, with methods that check lengths |
//! | `reference.rs`, `reference_packed.rs` | the plain loops |
//! | `generic.rs`, `generic_rows.rs`, `generic_packed.rs`, `generic_half.rs` | products, rows, packed `f32` weights and those of 16 bits, over the trait of `vector.rs`; `tiles.rs` divides tokens |
//! | `int8_gemm.rs` | products of quantized weights, over a trait of eight rows |
//! | `inner_step.rs` | names for the inner steps of those products |
//! | `wasm.rs` | the intrinsics of WebAssembly, with addresses of 32 bits or of 64 |
//! | `portable.rs`, `x86_same_bits.rs`, `x86_avx2.rs`, `x86_avx512.rs`, `wasm_simd128.rs`, `wasm_relaxed.rs` | the vector of each implementation |
//! | `x86_int8.rs`, `wasm_simd128_int8.rs`, `wasm_relaxed_int8.rs` | the eight rows of each instruction set |
//! | `packed.rs`, `packed_half.rs`, `quantized_activations.rs` | the factors of the products with packed weights |
//! | `math.rs`, `half_precision.rs`, `threads.rs` | elementary functions; numbers of 16 bits; the pool of threads |
//!
//! # Tests
//!
//! `cargo test -p kernel` compares every implementation that the machine has with the plain loops,
//! on random sizes, and its bits with known ones; `tests/kernels_wasm.rs` has the commands for the
//! browser. Miri runs the same suite on a few small sizes, on the portable vector, with packed
//! weights and with threads:
//!
//! ```text
//! rustup +nightly component add miri rust-src
//! MIRIFLAGS="-Zmiri-ignore-leaks -Zmiri-disable-isolation" cargo +nightly miri test -p kernel
//! ```
//!
//! The threads of the pool never end, which Miri would report as a leak; skipped tests are written
//! to a file, which isolation forbids.
//!
//! # Speed
//!
//! The time of the plain loops in microseconds, and how many times faster the other implementations
//! are; each is the fastest of many rounds on one core of an AMD EPYC server (a shared machine:
//! read them as orders of magnitude). AVX2 by `benches/kernels.rs`; SIMD128 and relaxed SIMD in
//! headless Chromium by `tests/speed_wasm.rs`.
//!
//! | kernel | natively | avx2 | in wasm | simd128 | relaxed |
//! |---|---|---|---|---|---|
//! | dot 4096 | 2.2 | 12.2 x | 2.2 | 6.9 x | 6.7 x |
//! | matvec 768x768 | 298 | 10.6 x | 283 | 3.2 x | 4.3 x |
//! | matmul 128x256x256 | 6775 | 38.9 x | 6860 | 19.8 x | 21.7 x |
//! | matmul_nt 128x64x128 | 388 | 16.3 x | 538 | 5.0 x | 9.8 x |
//! | matmul_tn 64x1024x256 | 26145 | 40.5 x | 21430 | 19.4 x | |
//! | mix 128x128x64 | 695 | 21.2 x | 624 | 10.3 x | 9.6 x |
//! | softmax 1024 | 17.0 | 27.4 x | 6.2 | 3.0 x | 3.7 x |
//! | layer_norm 768 | 0.9 | 6.0 x | 1.1 | 4.4 x | 4.6 x |
//! | rms_norm 768 | 0.5 | 5.1 x | 0.5 | 4.0 x | 2.5 x |
//! | gelu 3072 | 16.5 | 7.1 x | 19.4 | 2.6 x | 2.6 x |
//! | relu 3072 | 0.7 | 2.6 x | 0.8 | 2.5 x | 2.6 x |
//! | sum 4096 | 2.1 | 20.1 x | 2.1 | 13.0 x | 12.2 x |
//! | max 4096 | 2.2 | 12.2 x | 2.1 | 1.8 x | 1.8 x |
//!
//! `axpy` is the plain loop everywhere: the compiler vectorises it, and a version of our own was
//! 1.4 times as fast with AVX2 and no faster in wasm, too little for its lines.
//!
//! # Packed weights
//!
//! A model's matrices are packed once, when it is loaded ([`PackedBlocks`], [`PackedHalf`],
//! [`PackedF32`]), into panels of eight rows in the order in which [`matmul_blocks`],
//! [`matmul_half`] and [`matmul_f32`] read them. Numbers of 16 bits stay as they are and are widened
//! to `f32` while they are multiplied, which is exact: the results have the bits of [`matmul_f32`].
//! Quantized weights are multiplied as integers, with activations in eight bits
//! ([`QuantizedActivations`]): sums within a block are exact and equal everywhere. `int8_gemm.rs`
//! writes the algorithm once over eight rows at a time. `BENCHMARKS.md` has the speed of each type on
//! each path, the ceilings of the instructions, and what was tried.
//!
//! Most of the speed comes from two decisions: the order of the weights, and inner loops so short
//! that all their values stay in registers. LLVM would unroll these loops and first load the values
//! that all turns share; `opaque` in `int8_gemm.rs` hides the number of turns from it.

#![cfg_attr(target_arch = "wasm64", feature(simd_wasm64))]

mod dispatch;
mod half_precision;
mod inner_step;
pub mod math;
mod packed;
mod packed_half;
mod quantized_activations;
pub mod reference;
#[allow(unsafe_code)]
mod reference_packed;
#[allow(unsafe_code)]
mod table;
#[allow(unsafe_code)]
pub mod threads;

#[cfg(any(
    target_arch = "x86_64",
    all(target_family = "wasm", target_feature = "simd128")
))]
#[macro_use]
#[allow(unsafe_code)]
mod vector;
#[cfg(any(
    target_arch = "x86_64",
    all(target_family = "wasm", target_feature = "simd128")
))]
#[allow(unsafe_code)]
mod generic;
#[cfg(any(
    target_arch = "x86_64",
    all(target_family = "wasm", target_feature = "simd128")
))]
#[allow(unsafe_code)]
mod generic_half;
#[cfg(any(
    target_arch = "x86_64",
    all(target_family = "wasm", target_feature = "simd128")
))]
#[allow(unsafe_code)]
mod generic_packed;
#[cfg(any(
    target_arch = "x86_64",
    all(target_family = "wasm", target_feature = "simd128")
))]
#[allow(unsafe_code)]
mod generic_rows;
#[cfg(any(
    target_arch = "x86_64",
    all(target_family = "wasm", target_feature = "simd128")
))]
#[allow(unsafe_code)]
mod int8_gemm;
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod portable;
#[cfg(any(
    target_arch = "x86_64",
    all(target_family = "wasm", target_feature = "simd128")
))]
#[allow(unsafe_code)]
mod tiles;
#[cfg(target_family = "wasm")]
mod wasm;
#[cfg(all(
    feature = "relaxed-simd",
    target_family = "wasm",
    target_feature = "simd128",
    target_feature = "relaxed-simd"
))]
#[allow(unsafe_code)]
mod wasm_relaxed;
#[cfg(all(
    feature = "relaxed-simd",
    target_family = "wasm",
    target_feature = "simd128",
    target_feature = "relaxed-simd"
))]
#[allow(unsafe_code)]
mod wasm_relaxed_int8;
#[cfg(all(target_family = "wasm", target_feature = "simd128"))]
#[allow(unsafe_code)]
mod wasm_simd128;
#[cfg(all(target_family = "wasm", target_feature = "simd128"))]
#[allow(unsafe_code)]
mod wasm_simd128_int8;
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod x86_avx2;
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod x86_avx512;
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod x86_int8;
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod x86_same_bits;

#[cfg(not(target_family = "wasm"))]
pub use dispatch::use_same_bits;
pub use dispatch::{
    axpy, chosen, dot, gelu, gelu_tanh, implementations, inner_steps, layer_norm, matmul,
    matmul_blocks, matmul_f32, matmul_half, matmul_nt, matmul_tn, matvec, max, mix, relu, rms_norm,
    same_bits, silu, softmax, steady, sum,
};
pub use half_precision::widen;
pub use inner_step::InnerStep;
pub use packed::{BLOCK, BlockType, PANEL_ROWS, PackedBlocks, PackedF32};
pub use packed_half::{HalfType, PackedHalf};
pub use quantized_activations::QuantizedActivations;
pub use table::{Kernels, ProductShape};
#[cfg(target_family = "wasm")]
pub use wasm::memory_bytes;
