//! Files of weights: bytes in, a directory of typed tensors out.
//!
//! Files come from strangers. Each reader checks every length with arithmetic that cannot overflow, never panics, and allocates
//! while it parses at most 16 times the file's size and a mebibyte; what it refuses it names in a
//! [`FormatError`](error::FormatError).

mod cursor;
pub mod error;
pub mod gguf;
pub mod gguf_model;
pub mod gguf_value;
pub mod llama2c;
pub mod names;
pub mod safetensors;
mod safetensors_header;
pub mod tensors;
