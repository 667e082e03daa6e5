//! Numbers in two bytes, and in blocks that share a scale: the forms in which files keep large matrices.
//!
//! Each block format has a file of its own: what its bytes are, how numbers become a block and how they come back.
//! [`Type`] names them all, [`dequantize`] and [`quantize`] go between bytes and numbers, and a [`Matrix`] stays in
//! its blocks for as long as it lives.
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
//! Source: ggml, `ggml-common.h` and `ggml-quants.c`, whose results these functions give bit for bit; only the scales of
//! K-blocks are chosen more simply, without a search.

mod block;
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

/// The numbers in `bytes`.
///
/// # Errors
/// When `numbers` are not as many as the bytes hold.
pub fn dequantize(kind: Type, bytes: &[u8], numbers: &mut [f32]) -> Result<(), QuantError> {
    kind.form().check(bytes.len(), numbers.len())?;
    (kind.form().unpack)(bytes, numbers);
    Ok(())
}

/// Numbers as bytes of a type. What is not finite does not survive in blocks: a scale belongs to all of a block.
///
/// # Errors
/// When the numbers are not whole blocks.
pub fn quantize(kind: Type, numbers: &[f32]) -> Result<Vec<u8>, QuantError> {
    let Some(length) = kind.bytes(numbers.len()) else {
        return Err(QuantError::Length {
            expected: format!("whole blocks of {} numbers", kind.block_len()),
            found: format!("{} numbers", numbers.len()),
        });
    };
    let mut bytes = Vec::with_capacity(length);
    (kind.form().pack)(numbers, &mut bytes);
    Ok(bytes)
}
