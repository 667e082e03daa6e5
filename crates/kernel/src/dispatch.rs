//! The public kernels: each checks the lengths of its arguments once, then runs the best
//! implementation that this machine has.
//!
//! A wrong length is a bug of the caller, as a wrong index is, and panics. The engine's layers
//! check shapes first and return errors. The checks here also make the pointer arithmetic of the
//! implementations sound.

use super::threads::{self, LEAST_ELEMENTS};
use super::{
    BlockType, InnerStep, PackedBlocks, PackedF32, PackedHalf, QuantizedActivations, reference,
    table::Kernels,
};
use std::sync::OnceLock;

/// Every implementation that can run here, the plain loops first, the fastest last.
pub fn implementations() -> Vec<&'static Kernels> {
    [
        Some(&reference::KERNELS),
        #[cfg(target_arch = "x86_64")]
        Some(&super::portable::KERNELS),
        #[cfg(target_arch = "x86_64")]
        super::x86_same_bits::detect(),
        #[cfg(target_arch = "x86_64")]
        super::x86_avx2::detect(),
        #[cfg(target_arch = "x86_64")]
        super::x86_avx2::detect_vnni(),
        #[cfg(target_arch = "x86_64")]
        super::x86_avx512::detect(),
        #[cfg(all(target_family = "wasm", target_feature = "simd128"))]
        Some(&super::wasm_simd128::KERNELS),
        #[cfg(all(
            feature = "relaxed-simd",
            target_family = "wasm",
            target_feature = "simd128",
            target_feature = "relaxed-simd"
        ))]
        Some(&super::wasm_relaxed::KERNELS),
        #[cfg(all(
            feature = "relaxed-simd",
            target_family = "wasm",
            target_feature = "simd128",
            target_feature = "relaxed-simd"
        ))]
        super::wasm_relaxed::detect_pairs(),
        #[cfg(all(
            feature = "relaxed-simd",
            target_family = "wasm",
            target_feature = "simd128",
            target_feature = "relaxed-simd"
        ))]
        Some(super::wasm_relaxed::detect()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The implementation in use.
static BEST: OnceLock<&'static Kernels> = OnceLock::new();

/// Has this process use [`same_bits`] for everything, so that its results can be compared with
/// those of a browser to the last bit. Returns false where another implementation is in use
/// already: the choice is made once, before the first kernel runs.
#[cfg(not(target_family = "wasm"))]
pub fn use_same_bits() -> bool {
    std::ptr::eq(*BEST.get_or_init(same_bits), same_bits())
}

/// The last of [`implementations`], found once.
pub(crate) fn best() -> &'static Kernels {
    BEST.get_or_init(|| {
        // In wasm the build decides; naming the one that it uses leaves the others out of the file.
        #[cfg(all(
            feature = "relaxed-simd",
            target_family = "wasm",
            target_feature = "simd128",
            target_feature = "relaxed-simd"
        ))]
        return super::wasm_relaxed::detect();
        #[cfg(all(
            target_family = "wasm",
            target_feature = "simd128",
            not(all(feature = "relaxed-simd", target_feature = "relaxed-simd"))
        ))]
        return &super::wasm_simd128::KERNELS;
        #[cfg(not(all(target_family = "wasm", target_feature = "simd128")))]
        return implementations()
            .last()
            .copied()
            .unwrap_or(&reference::KERNELS);
    })
}

/// The fastest implementation whose results depend on the build alone: never relaxed SIMD, which
/// each machine may round in its own way. Training uses it, because small differences grow there.
pub fn steady() -> &'static Kernels {
    static STEADY: OnceLock<&'static Kernels> = OnceLock::new();
    STEADY.get_or_init(|| {
        let mut all = implementations().into_iter().rev();
        all.find(|kernels| !kernels.name().starts_with("relaxed"))
            .unwrap_or(&reference::KERNELS)
    })
}

/// The implementation with four lanes, added in one order: SIMD128 in wasm, natively the same bits
/// by AVX2, or in plain Rust where a processor lacks it. It is for results that must be repeated
/// elsewhere to the last bit, such as a training run in the tab. On other processors it is the plain
/// loops.
pub fn same_bits() -> &'static Kernels {
    #[cfg(target_arch = "x86_64")]
    return super::x86_same_bits::detect().unwrap_or(&super::portable::KERNELS);
    #[cfg(all(target_family = "wasm", target_feature = "simd128"))]
    return &super::wasm_simd128::KERNELS;
    #[cfg(not(any(
        target_arch = "x86_64",
        all(target_family = "wasm", target_feature = "simd128")
    )))]
    return &reference::KERNELS;
}

