//! Numbers of 4 bits, two to a byte: the first half of a block in the low bits, the second in the high ones. Fifth bits are apart.

/// The 32 numbers of 16 bytes.
pub(super) fn split(bytes: &[u8; 16]) -> impl Iterator<Item = u8> {
    let (low, high) = (bytes.iter(), bytes.iter());
    low.map(|byte| byte & 15).chain(high.map(|byte| byte >> 4))
}

/// 32 numbers below 16 in 16 bytes.
pub(super) fn join(numbers: [u8; 32]) -> [u8; 16] {
    std::array::from_fn(|n| numbers[n] & 15 | numbers[n + 16] << 4)
}

/// The 32 numbers of 16 bytes with a fifth bit each.
pub(super) fn split_with_fifth(bytes: &[u8; 16], fifth: [u8; 4]) -> impl Iterator<Item = u8> {
    let fifth = u32::from_le_bytes(fifth);
    let with_fifth = move |(n, low)| low | ((fifth >> n & 1) as u8) << 4;
    split(bytes).enumerate().map(with_fifth)
}

/// 32 numbers below 32: the low four bits of each, and the fifth bits.
pub(super) fn join_with_fifth(numbers: [u8; 32]) -> ([u8; 16], [u8; 4]) {
    let mut fifth = 0u32;
    for (n, number) in numbers.iter().enumerate() {
        fifth |= u32::from(number >> 4 & 1) << n;
    }
    (join(numbers), fifth.to_le_bytes())
}
