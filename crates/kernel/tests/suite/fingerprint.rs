//! The bits of all kernels in one number: an implementation that rounds anything in another way has
//! another number.

use super::{numbers, random::mix};
use kernel::math::{self, double};
use kernel::{BLOCK, BlockType, Kernels, PackedBlocks, PackedF32, QuantizedActivations};

/// Implementations and their numbers. Those with the same number do the same operations in the same
/// order, so a model that is trained on any of them is the same: the portable vectors and SIMD128, with
/// four lanes; and the others of x86-64, which fuse products and sums.
/// Relaxed SIMD has no number: each machine may round in its own way.
const KNOWN: [(&str, u64); 7] = [
    ("reference", 0x7240_8e5a_cd90_62af),
    ("portable", 0x9a94_d4bb_7e3f_dae9),
    ("portable-avx2", 0x9a94_d4bb_7e3f_dae9),
    ("simd128", 0x9a94_d4bb_7e3f_dae9),
    ("avx2", 0xa4fc_3eeb_ad0e_8a5e),
    ("avx-vnni", 0xa4fc_3eeb_ad0e_8a5e),
    ("avx-512", 0xa4fc_3eeb_ad0e_8a5e),
];

/// The number of the elementary functions.
const KNOWN_MATH: u64 = 0xa93d_e37a_de94_d8c2;

/// Compares all implementations of this machine, and the elementary functions, with the known
/// numbers.
pub(crate) fn check() {
    let known = |name| KNOWN.iter().find(|(known, _)| *known == name);
    let mut different = Vec::new();
    for kernels in kernel::implementations() {
        let found = of(kernels);
        if known(kernels.name()).is_some_and(|(_, known)| *known != found) {
            different.push(format!("{}: {found:#x}", kernels.name()));
        }
    }
    if of_math() != KNOWN_MATH {
        different.push(format!("math: {:#x}", of_math()));
    }
    assert!(different.is_empty(), "{different:#?}");
}

/// Mixes results in order into one number.
struct Bits(u64);

impl Bits {
    fn take(&mut self, x: &[f32]) {
        for x in x {
            self.0 = mix(self.0 ^ u64::from(x.to_bits()));
        }
    }
}

/// The results of every kernel on sizes with and without remainders.
fn of(kernels: &Kernels) -> u64 {
    let mut bits = Bits(0);
    for (seed, length) in (0..).zip([1, 3, 4, 7, 8, 15, 33, 64, 97, 130]) {
        rows(kernels, seed, length, &mut bits);
    }
    for (seed, sizes) in (0..).zip([[1, 1, 1], [3, 5, 2], [4, 8, 16], [9, 33, 21], [17, 64, 40]]) {
        products(kernels, seed, sizes, &mut bits);
        packed(kernels, seed, sizes, &mut bits);
    }
    bits.0
}

fn rows(kernels: &Kernels, seed: u64, length: usize, bits: &mut Bits) {
    let draw = |name| numbers(seed, name, length);
    let (x, gamma, beta) = (draw("x"), draw("gamma"), draw("beta"));
    bits.take(&[kernels.dot(&x, &gamma), kernels.sum(&x), kernels.max(&x)]);
    let mut out = beta.clone();
    kernels.axpy(0.3, &x, &mut out);
    bits.take(&out);
    kernels.layer_norm(&x, &gamma, &beta, 1e-5, &mut out);
    bits.take(&out);
    kernels.rms_norm(&x, &gamma, 1e-5, &mut out);
    bits.take(&out);
    for change in [
        Kernels::softmax,
        Kernels::gelu,
        Kernels::relu,
        Kernels::silu,
        Kernels::exp,
        Kernels::gelu_tanh,
    ] {
        out.copy_from_slice(&x);
        change(kernels, &mut out);
        bits.take(&out);
    }
}

fn products(kernels: &Kernels, seed: u64, [rows, inner, cols]: [usize; 3], bits: &mut Bits) {
    let (a, b) = (
        numbers(seed, "a", rows * inner),
        numbers(seed, "b", inner * cols),
    );
    for product in [
        Kernels::matmul,
        Kernels::matmul_nt,
        Kernels::matmul_tn,
        Kernels::mix,
    ] {
        let mut out = vec![0.0; rows * cols];
        product(kernels, &a, &b, &mut out, rows, inner, cols);
        bits.take(&out);
    }
    let mut out = vec![0.0; rows];
    kernels.matvec(&a, &b[..inner], &mut out);
    bits.take(&out);
}

fn packed(kernels: &Kernels, seed: u64, [rows, inner, tokens]: [usize; 3], bits: &mut Bits) {
    let weights = PackedF32::new(&numbers(seed, "w", rows * inner), rows, inner);
    let mut out = vec![0.0; tokens * rows];
    kernels.matmul_f32(&weights, &numbers(seed, "x", tokens * inner), &mut out);
    bits.take(&out);

    let cols = (inner % 4 + 1) * BLOCK;
    let mut activations = QuantizedActivations::new();
    activations.quantize_by(kernels, &numbers(seed, "tokens", tokens * cols), cols);
    bits.take(activations.scales());
    for kind in [BlockType::Q8_0, BlockType::Q4_0] {
        let mut bytes = Vec::new();
        for block in 0..rows * cols / BLOCK {
            // Scales about 0.01 in half precision, whole numbers of all sizes.
            bytes.extend((0x2100 + block as u16 % 256).to_le_bytes());
            bytes
                .extend((2..kind.block_bytes()).map(|n| mix(seed + (block * 64 + n) as u64) as u8));
        }
        let weights = PackedBlocks::new(kind, &bytes, rows, cols);
        kernels.matmul_blocks(&weights, &activations, &mut out);
        bits.take(&out);
    }
}

/// The results of the elementary functions, which are the same code everywhere.
fn of_math() -> u64 {
    let single: [fn(f32) -> f32; 7] = [
        math::exp,
        math::ln,
        math::tanh,
        math::sin,
        math::cos,
        math::erf,
        math::sqrt,
    ];
    let wide: [fn(f64) -> f64; 7] = [
        double::exp,
        double::ln,
        double::tanh,
        double::sin,
        double::cos,
        double::erf,
        double::sqrt,
    ];
    let mut state = 0;
    for x in numbers(1, "math", 2_000) {
        for (n, (f, g)) in single.iter().zip(wide).enumerate() {
            // The logarithm and the root of a negative number are NaN, whose bits are not the same
            // everywhere.
            let x = if matches!(n, 1 | 6) { x.abs() } else { x };
            state = mix(state ^ u64::from(f(x).to_bits()));
            state = mix(state ^ g(f64::from(x)).to_bits());
        }
        let power = math::pow(x.abs(), 0.7);
        state = mix(state ^ u64::from(power.to_bits()));
        state = mix(state ^ double::pow(f64::from(x.abs()), 1.3).to_bits());
    }
    state
}
