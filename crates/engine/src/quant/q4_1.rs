//! Q4_1: 32 numbers of 4 bits after their scale and their smallest number; x = scale · q +
//! smallest, with q from 0 to 15. 5 bits per number.
//!
//! Source: ggml, `ggml-common.h` (`block_q4_1`), `ggml-quants.c` (`quantize_row_q4_1_ref`).

use super::block::{Block, half, inverse, level, range, to_half};
use super::nibbles;

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub(super) struct Q4_1 {
    scale: [u8; 2],
    least: [u8; 2],
    quants: [u8; 16],
}

const _: () = assert!(size_of::<Q4_1>() == 20);

impl Block for Q4_1 {
    const LEN: usize = 32;

    fn quantize(numbers: &[f32]) -> Self {
        let (least, largest) = range(numbers);
        let scale = (largest - least) / 15.0;
        let steps = inverse(scale);
        let levels = std::array::from_fn(|n| level((numbers[n] - least) * steps + 0.5, 15));
        Self {
            scale: to_half(scale),
            least: to_half(least),
            quants: nibbles::join(levels),
        }
    }

    fn dequantize(&self, numbers: &mut [f32]) {
        let (scale, least) = (half(self.scale), half(self.least));
        for (number, quant) in numbers.iter_mut().zip(nibbles::split(&self.quants)) {
            *number = scale * f32::from(quant) + least;
        }
    }
}