/// The name of the implementation in use, one of those that [`Kernels::name`] lists.
pub fn chosen() -> &'static str {
    best().name()
}

/// The inner steps of [`matmul_blocks`] in use, in the order of [`BlockType::ALL`]: for one token,
/// and for many.
pub fn inner_steps() -> [[InnerStep; 2]; BlockType::ALL.len()] {
    BlockType::ALL.map(|kind| best().inner_steps(kind))
}

/// The dot product Σᵢ aᵢ bᵢ.
///
/// # Panics
/// When the lengths differ.
#[track_caller]
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    // a [N], b [N] -> scalar
    best().dot(a, b)
}

/// The update y ← y + alpha · x.
///
/// # Panics
/// When the lengths differ.
#[track_caller]
pub fn axpy(alpha: f32, x: &[f32], y: &mut [f32]) {
    // x [N], y [N]
    best().axpy(alpha, x, y);
}

/// The product out = A · x.
///
/// # Panics
/// When `a` does not hold `out.len()` rows of `x.len()`.
#[track_caller]
pub fn matvec(a: &[f32], x: &[f32], out: &mut [f32]) {
    // a [M, K], x [K], out [M]
    best().matvec(a, x, out);
}

/// The product C = A · B. Each element of C is computed by the same operations in the same order
/// wherever its row is.
///
/// # Panics
/// When a length does not fit its shape.
#[track_caller]
pub fn matmul(a: &[f32], b: &[f32], out: &mut [f32], rows: usize, inner: usize, cols: usize) {
    // a [M, K], b [K, N], out [M, N]; rows = M, inner = K, cols = N
    best().matmul(a, b, out, rows, inner, cols);
}

/// The product C = A · Bᵀ. Each element of C is computed by the same operations in the same order
/// wherever its row and column are.
///
/// # Panics
/// When a length does not fit its shape.
#[track_caller]
pub fn matmul_nt(a: &[f32], b: &[f32], out: &mut [f32], rows: usize, inner: usize, cols: usize) {
    // a [M, K], b [N, K], out [M, N]; rows = M, inner = K, cols = N
    best().matmul_nt(a, b, out, rows, inner, cols);
}

/// The product C = Aᵀ · B: the gradient of a weight. Each element of C is computed by the same
/// operations in the same order wherever its row is.
///
/// # Panics
/// When a length does not fit its shape.
#[track_caller]
pub fn matmul_tn(a: &[f32], b: &[f32], out: &mut [f32], rows: usize, inner: usize, cols: usize) {
    // a [K, M], b [K, N], out [M, N]; rows = M, inner = K, cols = N
    best().matmul_tn(a, b, out, rows, inner, cols);
}

/// The weighted sum C = W · B, where a weight of exactly 0 leaves its row of B unread.
///
/// This is attention's weighted sum of values. In [`matmul`] a weight of 0 still multiplies: 0 · ∞
/// is NaN and 0 · −1 is −0, so a masked token could leave a trace in the result. Here it cannot,
/// with any values.
///
/// # Panics
/// When a length does not fit its shape.
#[track_caller]
pub fn mix(
    weights: &[f32],
    values: &[f32],
    out: &mut [f32],
    rows: usize,
    inner: usize,
    cols: usize,
) {
    // weights [M, K], values [K, N], out [M, N]; rows = M, inner = K, cols = N
    best().mix(weights, values, out, rows, inner, cols);
}

/// The softmax in place: exp(xᵢ − max x) / Σⱼ exp(xⱼ − max x).
///
/// An entry of −∞ becomes exactly 0. A slice with −∞ alone becomes all 0, by choice: a token that
/// may attend to no other has no weights. NaN or +∞ anywhere makes every entry NaN.
pub fn softmax(x: &mut [f32]) {
    // x [N]
    best().softmax(x);
}

/// The layer norm out = (x − mean x) / √(var x + eps) · gamma + beta, with the variance over N (Ba,
/// Kiros and Hinton 2016, equation 3).
///
/// # Panics
/// When the lengths differ.
#[track_caller]
pub fn layer_norm(x: &[f32], gamma: &[f32], beta: &[f32], eps: f32, out: &mut [f32]) {
    // x, gamma, beta, out [C]
    best().layer_norm(x, gamma, beta, eps, out);
}

