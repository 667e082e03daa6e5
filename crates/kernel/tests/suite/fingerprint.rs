//! The bits of all kernels in one number: an implementation that rounds anything in another way has
//! another number.

use super::{numbers, random::mix};
use kernel::math::{self, double};
use kernel::{
    BLOCK, BlockType, HalfType, Kernels, PackedBlocks, PackedF32, PackedHalf, QuantizedActivations,
};

/// Implementations and their numbers. Those with the same number do the same operations in the same
/// order, so a model that is trained on any of them is the same: the portable vectors and SIMD128, with
/// four lanes; and the others of x86-64, which fuse products and sums.
/// Relaxed SIMD has no number: each machine may round in its own way. But on one machine all its
/// implementations have the same, and all have [`KNOWN_WHOLE`].
const KNOWN: [(&str, u64); 7] = [
    ("reference", 0x7f42_970e_a0ab_0770),
    ("portable", 0xf801_acd4_b43a_a3f0),
    ("portable-avx2", 0xf801_acd4_b43a_a3f0),
    ("simd128", 0xf801_acd4_b43a_a3f0),
    ("avx2", 0xeedd_85fb_aec4_8621),
    ("avx-vnni", 0xeedd_85fb_aec4_8621),
    ("avx-512", 0xeedd_85fb_aec4_8621),
];

/// The number of packed products of whole numbers so small that nothing is rounded: the plain loops
/// and relaxed SIMD have it too.
const KNOWN_WHOLE: u64 = 0x91e8_d31e_1537_aa3f;

/// The number of the elementary functions.
const KNOWN_MATH: u64 = 0xa93d_e37a_de94_d8c2;

/// Compares all implementations of this machine, and the elementary functions, with the known
/// numbers.
pub(crate) fn check() {
    let known = |name| KNOWN.iter().find(|(known, _)| *known == name);
    let (mut different, mut relaxed) = (Vec::new(), None);
    for kernels in kernel::implementations() {
        let (name, found, whole) = (kernels.name(), of(kernels), of_whole(kernels));
        let expected = match known(name) {
            Some((_, known)) => *known,
            None => *relaxed.get_or_insert(found),
        };
        if found != expected {
            different.push(format!("{name}: {found:#x}"));
        }
        if whole != KNOWN_WHOLE {
            different.push(format!("{name}, whole numbers: {whole:#x}"));
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
        halves(kernels, seed, sizes, &mut bits);
    }
    bits.0
}

/// The results of packed products of whole numbers, with one token and with many.
fn of_whole(kernels: &Kernels) -> u64 {
    let mut bits = Bits(0);
    for (seed, [rows, blocks, tokens]) in (0..).zip([[1, 1, 1], [9, 3, 1], [17, 4, 9], [24, 2, 6]])
    {
        let (cols, count) = (blocks * BLOCK, tokens * blocks * BLOCK);
        let draw = |n: usize| (mix(seed + n as u64) % 255) as f32 - 127.0;
        // The largest of a block is 127, so its scale is 1.
        let x: Vec<f32> = (0..count)
            .map(|n| if n % BLOCK == 0 { 127.0 } else { draw(n) })
            .collect();
        let mut activations = QuantizedActivations::new();
        activations.quantize_by(kernels, &x, cols);
        let mut out = vec![0.0; tokens * rows];
        for kind in BlockType::ALL {
            // The scale 1 and, where a type has it, the least weight or the second scale −2.
            let bytes = blocks_of(kind, rows * blocks, seed, |_| [0x3c00, 0xc000]);
            let weights = PackedBlocks::new(kind, &bytes, rows, cols);
            kernels.matmul_blocks(&weights, &activations, &mut out);
            bits.take(&out);
        }
        // Multiples of 1/64 below 2.
        for (kind, whole) in [(HalfType::F16, 0x3000), (HalfType::Bf16, 0x3e00)] {
            let bytes: Vec<u8> = (0..rows * cols)
                .flat_map(|n| {
                    let drawn = mix(seed + n as u64) as u16;
                    ((whole + 0x80 * (drawn % 4)) | (drawn & 0x8000)).to_le_bytes()
                })
                .collect();
            kernels.matmul_half(&PackedHalf::new(kind, &bytes, rows, cols), &x, &mut out);
            bits.take(&out);
        }
    }
    bits.0
}

/// Blocks in the form of a file: the heads that `heads` gives for each, then numbers of all sizes.
fn blocks_of(
    kind: BlockType,
    count: usize,
    seed: u64,
    heads: impl Fn(usize) -> [u16; 2],
) -> Vec<u8> {
    let has_two = !matches!(kind, BlockType::Q8_0 | BlockType::Q4_0);
    let mut bytes = Vec::new();
    for block in 0..count {
        let heads = heads(block);
        let heads = &heads[..1 + usize::from(has_two)];
        bytes.extend(heads.iter().flat_map(|head| head.to_le_bytes()));
        let numbers = 2 * heads.len()..kind.block_bytes();
        bytes.extend(numbers.map(|n| mix(seed + (block * 64 + n) as u64) as u8));
    }
    bytes
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
    let mut one = QuantizedActivations::new();
    one.quantize_by(kernels, &numbers(seed, "token", cols), cols);
    for kind in BlockType::ALL {
        // Scales about 0.01 in half precision, some below its normal numbers, and least weights
        // about −0.01.
        let bytes = blocks_of(kind, rows * cols / BLOCK, seed, |block| {
            let scale = if block % 97 == 96 {
                0x0123
            } else {
                0x2100 + block as u16 % 256
            };
            [scale, 0xa100 + block as u16 % 256]
        });
        let weights = PackedBlocks::new(kind, &bytes, rows, cols);
        kernels.matmul_blocks(&weights, &activations, &mut out);
        bits.take(&out);
        kernels.matmul_blocks(&weights, &one, &mut out[..rows]);
        bits.take(&out[..rows]);
    }
}

/// Products with weights of 16 bits, with many tokens and with one.
fn halves(kernels: &Kernels, seed: u64, [rows, inner, tokens]: [usize; 3], bits: &mut Bits) {
    let x = numbers(seed, "x", tokens * inner);
    for kind in [HalfType::F16, HalfType::Bf16] {
        let bytes: Vec<u8> = (0..rows * inner)
            .flat_map(|n| {
                // Below 2 with both signs, of F16 also below its normal numbers.
                let drawn = mix(seed + n as u64) as u16;
                match kind {
                    HalfType::F16 => drawn & 0xbfff,
                    HalfType::Bf16 => drawn & 0x81ff | 0x3e00,
                }
                .to_le_bytes()
            })
            .collect();
        let weights = PackedHalf::new(kind, &bytes, rows, inner);
        for tokens in [tokens, 1] {
            let mut out = vec![0.0; tokens * rows];
            kernels.matmul_half(&weights, &x[..tokens * inner], &mut out);
            bits.take(&out);
        }
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
