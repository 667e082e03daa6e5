//! Q5_1: 32 numbers of 5 bits after their scale and their smallest number; x = scale · q +
//! smallest, with q from 0 to 31. 6 bits per number.
//!
//! Source: ggml, `ggml-common.h` (`block_q5_1`), `ggml-quants.c` (`quantize_row_q5_1_ref`).

use super::block::{Block, half, inverse, level, range, to_half};
use super::nibbles;

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub(super) struct Q5_1 {
    scale: [u8; 2],
    least: [u8; 2],
    fifth: [u8; 4],
    quants: [u8; 16],
}

const _: () = assert!(size_of::<Q5_1>() == 24);

impl Block for Q5_1 {
    const LEN: usize = 32;

    fn quantize(numbers: &[f32]) -> Self {
        let (least, largest) = range(numbers);
        let scale = (largest - least) / 31.0;
        let steps = inverse(scale);
        let levels = std::array::from_fn(|n| level((numbers[n] - least) * steps + 0.5, 31));
        let (quants, fifth) = nibbles::join_with_fifth(levels);
        Self {
            scale: to_half(scale),
            least: to_half(least),
            fifth,
            quants,
        }
    }

    fn dequantize(&self, numbers: &mut [f32]) {
        let (scale, least) = (half(self.scale), half(self.least));
        for (number, quant) in numbers
            .iter_mut()
            .zip(nibbles::split_with_fifth(&self.quants, self.fifth))
        {
            *number = scale * f32::from(quant) + least;
        }
    }
}