/// The RMS norm out = x / √(mean x² + eps) · gamma (Zhang and Sennrich 2019, equation 4).
///
/// # Panics
/// When the lengths differ.
#[track_caller]
pub fn rms_norm(x: &[f32], gamma: &[f32], eps: f32, out: &mut [f32]) {
    // x, gamma, out [C]
    best().rms_norm(x, gamma, eps, out);
}

/// The number of elements that one thread takes together when threads share a slice: whole vectors
/// on every machine, so the bits of an element do not depend on the thread that computes it.
const UNIT: usize = 64;

/// Changes each element, on all threads.
fn element_wise(x: &mut [f32], change: impl Fn(&mut [f32]) + Sync) {
    threads::spans(x, UNIT, LEAST_ELEMENTS / UNIT, |_, part| change(part));
}

/// GELU in place: x · Φ(x), Φ the normal distribution function (Hendrycks and Gimpel 2016, equation
/// 1).
pub fn gelu(x: &mut [f32]) {
    // x [N]
    element_wise(x, |part| best().gelu(part));
}

/// ReLU in place: max(x, 0); NaN stays NaN.
pub fn relu(x: &mut [f32]) {
    // x [N]
    best().relu(x);
}

/// The sum Σᵢ xᵢ.
pub fn sum(x: &[f32]) -> f32 {
    // x [N] -> scalar
    best().sum(x)
}

/// The largest element; −∞ for an empty slice, NaN if any element is NaN.
pub fn max(x: &[f32]) -> f32 {
    // x [N] -> scalar
    best().max(x)
}

/// SiLU in place: x / (1 + exp(−x)) (Elfwing, Uchibe and Doya 2018, equation 1).
pub fn silu(x: &mut [f32]) {
    // x [N]
    element_wise(x, |part| best().silu(part));
}

/// GELU in place by the approximation that GPT-2 uses: x (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2.
pub fn gelu_tanh(x: &mut [f32]) {
    // x [N]
    element_wise(x, |part| best().gelu_tanh(part));
}

/// The product out = X · Wᵀ, with a weight matrix that was packed when it was loaded. Each element
/// is computed by the same operations in the same order, for any number of tokens and any position
/// of its row and token.
///
/// # Panics
/// When a length does not fit its shape.
#[track_caller]
pub fn matmul_f32(weights: &PackedF32, x: &[f32], out: &mut [f32]) {
    // weights [M, K], x [T, K], out [T, M]
    best().matmul_f32(weights, x, out);
}

/// The product of [`matmul_f32`] with weights of 16 bits, which are widened as they are read: it has
/// the bits of the product with the same weights in `f32`.
///
/// # Panics
/// When a length does not fit its shape.
#[track_caller]
pub fn matmul_half(weights: &PackedHalf, x: &[f32], out: &mut [f32]) {
    // weights [M, K], x [T, K], out [T, M]
    best().matmul_half(weights, x, out);
}

/// The product out = X · Wᵀ, with quantized weights and activations:
/// out[t, m] = Σ_b (Σ_k w_mbk x_tbk) · (s_mb · s_tb), b over blocks of 32 numbers, or over groups
/// of 16 that have a scale of their own. A block's least weight adds (Σ_k x_tbk) · s_tb times it.
///
/// The inner sums are integers and exact on every machine. The outer sum is in `f32`, in the order
/// of the blocks, by the same operations for any number of tokens and any position of row and
/// token; so no bit of a result depends on these.
///
/// ```
/// use kernel::{QuantizedActivations, BlockType, PackedBlocks, matmul_blocks};
///
/// // One row: the scale 0.5 in half precision, then 32 times the number 2.
/// let mut block = vec![0x00, 0x38];
/// block.extend([2; 32]);
/// let weights = PackedBlocks::new(BlockType::Q8_0, &block, 1, 32);
/// let mut tokens = QuantizedActivations::new();
/// tokens.quantize(&[127.0; 32], 32);
/// let mut out = [0.0];
/// matmul_blocks(&weights, &tokens, &mut out);
/// assert_eq!(out[0], 32.0 * (0.5 * 2.0) * 127.0);
/// ```
///
/// # Panics
/// When the shapes do not fit each other.
#[track_caller]
pub fn matmul_blocks(weights: &PackedBlocks, tokens: &QuantizedActivations, out: &mut [f32]) {
    // weights [M, K], tokens [T, K], out [T, M]
    best().matmul_blocks(weights, tokens, out);
}
