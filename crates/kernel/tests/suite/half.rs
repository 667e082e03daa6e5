//! Checks of products with weights of 16 bits: they have the bits of the products with the same
//! weights in `f32`.

use super::numbers;
use crate::suite::random::Rng;
use kernel::{HalfType, Kernels, PackedF32, PackedHalf, widen};

/// Rows and columns of a matrix that holds one of 32 parts of all numbers of 16 bits; Miri sees
/// fewer.
const PART: [usize; 2] = if cfg!(miri) { [8, 8] } else { [32, 64] };

/// The values of numbers with 16 bits.
fn values(kind: HalfType, bits: &[u16]) -> Vec<f32> {
    let mut values = vec![0.0; bits.len()];
    match kind {
        HalfType::F16 => widen(bits, &mut values),
        HalfType::Bf16 => {
            let wide = bits
                .iter()
                .map(|&bits| f32::from_bits(u32::from(bits) << 16));
            values.iter_mut().zip(wide).for_each(|(to, x)| *to = x);
        }
    }
    values
}

/// Numbers of 16 bits as bytes of a file.
fn bytes(bits: &[u16]) -> Vec<u8> {
    bits.iter().flat_map(|bits| bits.to_le_bytes()).collect()
}

/// Weights of the usual size and, among them, zeros, the smallest and the largest numbers, and with
/// `strange` infinities and NaN.
fn weights(rng: &mut Rng, kind: HalfType, count: usize, strange: bool) -> Vec<u16> {
    let (one, infinite) = match kind {
        HalfType::F16 => (0x3c00, 0x7c00),
        HalfType::Bf16 => (0x3f80, 0x7f80),
    };
    let draw = |_| {
        let sign = (rng.below(2) as u16) << 15;
        let magnitude = match rng.below(16) {
            0 => 0,
            1 => rng.below(0x400) as u16,
            2 => infinite - 1 - rng.below(64) as u16,
            3 if strange => infinite + rng.below(2) as u16,
            _ => one - rng.below(0x600) as u16,
        };
        sign | magnitude
    };
    (0..count).map(draw).collect()
}

/// The bits of numbers; those of every NaN are the same.
fn bits(x: &[f32]) -> Vec<u32> {
    let bits = |x: &f32| if x.is_nan() { u32::MAX } else { x.to_bits() };
    x.iter().map(bits).collect()
}

pub(crate) fn matmul_half(kernels: &Kernels, seed: u64, [rows, inner, tokens]: [usize; 3]) {
    let tokens = tokens % 30;
    let mut rng = Rng::new(seed);
    for kind in HalfType::ALL {
        let strange = rng.below(4) == 0;
        let w = weights(&mut rng, kind, rows * inner, strange);
        let halves = PackedHalf::new(kind, &bytes(&w), rows, inner);
        let wide = PackedF32::new(&values(kind, &w), rows, inner);
        let mut x = numbers(seed, "x", tokens * inner);
        // The largest weights are near the largest `f32`: sums must not all overflow.
        x.iter_mut().for_each(|x| *x *= 1e-6);
        let product = |x: &[f32]| {
            let (mut found, mut expected) = (
                vec![f32::NAN; x.len() / inner.max(1) * rows],
                vec![f32::NAN; x.len() / inner.max(1) * rows],
            );
            kernels.matmul_half(&halves, x, &mut found);
            kernels.matmul_f32(&wide, x, &mut expected);
            assert_eq!(bits(&found), bits(&expected), "{kind:?} [{rows}, {inner}]");
        };
        product(&x);
        for x in x.chunks_exact(inner.max(1)) {
            product(x);
        }
        let mut row = vec![f32::NAN; inner];
        for m in 0..rows {
            halves.unpack_row(m, &mut row);
            assert_eq!(
                bits(&row),
                bits(&values(kind, &w[m * inner..(m + 1) * inner]))
            );
        }
        assert_eq!(
            (halves.rows(), halves.cols(), halves.kind()),
            (rows, inner, kind)
        );
        assert_eq!(halves.bytes(), rows.next_multiple_of(8) * inner * 2);
    }
}

/// Products with tokens of zeros and one 1 are the weights: every finite number comes out.
pub(crate) fn halves_are_widened_exactly(kernels: &Kernels, seed: u64, _: [usize; 3]) {
    let [rows, inner] = PART;
    let first = seed as usize % 32 * rows * inner;
    for kind in HalfType::ALL {
        let infinite = match kind {
            HalfType::F16 => 0x7c00,
            HalfType::Bf16 => 0x7f80,
        };
        let w: Vec<u16> = (first..first + rows * inner)
            .map(|bits| bits as u16)
            .map(|bits| if bits & infinite == infinite { 0 } else { bits })
            .collect();
        let halves = PackedHalf::new(kind, &bytes(&w), rows, inner);
        // The token of column k, `[K, K]`.
        let mut x = vec![0.0; inner * inner];
        x.iter_mut().step_by(inner + 1).for_each(|x| *x = 1.0);
        // A sum that begins with 0 is never −0.
        let expected: Vec<f32> = values(kind, &w).iter().map(|w| w + 0.0).collect();
        let mut all = vec![f32::NAN; inner * rows];
        kernels.matmul_half(&halves, &x, &mut all);
        for (k, x) in x.chunks_exact(inner).enumerate() {
            let mut alone = vec![f32::NAN; rows];
            kernels.matmul_half(&halves, x, &mut alone);
            let column: Vec<f32> = expected.iter().skip(k).step_by(inner).copied().collect();
            assert_eq!(bits(&alone), bits(&column), "{kind:?}, one token");
            let found = &all[k * rows..(k + 1) * rows];
            assert_eq!(bits(found), bits(&column), "{kind:?}, all tokens");
        }
    }
}
