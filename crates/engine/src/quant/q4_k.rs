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
