//! What a block format is: so many numbers in so many bytes.

use super::QuantError;

/// A block as it lies in a file. Its fields are bytes, so that it may start anywhere.
pub(super) trait Block: bytemuck::Pod {
    /// How many numbers it holds.
    const LEN: usize;

    /// The block nearest to [`Self::LEN`] numbers, by the format's own rule.
    fn quantize(numbers: &[f32]) -> Self;

    /// Its [`Self::LEN`] numbers.
    fn dequantize(&self, numbers: &mut [f32]);
}

/// The numbers of whole blocks; both slices have the lengths for it.
pub(super) fn unpack<B: Block>(bytes: &[u8], numbers: &mut [f32]) {
    // bytes [n · size of B] -> numbers [n · LEN]
    let blocks: &[B] = bytemuck::cast_slice(bytes);
    for (block, numbers) in blocks.iter().zip(numbers.chunks_exact_mut(B::LEN)) {
        block.dequantize(numbers);
    }
}

/// Appends the blocks of numbers that are whole blocks.
pub(super) fn pack<B: Block>(numbers: &[f32], bytes: &mut Vec<u8>) {
    // numbers [n · LEN] -> n · size of B more bytes
    for numbers in numbers.chunks_exact(B::LEN) {
        bytes.extend_from_slice(bytemuck::bytes_of(&B::quantize(numbers)));
    }
}

/// How a form of numbers is laid out, and the functions for it.
pub(super) struct Form {
    pub(super) name: &'static str,
    /// The number that GGUF files give it (`enum ggml_type`).
    pub(super) id: u32,
    pub(super) len: usize,
    pub(super) bytes: usize,
    pub(super) unpack: fn(&[u8], &mut [f32]),
    pub(super) pack: fn(&[f32], &mut Vec<u8>),
}

impl Form {
    pub(super) const fn of<B: Block>(name: &'static str, id: u32) -> Self {
        Self {
            name,
            id,
            len: B::LEN,
            bytes: size_of::<B>(),
            unpack: unpack::<B>,
            pack: pack::<B>,
        }
    }

    /// An error unless so many bytes hold so many numbers.
    pub(super) fn check(&self, bytes: usize, numbers: usize) -> Result<(), QuantError> {
        if self.size(numbers) == Some(bytes) {
            return Ok(());
        }
        Err(QuantError::Length {
            expected: format!("{numbers} numbers in {}", self.name),
            found: format!("{bytes} bytes"),
        })
    }

    /// How many bytes so many numbers take; `None` where they are not whole blocks, or too many.
    pub(super) fn size(&self, numbers: usize) -> Option<usize> {
        let whole = numbers.is_multiple_of(self.len);
        (numbers / self.len)
            .checked_mul(self.bytes)
            .filter(|_| whole)
    }
}

/// A scale of two bytes.
pub(super) fn half(bytes: [u8; 2]) -> f32 {
    half::f16::from_le_bytes(bytes).to_f32()
}

/// The nearest half-precision number.
pub(super) fn to_half(number: f32) -> [u8; 2] {
    half::f16::from_f32(number).to_le_bytes()
}

/// 1 / scale, and 0 for a scale of 0.
pub(super) fn inverse(scale: f32) -> f32 {
    if scale == 0.0 { 0.0 } else { 1.0 / scale }
}

/// The number that is farthest from 0, with its sign; of two equally far the first.
pub(super) fn farthest(numbers: &[f32]) -> f32 {
    let farther = |a: f32, &b: &f32| if b.abs() > a.abs() { b } else { a };
    numbers.iter().fold(0.0, farther)
}

/// The least and the largest number.
pub(super) fn range(numbers: &[f32]) -> (f32, f32) {
    let start = (f32::INFINITY, f32::NEG_INFINITY);
    let wider = |(low, high): (f32, f32), &x: &f32| (low.min(x), high.max(x));
    numbers.iter().fold(start, wider)
}

/// A whole number from 0 to `most`: the integer part, since what comes is already half a step up.
pub(super) fn level(number: f32, most: u8) -> u8 {
    (number as u8).min(most)
}
