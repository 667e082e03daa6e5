//! The inner steps of the products with quantized weights, by name: which one a machine uses depends
//! on its instructions, on the type of the weights and on the number of tokens.

/// The way in which the inner loop of a product multiplies weights with activations of 8 bits. All
/// give the same integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InnerStep {
    /// The plain loop.
    Plain,
    /// Both factors as numbers of 16 bits.
    Wide,
    /// `i32x4_relaxed_dot_i8x16_i7x16_add` with signed activations.
    RelaxedSigned,
    /// The same with unsigned activations: 127 was added to them.
    RelaxedUnsigned,
    /// `i16x8_relaxed_dot_i8x16_i7x16` twice, with the positive and the negative activations.
    RelaxedTwice,
    /// The same with the weights, of 4 to 6 bits, as its operand of 7 bits.
    RelaxedWeights,
    /// `i16x8_relaxed_dot_i8x16_i7x16`, added in 16 bits.
    RelaxedPairs,
    /// `vpmaddubsw`.
    Avx2,
    /// `vpdpbusd`.
    Vnni,
    /// `i32x4_relaxed_dot_i8x16_i7x16_add` with unsigned weights: 128 was added to them.
    RelaxedUnsignedWeights,
    /// The same with whole bytes, each the weights of two rows, and with their upper halves.
    RelaxedNibbles,
}

/// The steps of an implementation: for weights of 8 bits, then for those of 4 bits, then for those
/// of 5 and 6 bits, each for one token and for many.
pub(crate) type InnerSteps = [[InnerStep; 2]; 3];

/// The steps of an implementation without an int8 kernel.
pub(crate) const PLAIN: InnerSteps = [[InnerStep::Plain; 2]; 3];

impl InnerStep {
    /// Every step; each is at its number.
    pub const ALL: [Self; 11] = [
        Self::Plain,
        Self::Wide,
        Self::RelaxedSigned,
        Self::RelaxedUnsigned,
        Self::RelaxedTwice,
        Self::RelaxedWeights,
        Self::RelaxedPairs,
        Self::Avx2,
        Self::Vnni,
        Self::RelaxedUnsignedWeights,
        Self::RelaxedNibbles,
    ];

    /// Its number in messages.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// Its words, for a reader.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Plain => "one number at a time",
            Self::Wide => "products of 16-bit numbers",
            Self::RelaxedSigned => "relaxed dot product, signed activations",
            Self::RelaxedUnsigned => "relaxed dot product, unsigned activations",
            Self::RelaxedTwice => "two relaxed dot products, positive and negative activations",
            Self::RelaxedWeights => "relaxed dot product, weights as the 7-bit operand",
            Self::RelaxedPairs => "relaxed products in pairs, added in 16 bits",
            Self::Avx2 => "products in pairs, AVX2",
            Self::Vnni => "dot product of bytes, VNNI",
            Self::RelaxedUnsignedWeights => "relaxed dot product, unsigned weights",
            Self::RelaxedNibbles => "relaxed dot product, two weights of a byte at once",
        }
    }
}
