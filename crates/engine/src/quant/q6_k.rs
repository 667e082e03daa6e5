//! Q6_K: 256 numbers of 6 bits in 16 groups of 16, each group with a scale of 8 bits; x = (scale ·
//! s) · (q − 32). 6.5625 bits per number.
//!
//! In each half of the block, number 32 r + n has its low four bits in byte 32 (r mod 2) + n, the
//! upper nibble from r = 2 on, and its high two bits at bit 2 r of byte n.
//!
//! Source: ggml, `ggml-common.h` (`block_q6_K`), `ggml-quants.c` (`dequantize_row_q6_K`).

use super::block::{Block, Format, farthest, half, inverse, level, to_half};
#[cfg(feature = "blocks")]
use super::nibbles;

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

    /// Number `n` of 32, from 0 to 63; chunk `chunk` of eight in a block.
    fn number(&self, chunk: usize, n: usize) -> u8 {
        let (half, row) = (chunk / 4, chunk % 4);
        let low = self.low[half][32 * (row % 2) + n] >> (4 * (row / 2)) & 15;
        low | (self.high[half][n] >> (2 * row) & 3) << 4
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
            for (n, number) in numbers.iter_mut().enumerate() {
                let quant = f32::from(self.number(chunk, n));
                *number = scales[2 * chunk + n / 16] * (quant - 32.0);
            }
        }
    }
}

/// The type in which matrices in Q6_K are kept ([`super::Type::Q6`]): two scales in half precision,
/// of 16 numbers each, then the upper two bits and the low four bits of 32 numbers. It is made from
/// blocks of Q6_K alone, and a matrix unpacks it.
pub(super) const KEPT: Format = Format {
    id: u32::MAX,
    len: 32,
    bytes: 28,
    unpack: None,
    pack: None,
};

/// Blocks of Q6_K as blocks of [`KEPT`], one for two groups: the same numbers of 6 bits, with the
/// scales of the groups rounded to half precision (by at most 1/2048). `None` where half precision
/// does not hold one of them.
#[cfg(feature = "blocks")]
pub(super) fn as_q6(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len() / size_of::<Q6K>() * 8 * KEPT.bytes);
    for block in bytes.chunks_exact(size_of::<Q6K>()) {
        let block: Q6K = bytemuck::pod_read_unaligned(block);
        let scales = Q6K::scales(block.scale, block.groups).map(to_half);
        if scales.iter().any(|&scale| !half(scale).is_finite()) {
            return None;
        }
        for (chunk, scales) in scales.chunks_exact(2).enumerate() {
            let numbers: [u8; 32] = std::array::from_fn(|n| block.number(chunk, n));
            let upper = numbers.iter().rev();
            let upper = upper.fold(0_u64, |bits, number| bits << 2 | u64::from(number >> 4));
            out.extend(scales.concat());
            out.extend(upper.to_le_bytes());
            out.extend(nibbles::join(numbers));
        }
    }
    Some(out)
}
