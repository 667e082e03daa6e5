//! Q4_K: 256 numbers of 4 bits in 8 groups of 32, each group with a scale and an offset of 6 bits.
//! 4.5 bits per number.
//!
//! A byte holds a number of one group in its low and one of the next group in its high bits.
//!
//! Source: ggml, `ggml-common.h` (`block_q4_K`), `ggml-quants.c` (`dequantize_row_q4_K`).

use super::block::Block;
use super::groups::Head;

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub(super) struct Q4K {
    head: Head,
    quants: [[u8; 32]; 4],
}

const _: () = assert!(size_of::<Q4K>() == 144);

impl Block for Q4K {
    const LEN: usize = 256;

    fn quantize(numbers: &[f32]) -> Self {
        let (head, levels) = Head::quantize(numbers, 15);
        let byte = |pair, n| levels[64 * pair + n] | levels[64 * pair + 32 + n] << 4;
        let quants = std::array::from_fn(|pair| std::array::from_fn(|n| byte(pair, n)));
        Self { head, quants }
    }

    fn dequantize(&self, numbers: &mut [f32]) {
        let scales = self.head.scales();
        for (group, numbers) in numbers.chunks_exact_mut(32).enumerate() {
            let (factor, offset) = scales[group];
            let shift = 4 * (group % 2);
            for (number, byte) in numbers.iter_mut().zip(self.quants[group / 2]) {
                *number = factor * f32::from(byte >> shift & 15) - offset;
            }
        }
    }
}

/// Blocks of Q4_K as blocks of Q4_1, one for each group: the same numbers of 4 bits, with the scale
/// and the offset of the group rounded to half precision (by at most 1/2048 of each). `None` where
/// half precision does not hold one of them.
#[cfg(feature = "blocks")]
pub(super) fn as_q4_1(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len() / size_of::<Q4K>() * 8 * 20);
    for block in bytes.chunks_exact(size_of::<Q4K>()) {
        let block: Q4K = bytemuck::pod_read_unaligned(block);
        for (group, heads) in block.head.block_heads()?.into_iter().enumerate() {
            out.extend(heads.concat());
            let shift = 4 * (group % 2);
            let number = |n: usize| block.quants[group / 2][n] >> shift & 15;
            out.extend((0..16).map(|n| number(n) | number(n + 16) << 4));
        }
    }
    Some(out)
}
