//! The number formats by name and by their number in GGUF files.

use super::QuantError;
use super::block::Format;
use super::plain::{Bf16, F16, F32};
use super::{
    q4_0::Q4_0, q4_1::Q4_1, q4_k::Q4K, q5_0::Q5_0, q5_1::Q5_1, q5_k::Q5K, q6_k::Q6K, q8_0::Q8_0,
};

/// A number format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Type {
    /// IEEE single precision.
    F32,
    /// IEEE half precision.
    F16,
    /// bfloat16: the upper half of an `f32`.
    Bf16,
    /// 32 numbers of 4 bits, one scale.
    Q4_0,
    /// 32 numbers of 4 bits, a scale and an offset.
    Q4_1,
    /// 32 numbers of 5 bits, one scale.
    Q5_0,
    /// 32 numbers of 5 bits, a scale and an offset.
    Q5_1,
    /// 32 numbers of 8 bits, one scale.
    Q8_0,
    /// 256 numbers of 4 bits, scales and offsets in 8 groups.
    Q4K,
    /// 256 numbers of 5 bits, scales and offsets in 8 groups.
    Q5K,
    /// 256 numbers of 6 bits, scales in 16 groups.
    Q6K,
}

/// Names of the types of `enum ggml_type` that are not supported, for messages.
const OTHERS: [(u32, &str); 28] = [
    (4, "Q4_2"),
    (5, "Q4_3"),
    (9, "Q8_1"),
    (10, "Q2_K"),
    (11, "Q3_K"),
    (15, "Q8_K"),
    (16, "IQ2_XXS"),
    (17, "IQ2_XS"),
    (18, "IQ3_XXS"),
    (19, "IQ1_S"),
    (20, "IQ4_NL"),
    (21, "IQ3_S"),
    (22, "IQ2_S"),
    (23, "IQ4_XS"),
    (24, "I8"),
    (25, "I16"),
    (26, "I32"),
    (27, "I64"),
    (28, "F64"),
    (29, "IQ1_M"),
    (31, "Q4_0_4_4"),
    (32, "Q4_0_4_8"),
    (33, "Q4_0_8_8"),
    (34, "TQ1_0"),
    (35, "TQ2_0"),
    (36, "IQ4_NL_4_4"),
    (39, "MXFP4"),
    (40, "NVFP4"),
];

impl Type {
    /// Every type, from the most exact to the smallest.
    pub const ALL: [Self; 11] = [
        Self::F32,
        Self::F16,
        Self::Bf16,
        Self::Q8_0,
        Self::Q6K,
        Self::Q5_1,
        Self::Q5K,
        Self::Q5_0,
        Self::Q4_1,
        Self::Q4K,
        Self::Q4_0,
    ];

    pub(super) const fn form(self) -> &'static Format {
        match self {
            Self::F32 => const { &Format::of::<F32>("F32", 0) },
            Self::F16 => const { &Format::of::<F16>("F16", 1) },
            Self::Bf16 => const { &Format::of::<Bf16>("BF16", 30) },
            Self::Q4_0 => const { &Format::of::<Q4_0>("Q4_0", 2) },
            Self::Q4_1 => const { &Format::of::<Q4_1>("Q4_1", 3) },
            Self::Q5_0 => const { &Format::of::<Q5_0>("Q5_0", 6) },
            Self::Q5_1 => const { &Format::of::<Q5_1>("Q5_1", 7) },
            Self::Q8_0 => const { &Format::of::<Q8_0>("Q8_0", 8) },
            Self::Q4K => const { &Format::of::<Q4K>("Q4_K", 12) },
            Self::Q5K => const { &Format::of::<Q5K>("Q5_K", 13) },
            Self::Q6K => const { &Format::of::<Q6K>("Q6_K", 14) },
        }
    }

    /// The name in GGUF files, such as `Q4_K`.
    pub fn name(self) -> &'static str {
        self.form().name
    }

    /// The type with a name, in upper or lower case.
    ///
    /// # Errors
    /// When it is none of these.
    pub fn from_name(name: &str) -> Result<Self, QuantError> {
        let known = |kind: &Self| kind.name().eq_ignore_ascii_case(name);
        Self::ALL
            .into_iter()
            .find(known)
            .ok_or_else(|| QuantError::Unsupported(name.to_owned()))
    }

    /// The type with a number in GGUF files (`enum ggml_type`).
    ///
    /// # Errors
    /// When it is none of these; the error has the type's name, or its number where that is unknown too.
    pub fn from_ggml(id: u32) -> Result<Self, QuantError> {
        let other = || {
            let name = OTHERS.iter().find(|other| other.0 == id);
            QuantError::Unsupported(name.map_or_else(|| id.to_string(), |name| name.1.to_owned()))
        };
        let known = Self::ALL.into_iter().find(|kind| kind.ggml_id() == id);
        known.ok_or_else(other)
    }

    /// The number in GGUF files.
    pub fn ggml_id(self) -> u32 {
        self.form().id
    }

    /// True for a type whose products have a kernel of their own; a matrix of any other type of blocks is unpacked for each product, which
    /// is 15 to 40 times slower. Plain numbers of two bytes are kept as F32.
    pub fn has_fast_product(self) -> bool {
        matches!(
            self,
            Self::F32 | Self::F16 | Self::Bf16 | Self::Q8_0 | Self::Q4_0
        )
    }

    /// The number of elements of a block.
    pub fn block_len(self) -> usize {
        self.form().len
    }

    /// The bytes of a block.
    pub fn block_bytes(self) -> usize {
        self.form().bytes
    }

    /// The bytes that `numbers` elements take; `None` where they are not whole blocks, or too many for an address.
    pub fn bytes(self, numbers: usize) -> Option<usize> {
        self.form().size(numbers)
    }
}
