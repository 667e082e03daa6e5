//! Q5_K: Q4_K with a fifth bit for each of the 256 numbers. 5.5 bits per number.
//!
//! Source: ggml, `ggml-common.h` (`block_q5_K`), `ggml-quants.c` (`dequantize_row_q5_K`).

use super::block::Block;
use super::groups::Head;

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub(super) struct Q5K {
    head: Head,
    /// Bit g of byte n is the fifth bit of number n of group g.
    fifth: [u8; 32],
    quants: [[u8; 32]; 4],
}

const _: () = assert!(size_of::<Q5K>() == 176);

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
            let shift = 4 * (group % 2);
            let bytes = self.quants[group / 2].iter().zip(self.fifth);
            for (number, (byte, fifth)) in numbers.iter_mut().zip(bytes) {
                let quant = byte >> shift & 15 | (fifth >> group & 1) << 4;
                *number = factor * f32::from(quant) - offset;
            }
        }
    }
}
