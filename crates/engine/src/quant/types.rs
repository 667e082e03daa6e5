//! The number formats by name and by their number in GGUF files.

use super::QuantError;
use super::block::Format;
use super::plain::{Bf16, F16, F32};
use super::{
    q4_0::Q4_0, q4_1::Q4_1, q4_k::Q4K, q5_0::Q5_0, q5_1::Q5_1, q5_k::Q5K, q6_k, q6_k::Q6K,
    q8_0::Q8_0,
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
    /// 32 numbers of 6 bits, two scales: the form in which a matrix in Q6_K is kept. No file has
    /// it: the type is this project's own.
    Q6,
}

/// The names of `enum ggml_type`, in the order of their numbers; `-` for numbers that ggml does not
/// use.
const GGML_NAMES: &str = "F32 F16 Q4_0 Q4_1 Q4_2 Q4_3 Q5_0 Q5_1 Q8_0 Q8_1 Q2_K Q3_K Q4_K Q5_K Q6_K \
    Q8_K IQ2_XXS IQ2_XS IQ3_XXS IQ1_S IQ4_NL IQ3_S IQ2_S IQ4_XS I8 I16 I32 I64 F64 IQ1_M BF16 \
    Q4_0_4_4 Q4_0_4_8 Q4_0_8_8 TQ1_0 TQ2_0 IQ4_NL_4_4 - - MXFP4 NVFP4";

/// The name of a number of `enum ggml_type`; `None` where it has none.
fn ggml_name(id: u32) -> Option<&'static str> {
    let name = GGML_NAMES.split(' ').nth(id as usize);
    name.filter(|name| *name != "-")
}

impl Type {
    /// Every type of a file, from the most exact to the smallest.
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
            Self::F32 => const { &Format::of::<F32>(0) },
            Self::F16 => const { &Format::of::<F16>(1) },
            Self::Bf16 => const { &Format::of::<Bf16>(30) },
            Self::Q4_0 => const { &Format::of::<Q4_0>(2) },
            Self::Q4_1 => const { &Format::of::<Q4_1>(3) },
            Self::Q5_0 => const { &Format::of::<Q5_0>(6) },
            Self::Q5_1 => const { &Format::of::<Q5_1>(7) },
            Self::Q8_0 => const { &Format::of::<Q8_0>(8) },
            Self::Q4K => const { &Format::of::<Q4K>(12) },
            Self::Q5K => const { &Format::of::<Q5K>(13) },
            Self::Q6K => const { &Format::of::<Q6K>(14) },
            Self::Q6 => &q6_k::KEPT,
        }
    }

    /// The name in GGUF files, such as `Q4_K`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Q6 => "Q6",
            _ => ggml_name(self.form().id).unwrap_or_default(),
        }
    }

    /// The type with a name, in upper or lower case.
    ///
    /// # Errors
    /// When no type has this name.
    pub fn from_name(name: &str) -> Result<Self, QuantError> {
        let known = |kind: &Self| kind.name().eq_ignore_ascii_case(name);
        let all = Self::ALL.into_iter().chain([Self::Q6]);
        all.into_iter()
            .find(known)
            .ok_or_else(|| QuantError::Unsupported(name.to_owned()))
    }

    /// The type with a number in GGUF files (`enum ggml_type`).
    ///
    /// # Errors
    /// When no type has this number; the error has ggml's name of the number, or the number itself.
    pub fn from_ggml(id: u32) -> Result<Self, QuantError> {
        let other = || {
            let name = ggml_name(id).map(str::to_owned);
            QuantError::Unsupported(name.unwrap_or_else(|| id.to_string()))
        };
        let known = Self::ALL.into_iter().find(|kind| kind.ggml_id() == id);
        known.ok_or_else(other)
    }

    /// The number in GGUF files; `u32::MAX` for Q6, which they do not have.
    pub fn ggml_id(self) -> u32 {
        self.form().id
    }

    /// True for a type whose products have a kernel of their own. A matrix of any other type of
    /// blocks is unpacked for each product, which is 15 to 40 times slower.
    pub fn has_fast_product(self) -> bool {
        self.fast() == self
    }

    /// True for numbers without blocks that are kept as they are and not as F32: those of 16 bits.
    /// A build without blocks (feature `blocks`) keeps F32 alone; the lessons' models are small.
    pub(crate) fn is_half(self) -> bool {
        cfg!(feature = "blocks") && matches!(self, Self::F16 | Self::Bf16)
    }

    /// The type with a fast product in which a matrix of this type is kept for speed: itself, or
    /// one that holds the same numbers, with scales in half precision: Q4_1 for Q4_K, Q5_1 for Q5_0
    /// and Q5_K, Q6 for Q6_K.
    #[must_use]
    pub fn fast(self) -> Self {
        match self {
            Self::Q4K => Self::Q4_1,
            Self::Q5_0 | Self::Q5K => Self::Q5_1,
            Self::Q6K => Self::Q6,
            _ => self,
        }
    }

    /// The number of elements of a block.
    pub fn block_len(self) -> usize {
        self.form().len
    }

    /// The bytes of a block.
    pub fn block_bytes(self) -> usize {
        self.form().bytes
    }

    /// True where all scales and least weights of whole blocks are finite, and with them all
    /// numbers: the largest scale times the largest number is far below the largest `f32`. False
    /// for a type without blocks.
    pub(crate) fn has_finite_scales(self, blocks: &[u8]) -> bool {
        // In half precision.
        let scales = match self {
            Self::Q8_0 | Self::Q4_0 | Self::Q5_0 => 0..2,
            Self::Q4_1 | Self::Q5_1 | Self::Q6 | Self::Q4K | Self::Q5K => 0..4,
            Self::Q6K => 208..210,
            Self::F32 | Self::F16 | Self::Bf16 => return false,
        };
        let is_finite = |bytes: &[u8; 2]| u16::from_le_bytes(*bytes) & 0x7c00 != 0x7c00;
        let mut blocks = blocks.chunks_exact(self.block_bytes());
        blocks.all(|block| {
            let scales = block.get(scales.clone());
            scales.is_some_and(|scales| scales.as_chunks().0.iter().all(is_finite))
        })
    }

    /// The bytes that `numbers` elements take; `None` where they are not whole blocks, or too many
    /// for an address.
    pub fn bytes(self, numbers: usize) -> Option<usize> {
        self.form().size(numbers)
    }
}
