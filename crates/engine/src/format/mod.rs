//! Readers of weight files, which turn bytes into a directory of typed tensors.
//!
//! Files come from strangers. Each reader checks every length with arithmetic that cannot overflow,
//! never panics, and allocates while it parses at most 16 times the file's size and a mebibyte. A
//! [`FormatError`](error::FormatError) names the part of a file that is refused.

pub(crate) mod cursor;
pub mod error;
pub mod file_bytes;
pub mod gguf;
pub mod gguf_model;
pub mod gguf_value;
pub mod json;
pub mod llama2c;
pub mod names;
pub mod safetensors;
mod safetensors_header;
pub mod tensors;
