//! Writes safetensors files.

use crate::TensorBytes;
use engine::format::error::FormatError;
use engine::format::safetensors::SafeTensors;
use engine::format::tensors::values;
use engine::parameters::Memory;
use engine::quant::{Type, quantize};

const FORMAT: &str = "safetensors";

/// Tensors begin at a multiple of this, as in the reference implementation.
const ALIGNMENT: usize = 8;

/// A file of the metadata and tensors, each in its order; types are F32, F16 and BF16.
///
/// # Errors
/// When a tensor has another type or bytes for another shape, or two have one name.
pub fn write(
    metadata: &[(String, String)],
    tensors: &[TensorBytes<'_>],
) -> Result<Vec<u8>, FormatError> {
    let mut parts = Vec::with_capacity(tensors.len() + 1);
    if !metadata.is_empty() {
        let texts = metadata
            .iter()
            .map(|(key, text)| format!("{}:{}", quoted(key), quoted(text)));
        let texts = texts.collect::<Vec<_>>().join(",");
        parts.push(format!("\"__metadata__\":{{{texts}}}"));
    }
    let mut names = std::collections::BTreeSet::from(["__metadata__"]);
    let mut begin = 0;
    for tensor in tensors {
        let wrong = |expected: &str, found: String| {
            Err(FormatError::tensor(FORMAT, tensor.name, expected, found))
        };
        let dtype = match tensor.kind {
            Type::F32 => "F32",
            Type::F16 => "F16",
            Type::Bf16 => "BF16",
            other => return wrong("F32, F16 or BF16", other.name().to_owned()),
        };
        let length = values(tensor.shape).and_then(|count| tensor.kind.bytes(count));
        if length != Some(tensor.bytes.len()) {
            let expected = format!("{:?} in {dtype}", tensor.shape);
            return wrong(&expected, format!("{} bytes", tensor.bytes.len()));
        }
        if !names.insert(tensor.name) {
            return wrong("a name of its own", "one that is taken".to_owned());
        }
        let (name, shape, end) = (
            quoted(tensor.name),
            tensor.shape,
            begin + tensor.bytes.len(),
        );
        parts.push(format!(
            "{name}:{{\"dtype\":\"{dtype}\",\"shape\":{shape:?},\"data_offsets\":[{begin},{end}]}}"
        ));
        begin = end;
    }
    let mut header = format!("{{{}}}", parts.join(",")).into_bytes();
    header.resize(header.len().next_multiple_of(ALIGNMENT), b' ');
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.append(&mut header);
    for tensor in tensors {
        file.extend_from_slice(tensor.bytes);
    }
    Ok(file)
}

/// A file of a model's parameters, as [`engine::trainable::saved`] gives them.
///
/// # Errors
/// When `kind` is not F32, F16 or BF16, or a number is not finite in it.
pub fn write_parameters(
    metadata: &[(String, String)],
    parameters: &Memory,
    kind: Type,
) -> Result<Vec<u8>, FormatError> {
    let mut packed = Vec::new();
    for (name, tensor) in parameters.iter() {
        let numbers: Vec<f32> = tensor.iter().copied().collect();
        let bytes = quantize(kind, &numbers).map_err(|error| {
            FormatError::tensor(FORMAT, name, "F32, F16 or BF16", error.to_string())
        })?;
        packed.push((name, tensor.shape(), bytes));
    }
    let tensors = packed.iter().map(|(name, shape, bytes)| TensorBytes {
        name,
        shape,
        kind,
        bytes,
    });
    let file = write(metadata, &tensors.collect::<Vec<_>>())?;
    SafeTensors::parse(file.as_slice().into())?
        .tensors
        .check_finite()?;
    Ok(file)
}

/// A text as JSON has it.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            control if control < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::ndarray::array;
    use engine::parameters::Parameters;

    #[test]
    fn what_is_written_is_read_again() {
        let mut parameters = Memory::default();
        parameters.insert("b \"quoted\"\n", array![[1.0f32, -2.5, 0.125]].into_dyn());
        parameters.insert("a", array![3.0f32, 65504.0].into_dyn());
        let metadata = [("made by".to_owned(), "a \\ test".to_owned())];
        for kind in [Type::F32, Type::F16, Type::Bf16] {
            let file = write_parameters(&metadata, &parameters, kind).unwrap();
            let mut read = SafeTensors::parse(file.into()).unwrap();
            assert_eq!(read.metadata(), metadata);
            for (name, tensor) in parameters.iter() {
                let found = read.tensors.read(name).unwrap();
                assert_eq!(found.shape(), tensor.shape());
                let error = (&found - tensor).mapv(f32::abs).sum();
                assert!(
                    error < if kind == Type::Bf16 { 40.0 } else { 1e-6 },
                    "{error}"
                );
            }
        }
        let empty = write(&[], &[]).unwrap();
        assert_eq!(SafeTensors::parse(empty.into()).unwrap().metadata(), []);
    }

    #[test]
    fn what_cannot_be_read_is_not_written() {
        let mut large = Memory::default();
        large.insert("a", array![1e6f32].into_dyn());
        assert!(write_parameters(&[], &large, Type::F32).is_ok());
        assert!(write_parameters(&[], &large, Type::F16).is_err());
        assert!(write_parameters(&[], &large, Type::Q8_0).is_err());
        let bytes = [0; 8];
        let tensor = TensorBytes {
            name: "a",
            shape: &[2],
            kind: Type::F32,
            bytes: &bytes,
        };
        assert!(write(&[], &[tensor]).is_ok());
        assert!(write(&[], &[tensor, tensor]).is_err());
        let short = TensorBytes {
            shape: &[3],
            ..tensor
        };
        assert!(write(&[], &[short]).is_err());
    }
}
