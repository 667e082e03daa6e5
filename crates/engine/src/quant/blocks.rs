//! Matrices of numbers in blocks, or of two bytes each.
//!
//! Q8_0, Q4_0, Q4_1, Q5_1 and Q6 have kernels of their own ([`PackedBlocks`]), for which the
//! activations are rounded to 8 bits, block by block. F16 and BF16 have one too ([`PackedHalf`]),
//! whose products have the bits of those in F32. A matrix of any other type is unpacked a few rows
//! at a time while it is multiplied.

use std::ops::Range;

use super::matrix::PANEL;
use super::{QuantError, Type};
use crate::kernel::{
    self, BlockType, HalfType, PackedBlocks, PackedHalf, QuantizedActivations, threads,
};

/// A matrix `[rows, cols]` of a type other than F32.
#[derive(Debug, PartialEq)]
pub(super) enum Blocks {
    /// Of a type with a kernel of its own.
    Quick(PackedBlocks),
    /// Of numbers with 16 bits.
    Half(PackedHalf),
    /// Of another type, in the bytes of a file.
    Stored {
        kind: Type,
        rows: usize,
        cols: usize,
        bytes: Vec<u8>,
    },
}

impl Blocks {
    /// A matrix from its blocks, which are as many as it has.
    ///
    /// # Errors
    /// None; a build without blocks refuses every type.
    #[expect(clippy::unnecessary_wraps)]
    pub(super) fn new(
        kind: Type,
        rows: usize,
        cols: usize,
        bytes: Vec<u8>,
    ) -> Result<Self, QuantError> {
        if let Some(mut quick) = Self::empty(kind, rows, cols) {
            quick.set_rows(0, &bytes);
            return Ok(quick);
        }
        let half = |kind| Self::Half(PackedHalf::new(kind, &bytes, rows, cols));
        Ok(match kind {
            Type::F16 => half(HalfType::F16),
            Type::Bf16 => half(HalfType::Bf16),
            _ => Self::Stored {
                kind,
                rows,
                cols,
                bytes,
            },
        })
    }

    /// A matrix whose rows are to be set, of whole blocks; `None` where the type has no kernel for
    /// blocks.
    pub(super) fn empty(kind: Type, rows: usize, cols: usize) -> Option<Self> {
        let kind = match kind {
            Type::Q8_0 => BlockType::Q8_0,
            Type::Q4_0 => BlockType::Q4_0,
            Type::Q4_1 => BlockType::Q4_1,
            Type::Q5_1 => BlockType::Q5_1,
            Type::Q6 => BlockType::Q6,
            _ => return None,
        };
        Some(Self::Quick(PackedBlocks::zeros(kind, rows, cols)))
    }

    /// Sets some rows of a matrix that was made by [`Self::empty`], from row `first` on.
    pub(super) fn set_rows(&mut self, first: usize, bytes: &[u8]) {
        if let Self::Quick(packed) = self {
            packed.set_rows(first, bytes);
        }
    }

    /// The type of its elements.
    pub(super) fn kind(&self) -> Type {
        match self {
            Self::Quick(packed) => match packed.kind() {
                BlockType::Q8_0 => Type::Q8_0,
                BlockType::Q4_0 => Type::Q4_0,
                BlockType::Q4_1 => Type::Q4_1,
                BlockType::Q5_1 => Type::Q5_1,
                BlockType::Q6 => Type::Q6,
            },
            Self::Half(packed) => match packed.kind() {
                HalfType::F16 => Type::F16,
                HalfType::Bf16 => Type::Bf16,
            },
            Self::Stored { kind, .. } => *kind,
        }
    }

    /// The shape, (rows, cols).
    pub(super) fn dim(&self) -> (usize, usize) {
        match self {
            Self::Quick(packed) => (packed.rows(), packed.cols()),
            Self::Half(packed) => (packed.rows(), packed.cols()),
            Self::Stored { rows, cols, .. } => (*rows, *cols),
        }
    }

