//! What only the command line and tests need: writers of the formats that [`engine`] reads, and the
//! comparison of full-size models with PyTorch. The program is `notebook`; `cargo run --release -p
//! tools -- --help` lists its commands.
//!
//! ```
//! use engine::format::gguf::Gguf;
//! use engine::format::gguf_value::Value;
//! use engine::parameters::vector;
//! use engine::quant::Type;
//! use tools::{TensorBytes, gguf};
//! let metadata = vec![("general.name".to_owned(), Value::Text("two ones".to_owned()))];
//! let ones = [1.0f32.to_le_bytes(), 1.0f32.to_le_bytes()].concat();
//! let tensor = TensorBytes { name: "ones", shape: &[2], kind: Type::F32, bytes: &ones };
//! let file = gguf::write(&metadata, &[tensor])?;
//! let mut read = Gguf::parse(file.into())?;
//! assert_eq!(read.value("general.name").and_then(Value::text), Some("two ones"));
//! assert_eq!(vector(&mut read.tensors, "ones", 2)?.to_vec(), [1.0, 1.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod export;
pub mod gguf;
mod gguf_value;
pub mod reference;
pub mod safetensors;
pub mod tokenizer_json;

use engine::quant::Type;

/// A tensor to write into a file.
#[derive(Debug, Clone, Copy)]
pub struct TensorBytes<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its shape, rows first.
    pub shape: &'a [usize],
    /// The form of its numbers.
    pub kind: Type,
    /// Its numbers in that form.
    pub bytes: &'a [u8],
}

impl<'a> From<&'a (String, Vec<usize>, Type, Vec<u8>)> for TensorBytes<'a> {
    /// The tensor of a name, a shape, a form and its numbers in that form.
    fn from((name, shape, kind, bytes): &'a (String, Vec<usize>, Type, Vec<u8>)) -> Self {
        Self {
            name,
            shape,
            kind: *kind,
            bytes,
        }
    }
}
