//! Q4_0: 32 numbers of 4 bits after their scale; x = scale · (q − 8), with q from 0 to 15. 4.5 bits
//! per number.
//!
//! The scale has the sign that makes the number farthest from 0 exactly −8 steps.
//!
//! Source: ggml, `ggml-common.h` (`block_q4_0`), `ggml-quants.c` (`quantize_row_q4_0_ref`).

use super::block::{Block, farthest, half, inverse, level, to_half};
use super::nibbles;

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub(super) struct Q4_0 {
    scale: [u8; 2],
    quants: [u8; 16],
}

const _: () = assert!(size_of::<Q4_0>() == 18);

impl Block for Q4_0 {
    const LEN: usize = 32;

    fn quantize(numbers: &[f32]) -> Self {
        let scale = farthest(numbers) / -8.0;
        let steps = inverse(scale);
        let levels = std::array::from_fn(|n| level(numbers[n] * steps + 8.5, 15));
        Self {
            scale: to_half(scale),
            quants: nibbles::join(levels),
        }
    }

    fn dequantize(&self, numbers: &mut [f32]) {
        let scale = half(self.scale);
        for (number, quant) in numbers.iter_mut().zip(nibbles::split(&self.quants)) {
            *number = scale * (f32::from(quant) - 8.0);
        }
    }
}