    /// The memory that its elements take, in bytes.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Quick(packed) => packed.bytes(),
            Self::Half(packed) => packed.bytes(),
            Self::Stored { bytes, .. } => bytes.len(),
        }
    }

    /// The bits of the activations that it multiplies: 32, or 8 where they are rounded first.
    pub(super) fn activation_bits(&self) -> u32 {
        match self {
            Self::Quick(packed) => packed.activation_bits(),
            Self::Half(_) | Self::Stored { .. } => u32::BITS,
        }
    }

    /// The numbers of row `row`.
    pub(super) fn unpack_row(&self, row: usize, numbers: &mut [f32]) {
        match self {
            Self::Quick(packed) => packed.unpack_row(row, numbers),
            Self::Half(packed) => packed.unpack_row(row, numbers),
            Self::Stored {
                kind, cols, bytes, ..
            } => unpack(*kind, bytes, row * cols, numbers),
        }
    }

    /// The blocks of some rows in the type that has a kernel ([`Type::fast`]), with the same
    /// numbers; `None` for a matrix that has a kernel already, or where half precision does not
    /// hold their scales.
    pub(super) fn fast_blocks(&self, rows: Range<usize>) -> Option<Vec<u8>> {
        let Self::Stored {
            kind, cols, bytes, ..
        } = self
        else {
            return None;
        };
        let row_bytes = kind.bytes(*cols)?;
        let bytes = bytes.get(rows.start * row_bytes..rows.end * row_bytes)?;
        match kind {
            Type::Q4K => super::q4_k::as_q4_1(bytes),
            Type::Q5_0 => super::q5_0::as_q5_1(bytes),
            Type::Q5K => super::q5_k::as_q5_1(bytes),
            Type::Q6K => super::q6_k::as_q6(bytes),
            _ => None,
        }
    }

    /// The product x · selfᵀ for `tokens` rows of x.
    pub(super) fn product(&self, x: &[f32], tokens: usize) -> Vec<f32> {
        // x [T, cols] -> [T, rows]
        match self {
            Self::Quick(packed) => {
                let mut activations = QuantizedActivations::new();
                activations.quantize(x, packed.cols());
                let mut out = vec![0.0; tokens * packed.rows()];
                kernel::matmul_blocks(packed, &activations, &mut out);
                out
            }
            Self::Half(packed) => {
                let mut out = vec![0.0; tokens * packed.rows()];
                kernel::matmul_half(packed, x, &mut out);
                out
            }
            Self::Stored {
                kind,
                rows,
                cols,
                bytes,
            } => unpacked_product(*kind, bytes, x, [tokens, *cols, *rows]),
        }
    }
}

/// Writes the elements from number `start` on to `numbers`; both the start and the length are whole
/// blocks.
fn unpack(kind: Type, bytes: &[u8], start: usize, numbers: &mut [f32]) {
    let form = kind.form();
    let size = |numbers: usize| numbers / form.len * form.bytes;
    let bytes = &bytes[size(start)..size(start + numbers.len())];
    if let Some(unpack) = form.unpack {
        unpack(bytes, numbers);
    }
}

/// The product x · Wᵀ, with W unpacked panel by panel.
fn unpacked_product(
    kind: Type,
    bytes: &[u8],
    x: &[f32],
    [tokens, cols, rows]: [usize; 3],
) -> Vec<f32> {
    // x [T, K], W [M, K] -> [T, M]
    let height = (PANEL / cols.max(1)).max(1);
    let mut panels = vec![0.0; tokens * rows];
    threads::chunks(&mut panels, tokens * height, 1, |n, product| {
        let here = product.len() / tokens;
        let mut panel = vec![0.0; here * cols];
        unpack(kind, bytes, n * height * cols, &mut panel);
        kernel::matmul_nt(x, &panel, product, tokens, cols, here);
    });
    if tokens == 1 {
        return panels;
    }
    concat_columns(&panels, tokens, rows, height)
}

/// Joins products of `height` columns each, which follow each other, into one matrix.
fn concat_columns(panels: &[f32], tokens: usize, cols: usize, height: usize) -> Vec<f32> {
    // panels [cols / height][T, height] -> [T, cols]
    let mut out = vec![0.0; panels.len()];
    for (n, panel) in panels.chunks((tokens * height).max(1)).enumerate() {
        let here = panel.len() / tokens;
        for (to, from) in out.chunks_exact_mut(cols).zip(panel.chunks_exact(here)) {
            to[n * height..n * height + here].copy_from_slice(from);
        }
    }
    out
}
