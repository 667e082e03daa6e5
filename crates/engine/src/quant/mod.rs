//! Numbers in two bytes and in blocks of 32 with a scale, as GGUF files have them.
//!
//! Five types are read so far: F32, F16, BF16, Q8_0 and Q4_0; any other is refused with a typed error. A matrix is unpacked once,
//! when it is made, and multiplied as `f32`: it takes the memory of plain numbers.
//!
//! Source: ggml, `ggml-quants.c` (`dequantize_row_q8_0`, `dequantize_row_q4_0`).

use crate::error::{EngineError, Result};
use crate::nn::embedding::embed;
use crate::nn::linear::linear;
use ndarray::{Array2, ArrayView1, ArrayView2};

/// A form of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// Four bytes each.
    F32,
    /// IEEE half precision.
    F16,
    /// The upper half of an f32.
    Bf16,
    /// 32 signed bytes behind their scale in f16.
    Q8_0,
    /// 32 halves of a byte, 8 standing for 0, behind their scale in f16.
    Q4_0,
}

/// Why numbers cannot be packed or unpacked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuantError {
    /// The type is not known here.
    #[error("unsupported type {0}")]
    Unsupported(String),
    /// Bytes and numbers do not fit each other.
    #[error("expected {expected}, found {found}")]
    Length {
        /// What fits.
        expected: String,
        /// What came.
        found: String,
    },
}

impl Type {
    /// Its name in GGUF files.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "F32",
            Self::F16 => "F16",
            Self::Bf16 => "BF16",
            Self::Q8_0 => "Q8_0",
            Self::Q4_0 => "Q4_0",
        }
    }

    /// The type of a number in a GGUF file.
    ///
    /// # Errors
    /// When it is none of these.
    pub fn from_ggml(id: u32) -> Result<Self, QuantError> {
        let all = [Self::F32, Self::F16, Self::Bf16, Self::Q8_0, Self::Q4_0];
        let known = all.into_iter().find(|kind| kind.ggml_id() == id);
        known.ok_or_else(|| QuantError::Unsupported(id.to_string()))
    }

    /// Its number in GGUF files.
    pub fn ggml_id(self) -> u32 {
        match self {
            Self::F32 => 0,
            Self::F16 => 1,
            Self::Q4_0 => 2,
            Self::Q8_0 => 8,
            Self::Bf16 => 30,
        }
    }

    /// How many numbers make a block.
    pub fn block_len(self) -> usize {
        match self {
            Self::F32 | Self::F16 | Self::Bf16 => 1,
            Self::Q8_0 | Self::Q4_0 => 32,
        }
    }

    /// How many bytes a block takes.
    pub fn block_bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
            Self::Q8_0 => 34,
            Self::Q4_0 => 18,
        }
    }

    /// How many bytes so many numbers take; `None` where they are not whole blocks, or too many.
    pub fn bytes(self, values: usize) -> Option<usize> {
        let whole = values.is_multiple_of(self.block_len());
        let blocks = whole.then_some(values / self.block_len())?;
        blocks.checked_mul(self.block_bytes())
    }
}

fn half(bytes: &[u8]) -> f32 {
    let &[low, high, ..] = bytes else { return 0.0 };
    let bits = u32::from(u16::from_le_bytes([low, high]));
    let (sign, exponent, fraction) = ((bits >> 15) << 31, (bits >> 10) & 31, bits & 1023);
    match exponent {
        // Below the smallest normal number: a fraction of 2^-24.
        0 => f32::from_bits(sign | (fraction as f32 / 16_777_216.0).to_bits()),
        31 => f32::from_bits(sign | 0x7f80_0000 | (fraction << 13)),
        _ => f32::from_bits(sign | ((exponent + 112) << 23) | (fraction << 13)),
    }
}

/// The numbers in `bytes`.
///
/// # Errors
/// When `numbers` are not as many as the bytes hold.
pub fn dequantize(kind: Type, bytes: &[u8], numbers: &mut [f32]) -> Result<(), QuantError> {
    if kind.bytes(numbers.len()) != Some(bytes.len()) {
        return Err(QuantError::Length {
            expected: format!("{} numbers in {}", numbers.len(), kind.name()),
            found: format!("{} bytes", bytes.len()),
        });
    }
    let blocks = bytes.chunks_exact(kind.block_bytes());
    for (block, numbers) in blocks.zip(numbers.chunks_exact_mut(kind.block_len())) {
        let packed = block.iter().skip(2);
        match (kind, block) {
            (Type::F32, &[a, b, c, d]) => numbers.fill(f32::from_le_bytes([a, b, c, d])),
            (Type::Bf16, &[a, b]) => numbers.fill(f32::from_le_bytes([0, 0, a, b])),
            (Type::F16, _) => numbers.fill(half(block)),
            (Type::Q4_0, _) => {
                let scale = half(block);
                let (low, high) = numbers.split_at_mut(16);
                for ((low, high), &byte) in low.iter_mut().zip(high).zip(packed) {
                    *low = scale * (f32::from(byte & 15) - 8.0);
                    *high = scale * (f32::from(byte >> 4) - 8.0);
                }
            }
            _ => {
                let scale = half(block);
                for (number, &byte) in numbers.iter_mut().zip(packed) {
                    *number = scale * f32::from(byte.cast_signed());
                }
            }
        }
    }
    Ok(())
}

