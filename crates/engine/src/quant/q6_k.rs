//! Q6_K: 256 numbers of 6 bits in 16 groups of 16, each group with a scale of 8 bits; x = (scale ·
//! s) · (q − 32). 6.5625 bits per number.
//!
//! In each half of the block, number 32 r + n has its low four bits in byte 32 (r mod 2) + n, the
//! upper nibble from r = 2 on, and its high two bits at bit 2 r of byte n.
//!
//! Source: ggml, `ggml-common.h` (`block_q6_K`), `ggml-quants.c` (`dequantize_row_q6_K`).

use super::block::{Block, farthest, half, inverse, level, to_half};

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub(super) struct Q6K {
    low: [[u8; 64]; 2],
    high: [[u8; 32]; 2],
    groups: [i8; 16],
    scale: [u8; 2],
}

const _: () = assert!(size_of::<Q6K>() == 210);

impl Q6K {
    /// The scale of each group as `f32`.
    fn scales(scale: [u8; 2], groups: [i8; 16]) -> [f32; 16] {
        let scale = half(scale);
        groups.map(|group| scale * f32::from(group))
    }
}

impl Block for Q6K {
    const LEN: usize = 256;

    /// Quantizes 256 numbers. The scale of a group makes the number farthest from 0 exactly −32
    /// steps; then each scale is rounded to its bits, and each number to the rounded scale of its
    /// group. (ggml also searches around these scales; this does not.)
    fn quantize(numbers: &[f32]) -> Self {
        let mut wanted = [0.0; 16];
        for (wanted, group) in wanted.iter_mut().zip(numbers.chunks_exact(16)) {
            *wanted = farthest(group) / -32.0;
        }
        let scale = farthest(&wanted) / -128.0;
        let steps = inverse(scale);
        let groups = wanted.map(|factor| (factor * steps).round() as i8);
        let scale = to_half(scale);
        let scales = Self::scales(scale, groups);
        let levels: [u8; 256] = std::array::from_fn(|n| {
            level((numbers[n] * inverse(scales[n / 16])).round() + 32.0, 63)
        });
        // A row is 32 numbers: in `low`, bytes from 32 on have rows 1 and 3.
        let at = |half: usize, row: usize, n: usize| levels[128 * half + 32 * row + n];
        let low = |half, n| at(half, 0, n) & 15 | at(half, 2, n) << 4;
        let high = |half, n| (0..4).fold(0, |bits, row| bits | at(half, row, n) >> 4 << (2 * row));
        Self {
            low: std::array::from_fn(|half| std::array::from_fn(|n| low(half, n))),
            high: std::array::from_fn(|half| std::array::from_fn(|n| high(half, n))),
            groups,
            scale,
        }
    }

    fn dequantize(&self, numbers: &mut [f32]) {
        let scales = Self::scales(self.scale, self.groups);
        for (chunk, numbers) in numbers.chunks_exact_mut(32).enumerate() {
            let (half, row) = (chunk / 4, chunk % 4);
            let low = &self.low[half][32 * (row % 2)..][..32];
            let bytes = low.iter().zip(self.high[half]);
            for (n, (number, (low, high))) in numbers.iter_mut().zip(bytes).enumerate() {
                let quant = low >> (4 * (row / 2)) & 15 | (high >> (2 * row) & 3) << 4;
                *number = scales[2 * chunk + n / 16] * (f32::from(quant) - 32.0);
            }
        }
    }
}
