//! The trait of a block format (a fixed number of elements in a fixed number of bytes), and helpers
//! that the formats share.

/// A block as a file stores it. Its fields are bytes, so it may start at any address.
pub(super) trait Block: bytemuck::Pod {
    /// The number of elements of a block.
    const LEN: usize;

    /// The block for [`Self::LEN`] numbers, rounded by the format's own rule.
    fn quantize(numbers: &[f32]) -> Self;

    /// Writes the [`Self::LEN`] elements to `numbers`.
    fn dequantize(&self, numbers: &mut [f32]);
}

/// Writes the elements of whole blocks to `numbers`; the lengths of both slices must fit each
/// other.
pub(super) fn unpack<B: Block>(bytes: &[u8], numbers: &mut [f32]) {
    // bytes [n · size of B] -> numbers [n · LEN]
    let blocks: &[B] = bytemuck::cast_slice(bytes);
    for (block, numbers) in blocks.iter().zip(numbers.chunks_exact_mut(B::LEN)) {
        block.dequantize(numbers);
    }
}

/// Appends the blocks of `numbers`, which must be whole blocks, to `bytes`.
pub(super) fn pack<B: Block>(numbers: &[f32], bytes: &mut Vec<u8>) {
    // numbers [n · LEN] -> n · size of B more bytes
    for numbers in numbers.chunks_exact(B::LEN) {
        bytes.extend_from_slice(bytemuck::bytes_of(&B::quantize(numbers)));
    }
}

/// Decodes whole blocks: [`unpack`].
type Unpack = fn(&[u8], &mut [f32]);

/// Encodes whole blocks: [`pack`].
type Pack = fn(&[f32], &mut Vec<u8>);

/// A number format: its number, its sizes and its functions.
pub(super) struct Format {
    /// The number in GGUF files (`enum ggml_type`).
    pub(super) id: u32,
    /// Elements of a block.
    pub(super) len: usize,
    /// Bytes of a block.
    pub(super) bytes: usize,
    /// `None` for blocks in a build without them.
    pub(super) unpack: Option<Unpack>,
    /// `None` for blocks in a build without them.
    pub(super) pack: Option<Pack>,
}

impl Format {
    /// The format of a block type.
    pub(super) const fn of<B: Block>(id: u32) -> Self {
        let is_here = B::LEN == 1 || cfg!(feature = "blocks");
        Self {
            id,
            len: B::LEN,
            bytes: size_of::<B>(),
            unpack: if is_here { Some(unpack::<B>) } else { None },
            pack: if is_here { Some(pack::<B>) } else { None },
        }
    }

    /// The bytes that `numbers` elements take; `None` where they are not whole blocks, or too many
    /// for an address.
    pub(super) fn size(&self, numbers: usize) -> Option<usize> {
        let whole = numbers.is_multiple_of(self.len);
        (numbers / self.len)
            .checked_mul(self.bytes)
            .filter(|_| whole)
    }
}

/// The value of two bytes in half precision.
pub(super) fn half(bytes: [u8; 2]) -> f32 {
    half::f16::from_le_bytes(bytes).to_f32()
}

/// The nearest number in half precision, as two bytes.
pub(super) fn to_half(number: f32) -> [u8; 2] {
    half::f16::from_f32(number).to_le_bytes()
}

/// The inverse of a scale, 1 / scale; 0 for a scale of 0.
pub(super) fn inverse(scale: f32) -> f32 {
    if scale == 0.0 { 0.0 } else { 1.0 / scale }
}

/// The number that is farthest from 0, with its sign; of two equally far the first.
pub(super) fn farthest(numbers: &[f32]) -> f32 {
    let farther = |a: f32, &b: &f32| if b.abs() > a.abs() { b } else { a };
    numbers.iter().fold(0.0, farther)
}

/// The smallest and the largest number.
pub(super) fn range(numbers: &[f32]) -> (f32, f32) {
    let start = (f32::INFINITY, f32::NEG_INFINITY);
    let wider = |(low, high): (f32, f32), &x: &f32| (low.min(x), high.max(x));
    numbers.iter().fold(start, wider)
}

/// The integer part of `number`, from 0 to `most`. Callers have added half a step, so this rounds.
pub(super) fn level(number: f32, most: u8) -> u8 {
    (number as u8).min(most)
}
