//! Q5_0: 32 numbers of 5 bits after their scale; x = scale · (q − 16), with q from 0 to 31. 5.5
//! bits per number.
//!
//! The scale has the sign that makes the number farthest from 0 exactly −16 steps.
//!
//! Source: ggml, `ggml-common.h` (`block_q5_0`), `ggml-quants.c` (`quantize_row_q5_0_ref`).

use super::block::{Block, farthest, half, inverse, level, to_half};
use super::nibbles;

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub(super) struct Q5_0 {
    scale: [u8; 2],
    fifth: [u8; 4],
    quants: [u8; 16],
}

const _: () = assert!(size_of::<Q5_0>() == 22);

impl Block for Q5_0 {
    const LEN: usize = 32;

    fn quantize(numbers: &[f32]) -> Self {
        let scale = farthest(numbers) / -16.0;
        let steps = inverse(scale);
        let levels = std::array::from_fn(|n| level(numbers[n] * steps + 16.5, 31));
        let (quants, fifth) = nibbles::join_with_fifth(levels);
        Self {
            scale: to_half(scale),
            fifth,
            quants,
        }
    }

    fn dequantize(&self, numbers: &mut [f32]) {
        let scale = half(self.scale);
        for (number, quant) in numbers
            .iter_mut()
            .zip(nibbles::split_with_fifth(&self.quants, self.fifth))
        {
            *number = scale * (f32::from(quant) - 16.0);
        }
    }
}

/// Blocks of Q5_0 as blocks of Q5_1 with the same weights: the smallest one is −16 steps. `None`
/// where half precision does not hold it.
#[cfg(feature = "blocks")]
pub(super) fn as_q5_1(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len() / size_of::<Q5_0>() * 24);
    for block in bytes.chunks_exact(size_of::<Q5_0>()) {
        let (scale, numbers) = block.split_at(2);
        let least = -16.0 * half([scale[0], scale[1]]);
        let head = to_half(least);
        if !half(head).is_finite() {
            return None;
        }
        out.extend(scale);
        out.extend(head);
        out.extend(numbers);
    }
    Some(out)
}
