//! Packing of 4-bit numbers, two to a byte: the first half of a block in the low bits, the second
//! half in the high bits. The fifth bits of 5-bit numbers are stored separately.

/// Unpacks the 32 numbers of 16 bytes.
pub(super) fn split(bytes: &[u8; 16]) -> impl Iterator<Item = u8> {
    let (low, high) = (bytes.iter(), bytes.iter());
    low.map(|byte| byte & 15).chain(high.map(|byte| byte >> 4))
}

/// Packs 32 numbers below 16 into 16 bytes.
pub(super) fn join(numbers: [u8; 32]) -> [u8; 16] {
    std::array::from_fn(|n| numbers[n] & 15 | numbers[n + 16] << 4)
}

/// Unpacks the 32 numbers of 16 bytes and adds the fifth bit of each.
pub(super) fn split_with_fifth(bytes: &[u8; 16], fifth: [u8; 4]) -> impl Iterator<Item = u8> {
    let fifth = u32::from_le_bytes(fifth);
    let with_fifth = move |(n, low)| low | ((fifth >> n & 1) as u8) << 4;
    split(bytes).enumerate().map(with_fifth)
}

/// Packs 32 numbers below 32: the low four bits of each, and the fifth bits.
pub(super) fn join_with_fifth(numbers: [u8; 32]) -> ([u8; 16], [u8; 4]) {
    let mut fifth = 0u32;
    for (n, number) in numbers.iter().enumerate() {
        fifth |= u32::from(number >> 4 & 1) << n;
    }
    (join(numbers), fifth.to_le_bytes())
}