/// The nearest half-precision number.
fn to_half(x: f32) -> [u8; 2] {
    let (sign, magnitude) = ((x.to_bits() >> 16) & 0x8000, x.to_bits() & 0x7fff_ffff);
    let half = match x.abs() {
        y if y.is_nan() => 0x7e00,
        y if y >= 65_520.0 => 0x7c00,
        // Below the smallest normal number: a multiple of 2^-24.
        y if y < 1.0 / 16_384.0 => (y * 16_777_216.0).round_ties_even() as u32,
        _ => ((magnitude + 0xfff + ((magnitude >> 13) & 1)) >> 13) - (112 << 10),
    };
    ((sign | half) as u16).to_le_bytes()
}

/// Numbers in F32, Q8_0 or Q4_0.
///
/// # Errors
/// When `kind` is another, or the numbers are not whole blocks.
pub fn quantize(kind: Type, numbers: &[f32]) -> Result<Vec<u8>, QuantError> {
    let Some(length) = kind.bytes(numbers.len()) else {
        return Err(QuantError::Length {
            expected: format!("whole blocks of {}", kind.name()),
            found: format!("{} numbers", numbers.len()),
        });
    };
    let mut bytes = Vec::with_capacity(length);
    for block in numbers.chunks_exact(kind.block_len()) {
        let largest = block
            .iter()
            .copied()
            .fold(0.0f32, |a, b| if b.abs() > a.abs() { b } else { a });
        let inverse = |scale: f32| if scale == 0.0 { 0.0 } else { 1.0 / scale };
        match kind {
            Type::F32 => bytes.extend(block.iter().flat_map(|x| x.to_le_bytes())),
            Type::Q8_0 => {
                let scale = largest.abs() / 127.0;
                bytes.extend(to_half(scale));
                let packed = block.iter().map(|x| (x * inverse(scale)).round() as i8);
                bytes.extend(packed.map(i8::cast_unsigned));
            }
            Type::Q4_0 => {
                let scale = largest / -8.0;
                bytes.extend(to_half(scale));
                let nibble = |x: &f32| ((x * inverse(scale) + 8.5) as u8).min(15);
                let (low, high) = block.split_at(16);
                bytes.extend(
                    low.iter()
                        .zip(high)
                        .map(|(low, high)| nibble(low) | nibble(high) << 4),
                );
            }
            Type::F16 | Type::Bf16 => return Err(QuantError::Unsupported(kind.name().to_owned())),
        }
    }
    Ok(bytes)
}

/// A matrix in blocks; on this branch it is unpacked at once.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix(Box<Array2<f32>>);

impl Matrix {
    /// A matrix `[rows, cols]`.
    ///
    /// # Errors
    /// When the bytes are not those of such a matrix.
    pub fn new(kind: Type, rows: usize, cols: usize, bytes: Vec<u8>) -> Result<Self, QuantError> {
        let wrong = || QuantError::Length {
            expected: format!("{:?} in {}", [rows, cols], kind.name()),
            found: format!("{} bytes", bytes.len()),
        };
        let count = rows
            .checked_mul(cols)
            .filter(|&n| kind.bytes(n) == Some(bytes.len()));
        let mut numbers = vec![0.0; count.ok_or_else(wrong)?];
        dequantize(kind, &bytes, &mut numbers)?;
        Array2::from_shape_vec((rows, cols), numbers)
            .map(|matrix| Self(Box::new(matrix)))
            .map_err(|_| wrong())
    }

    /// `[rows, cols]`.
    pub fn dim(&self) -> (usize, usize) {
        self.0.dim()
    }

    /// The rows that `ids` name.
    ///
    /// # Errors
    /// When an id is not a row.
    pub fn rows(&self, ids: &[usize]) -> Result<Array2<f32>, EngineError> {
        embed(self.0.view(), ids)
    }

    /// x · selfᵀ + bias.
    ///
    /// # Errors
    /// When the shapes do not fit.
    pub fn linear(
        &self,
        x: ArrayView2<'_, f32>,
        bias: Option<ArrayView1<'_, f32>>,
    ) -> Result<Array2<f32>, EngineError> {
        linear(x, self.0.view(), bias)
    }
}
