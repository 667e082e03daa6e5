//! Number formats of weight files: two bytes a number, and blocks of numbers that share a scale.
//!
//! Each block format has a file of its own, with its bytes and the conversions of numbers to a
//! block and back. [`Type`] names them all, [`dequantize`] and [`quantize`] convert bytes to
//! numbers and back, and a [`Matrix`] keeps its blocks and multiplies with them.
//!
//! ```
//! use engine::quant::{Type, dequantize, quantize};
//! let numbers: Vec<f32> = (0..32).map(|n| n as f32 / 10.0).collect();
//! let bytes = quantize(Type::Q8_0, &numbers)?;
//! assert_eq!(bytes.len(), 34);
//! let mut back = [0.0; 32];
//! dequantize(Type::Q8_0, &bytes, &mut back)?;
//! assert!(numbers.iter().zip(back).all(|(a, b)| (a - b).abs() < 3.1 / 127.0));
//! # Ok::<(), engine::quant::QuantError>(())
//! ```
//!
//! Source: ggml, `ggml-common.h` and `ggml-quants.c`, whose results these functions give bit for
//! bit; only the scales of K-blocks are chosen more simply, without a search.

mod block;
#[cfg_attr(not(feature = "blocks"), path = "no_blocks.rs")]
mod blocks;
mod groups;
mod matrix;
mod nibbles;
mod plain;
mod q4_0;
mod q4_1;
mod q4_k;
mod q5_0;
mod q5_1;
mod q5_k;
mod q6_k;
mod q8_0;
mod types;

pub use matrix::Matrix;
pub use types::Type;

/// An error of packing or unpacking numbers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuantError {
    /// The type is not supported.
    #[error("unsupported type {0}")]
    Unsupported(String),
    /// Bytes and numbers do not fit each other.
    #[error("expected {expected}, found {found}")]
    Length {
        /// The length that fits.
        expected: String,
        /// The length that was given.
        found: String,
    },
}

/// Writes the numbers in `bytes`, of the type `kind`, to `numbers`.
///
/// # Errors
/// When the bytes do not have exactly this many numbers, or the type has blocks and the build none
/// (feature `blocks`).
pub fn dequantize(kind: Type, bytes: &[u8], numbers: &mut [f32]) -> Result<(), QuantError> {
    if kind.bytes(numbers.len()) != Some(bytes.len()) {
        return Err(QuantError::Length {
            expected: format!("{} numbers in {}", numbers.len(), kind.name()),
            found: format!("{} bytes", bytes.len()),
        });
    }
    let unsupported = || QuantError::Unsupported(kind.name().to_owned());
    kind.form().unpack.ok_or_else(unsupported)?(bytes, numbers);
    Ok(())
}

/// The bytes of `numbers` in the type `kind`. A NaN or an infinity spoils its whole block, because
/// the block has one scale.
///
/// # Errors
/// When the numbers are not whole blocks, or the type has blocks and the build none (feature
/// `blocks`).
pub fn quantize(kind: Type, numbers: &[f32]) -> Result<Vec<u8>, QuantError> {
    let Some(length) = kind.bytes(numbers.len()) else {
        return Err(QuantError::Length {
            expected: format!("whole blocks of {} numbers", kind.block_len()),
            found: format!("{} numbers", numbers.len()),
        });
    };
    let unsupported = || QuantError::Unsupported(kind.name().to_owned());
    let mut bytes = Vec::with_capacity(length);
    kind.form().pack.ok_or_else(unsupported)?(numbers, &mut bytes);
    Ok(bytes)
}
