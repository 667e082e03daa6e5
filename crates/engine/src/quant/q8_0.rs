//! Q8_0: 32 signed bytes after their scale; x = scale · q, with q from −127 to 127. 8.5 bits per
//! number.
//!
//! Source: ggml, `ggml-common.h` (`block_q8_0`), `ggml-quants.c` (`quantize_row_q8_0_ref`).

use super::block::{Block, farthest, half, inverse, to_half};

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub(super) struct Q8_0 {
    scale: [u8; 2],
    quants: [i8; 32],
}

const _: () = assert!(size_of::<Q8_0>() == 34);

impl Block for Q8_0 {
    const LEN: usize = 32;

    fn quantize(numbers: &[f32]) -> Self {
        let scale = farthest(numbers).abs() / 127.0;
        let steps = inverse(scale);
        let mut quants = [0; 32];
        for (quant, number) in quants.iter_mut().zip(numbers) {
            *quant = (number * steps).round() as i8;
        }
        Self {
            scale: to_half(scale),
            quants,
        }
    }

    fn dequantize(&self, numbers: &mut [f32]) {
        let scale = half(self.scale);
        for (number, quant) in numbers.iter_mut().zip(self.quants) {
            *number = scale * f32::from(quant);
        }
    }
}
