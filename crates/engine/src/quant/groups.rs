//! The groups that Q4_K and Q5_K share: 8 groups of 32 numbers, each with a scale and an offset of
//! 6 bits, which the block's own two scales multiply: x = (scale · s) · q − (offset scale · o).
//!
//! Source: ggml, `ggml-quants.c` (`get_scale_min_k4`).

use super::block::{half, inverse, level, range, to_half};

/// The largest number of 6 bits.
const MOST: f32 = 63.0;

/// The scale and the offset of one group, 6 bits each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Group {
    scale: u8,
    offset: u8,
}

/// The head of a block: its scales and those of its groups.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub(super) struct Head {
    scale: [u8; 2],
    offset_scale: [u8; 2],
    groups: [u8; 12],
}

const _: () = assert!(size_of::<Head>() == 16);

/// Unpacks eight pairs of 6 bits from 12 bytes. The first four scales and offsets have a byte each;
/// the upper two bits of these bytes are the upper two bits of the last four, whose lower bits
/// share a byte.
fn split(bytes: [u8; 12]) -> [Group; 8] {
    std::array::from_fn(|n| match n {
        0..4 => Group {
            scale: bytes[n] & 63,
            offset: bytes[n + 4] & 63,
        },
        _ => Group {
            scale: bytes[n + 4] & 15 | bytes[n - 4] >> 6 << 4,
            offset: bytes[n + 4] >> 4 | bytes[n] >> 6 << 4,
        },
    })
}

/// Packs eight pairs into 12 bytes, the inverse of [`split`].
fn join(groups: [Group; 8]) -> [u8; 12] {
    let mut bytes = [0; 12];
    for n in 0..4 {
        let (first, last) = (groups[n], groups[n + 4]);
        bytes[n] = first.scale | last.scale >> 4 << 6;
        bytes[n + 4] = first.offset | last.offset >> 4 << 6;
        bytes[n + 8] = last.scale & 15 | last.offset << 4;
    }
    bytes
}

impl Head {
    /// The scale and the offset of each group as `f32`.
    pub(super) fn scales(&self) -> [(f32, f32); 8] {
        let (scale, offset_scale) = (half(self.scale), half(self.offset_scale));
        split(self.groups).map(|group| {
            (
                scale * f32::from(group.scale),
                offset_scale * f32::from(group.offset),
            )
        })
    }

    /// The heads of blocks of 32 numbers that stand for the groups: the scale of a group and its
    /// negative offset in half precision. `None` where half precision does not hold one of them.
    #[cfg(feature = "blocks")]
    pub(super) fn block_heads(&self) -> Option<[[[u8; 2]; 2]; 8]> {
        let heads = self
            .scales()
            .map(|(scale, offset)| [to_half(scale), to_half(-offset)]);
        let is_held = |&head: &[u8; 2]| half(head).is_finite();
        heads.iter().flatten().all(is_held).then_some(heads)
    }

    /// Quantizes 256 numbers: the head, and each number as an integer from 0 to `most`. The levels
    /// of a group are spread evenly from its smallest number (or 0, if that is smaller) to its
    /// largest; then each scale is rounded to its bits, and each number to the rounded scale of its
    /// group. (ggml also searches around these scales; this does not.)
    pub(super) fn quantize(numbers: &[f32], most: u8) -> (Self, [u8; 256]) {
        // numbers [256]
        let mut wanted = [(0.0f32, 0.0f32); 8];
        for (wanted, group) in wanted.iter_mut().zip(numbers.chunks_exact(32)) {
            let (least, largest) = range(group);
            let offset = (-least).max(0.0);
            *wanted = ((largest + offset).max(0.0) / f32::from(most), offset);
        }
        let largest = |of: fn((f32, f32)) -> f32| wanted.into_iter().map(of).fold(0.0, f32::max);
        let (scale, offset_scale) = (largest(|w| w.0) / MOST, largest(|w| w.1) / MOST);
        let rounded = |number: f32, scale| level(number * inverse(scale) + 0.5, 63);
        let groups = wanted.map(|(factor, offset)| Group {
            scale: rounded(factor, scale),
            offset: rounded(offset, offset_scale),
        });
        let head = Self {
            scale: to_half(scale),
            offset_scale: to_half(offset_scale),
            groups: join(groups),
        };
        let scales = head.scales();
        let levels = std::array::from_fn(|n| {
            let (factor, offset) = scales[n / 32];
            level((numbers[n] + offset) * inverse(factor) + 0.5, most)
        });
        (head, levels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_bits_come_back() {
        let groups = std::array::from_fn(|n| Group {
            scale: (n * 37 % 64) as u8,
            offset: (n * 53 % 64) as u8,
        });
        assert_eq!(split(join(groups)), groups);
        let bytes = std::array::from_fn(|n| (n * 91 + 17) as u8);
        assert_eq!(join(split(bytes)), bytes);
    }
}
