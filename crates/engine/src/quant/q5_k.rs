//! Q5_K: Q4_K with a fifth bit for each of the 256 numbers. 5.5 bits per number.
//!
//! Source: ggml, `ggml-common.h` (`block_q5_K`), `ggml-quants.c` (`dequantize_row_q5_K`).

use super::block::Block;
use super::groups::Head;
#[cfg(feature = "blocks")]
use super::nibbles;

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub(super) struct Q5K {
    head: Head,
    /// Bit g of byte n is the fifth bit of number n of group g.
    fifth: [u8; 32],
    quants: [[u8; 32]; 4],
}

const _: () = assert!(size_of::<Q5K>() == 176);

impl Q5K {
    /// Number `n` of a group.
    fn number(&self, group: usize, n: usize) -> u8 {
        let low = self.quants[group / 2][n] >> (4 * (group % 2)) & 15;
        low | (self.fifth[n] >> group & 1) << 4
    }
}

impl Block for Q5K {
    const LEN: usize = 256;

    fn quantize(numbers: &[f32]) -> Self {
        let (head, levels) = Head::quantize(numbers, 31);
        let low = |group: usize, n| levels[32 * group + n] & 15;
        let byte = |pair, n| low(2 * pair, n) | low(2 * pair + 1, n) << 4;
        let bit = |group: usize, n| levels[32 * group + n] >> 4 << group;
        Self {
            head,
            fifth: std::array::from_fn(|n| (0..8).fold(0, |bits, group| bits | bit(group, n))),
            quants: std::array::from_fn(|pair| std::array::from_fn(|n| byte(pair, n))),
        }
    }

    fn dequantize(&self, numbers: &mut [f32]) {
        let scales = self.head.scales();
        for (group, numbers) in numbers.chunks_exact_mut(32).enumerate() {
            let (factor, offset) = scales[group];
            for (n, number) in numbers.iter_mut().enumerate() {
                *number = factor * f32::from(self.number(group, n)) - offset;
            }
        }
    }
}

/// Blocks of Q5_K as blocks of Q5_1, one for each group: the same numbers of 5 bits, with the scale
/// and the offset of the group rounded to half precision (by at most 1/2048 of each). `None` where
/// half precision does not hold one of them.
#[cfg(feature = "blocks")]
pub(super) fn as_q5_1(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len() / size_of::<Q5K>() * 8 * 24);
    for block in bytes.chunks_exact(size_of::<Q5K>()) {
        let block: Q5K = bytemuck::pod_read_unaligned(block);
        for (group, heads) in block.head.block_heads()?.into_iter().enumerate() {
            let (quants, fifth) =
                nibbles::join_with_fifth(std::array::from_fn(|n| block.number(group, n)));
            out.extend(heads.concat());
            out.extend(fifth);
            out.extend(quants);
        }
    }
    Some(out)
}
