//! Writes safetensors files.

use crate::TensorBytes;
use engine::format::error::FormatError;
use engine::format::safetensors::{SCALES, SafeTensors, WEIGHTS};
use engine::format::tensors::{SCALED, values};
use engine::parameters::Memory;
use engine::quant::{QuantError, Type, dequantize, quantize};
use serde_json::{Map, Value};

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
    let mut plain = Vec::with_capacity(tensors.len());
    for tensor in tensors {
        let dtype = match tensor.kind {
            Type::F32 => "F32",
            Type::F16 => "F16",
            Type::Bf16 => "BF16",
            other => {
                let (expected, found) = ("F32, F16 or BF16", other.name());
                return Err(FormatError::tensor(FORMAT, tensor.name, expected, found));
            }
        };
        let length = values(tensor.shape).and_then(|count| tensor.kind.bytes(count));
        if length != Some(tensor.bytes.len()) {
            let expected = format!("{:?} in {dtype}", tensor.shape);
            let found = format!("{} bytes", tensor.bytes.len());
            return Err(FormatError::tensor(FORMAT, tensor.name, expected, found));
        }
        plain.push((tensor.name, dtype, tensor.shape, tensor.bytes));
    }
    joined(metadata, &plain)
}

/// A file of the metadata and tensors: name, type, shape and bytes, which fit each other.
fn joined(
    metadata: &[(String, String)],
    tensors: &[(&str, &str, &[usize], &[u8])],
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
    for &(name, dtype, shape, bytes) in tensors {
        if !names.insert(name) {
            let (expected, found) = ("a name of its own", "one that is taken");
            return Err(FormatError::tensor(FORMAT, name, expected, found));
        }
        let (name, end) = (quoted(name), begin + bytes.len());
        parts.push(format!(
            "{name}:{{\"dtype\":\"{dtype}\",\"shape\":{shape:?},\"data_offsets\":[{begin},{end}]}}"
        ));
        begin = end;
    }
    let mut header = format!("{{{}}}", parts.join(",")).into_bytes();
    header.resize(header.len().next_multiple_of(ALIGNMENT), b' ');
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.append(&mut header);
    for (_, _, _, bytes) in tensors {
        file.extend_from_slice(bytes);
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

/// A file of a model's parameters whose matrices are in Q8_0: signed bytes apart from their scales
/// (see [`engine::format::safetensors`]). The rest is in half precision: those that `keeps`
/// names, and tensors that are no matrix ([`is_matrix`]). With `bits` fewer than 8 the bytes use a part of their range, from -63 to 63
/// with 7: the file is as large, but smaller after gzip.
///
/// # Errors
/// When `bits` is not 2 to 8, a number or a scale is not finite in half precision, or the metadata have [`WEIGHTS`]
/// already.
pub fn write_scaled(
    metadata: &[(String, String)],
    parameters: &Memory,
    bits: u8,
    keeps: impl Fn(&str) -> bool,
) -> Result<Vec<u8>, FormatError> {
    if !(2..=8).contains(&bits) {
        return Err(FormatError::part(FORMAT, "bits", "2 to 8", bits));
    }
    let steps = f32::from((1_u8 << (bits - 1)) - 1);
    if metadata.iter().any(|(key, _)| key == WEIGHTS) {
        let found = "another text";
        return Err(FormatError::part(FORMAT, WEIGHTS, Type::Q8_0.name(), found));
    }
    let (mut quants, mut scales, mut plain) = (Vec::new(), Vec::new(), Vec::new());
    for (name, tensor) in parameters.iter() {
        let numbers: Vec<f32> = tensor.iter().copied().collect();
        if let Some(x) = numbers.iter().find(|x| !x.is_finite()) {
            return Err(FormatError::tensor(FORMAT, name, "finite numbers", x));
        }
        let wrong = |error: QuantError| FormatError::tensor(FORMAT, name, "F16", error.to_string());
        let shape = tensor.shape().to_vec();
        let half = quantize(Type::F16, &numbers).map_err(wrong)?;
        if keeps(name) || !is_matrix(&shape) {
            plain.push((name.to_owned(), "F16", shape, half));
            continue;
        }
        let (bytes, halves) = scaled(&numbers, steps).map_err(wrong)?;
        let count = numbers.len().div_ceil(SCALED);
        quants.push((name.to_owned(), "I8", shape, bytes));
        scales.push((format!("{name}{SCALES}"), "F16", vec![count], halves));
    }
    // Like beside like, for gzip.
    let all: Vec<_> = quants.into_iter().chain(scales).chain(plain).collect();
    let tensors = all.iter().map(|(name, dtype, shape, bytes)| {
        (name.as_str(), *dtype, shape.as_slice(), bytes.as_slice())
    });
    let mut metadata = metadata.to_vec();
    metadata.push((WEIGHTS.to_owned(), Type::Q8_0.name().to_owned()));
    let file = joined(&metadata, &tensors.collect::<Vec<_>>())?;
    SafeTensors::parse(file.as_slice().into())?
        .tensors
        .check_finite()?;
    Ok(file)
}

/// A part of a file: the tensors that `keeps` names, with their bytes and in their order, and the
/// metadata, where `changed` gives texts other than those of the whole.
///
/// # Errors
/// When the whole is no such file.
pub fn part(
    whole: &[u8],
    changed: &[(&str, &str)],
    keeps: impl Fn(&str) -> bool,
) -> Result<Vec<u8>, FormatError> {
    let file = SafeTensors::parse(whole.into())?;
    let metadata = file.metadata().iter().map(|(key, text)| {
        let other = changed.iter().find(|(name, _)| name == key);
        (
            key.clone(),
            other.map_or(text.clone(), |(_, text)| (*text).to_owned()),
        )
    });
    let metadata: Vec<(String, String)> = metadata.collect();
    // The file is well-formed: what is looked up below is there.
    let (length, rest) = whole.split_at_checked(8).unwrap_or_default();
    let length = u64::from_le_bytes(length.try_into().unwrap_or_default()) as usize;
    let (header, data) = rest.split_at_checked(length).unwrap_or_default();
    let header: Map<String, Value> = serde_json::from_slice(header).unwrap_or_default();
    let number = |value: &Value| value.as_u64().unwrap_or_default() as usize;
    let described = |(name, about): (&String, &Value)| {
        let list = |key: &str| about[key].as_array().into_iter().flatten().map(number);
        let shape: Vec<usize> = list("shape").collect();
        let offsets: Vec<usize> = list("data_offsets").collect();
        let dtype = about["dtype"].as_str().unwrap_or_default().to_owned();
        (offsets, name.clone(), dtype, shape)
    };
    let mut kept: Vec<_> = header
        .iter()
        .filter(|(name, _)| *name != "__metadata__" && keeps(name))
        .map(described)
        .collect();
    kept.sort();
    let tensors = kept.iter().map(|(offsets, name, dtype, shape)| {
        let bytes = match offsets[..] {
            [begin, end] => data.get(begin..end).unwrap_or_default(),
            _ => &[],
        };
        (name.as_str(), dtype.as_str(), &shape[..], bytes)
    });
    joined(&metadata, &tensors.collect::<Vec<_>>())
}

/// True for a shape with at least two axes longer than 1.
pub fn is_matrix(shape: &[usize]) -> bool {
    shape.iter().filter(|&&axis| axis > 1).count() >= 2
}

/// Signed bytes of at most `steps`, and their scales in half precision. A byte is chosen by the
/// rounded scale, which is the one that it is multiplied with again.
fn scaled(numbers: &[f32], steps: f32) -> Result<(Vec<u8>, Vec<u8>), QuantError> {
    let farthest = |part: &[f32]| part.iter().fold(0.0, |most: f32, x| most.max(x.abs()));
    let parts = || numbers.chunks(SCALED);
    let scales: Vec<f32> = parts().map(|part| farthest(part) / steps).collect();
    let halves = quantize(Type::F16, &scales)?;
    let mut rounded = vec![0.0; scales.len()];
    dequantize(Type::F16, &halves, &mut rounded)?;
    let mut bytes = Vec::with_capacity(numbers.len());
    for (part, scale) in parts().zip(rounded) {
        // A scale of 0 gives no number, which becomes 0.
        let byte = |x: &f32| ((x / scale).round().clamp(-steps, steps) as i8).cast_unsigned();
        bytes.extend(part.iter().map(byte));
    }
    Ok((bytes, halves))
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
    use engine::ndarray::{Array, array};
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
    fn a_part_has_the_bytes_of_the_whole() {
        let mut parameters = Memory::default();
        parameters.insert("a", array![[1.0f32, -2.5], [0.125, 3.0]].into_dyn());
        parameters.insert("b", array![4.0f32].into_dyn());
        parameters.insert("c", array![5.0f32, 6.0].into_dyn());
        let metadata = [("k", "1"), ("kept", "2")].map(|(k, v)| (k.to_owned(), v.to_owned()));
        let whole = write_scaled(&metadata, &parameters, 8, none).unwrap();
        let kept = part(&whole, &[("k", "3")], |name| !name.starts_with('b')).unwrap();
        let (mut whole, mut kept) = (
            SafeTensors::parse(whole.into()).unwrap(),
            SafeTensors::parse(kept.into()).unwrap(),
        );
        let of = |key: &str| {
            kept.metadata()
                .iter()
                .find(|(name, _)| name == key)
                .cloned()
        };
        assert_eq!(of("k").unwrap().1, "3");
        assert_eq!(of("kept").unwrap().1, "2");
        assert!(kept.tensors.read("b").is_err());
        for name in ["a", "c"] {
            assert_eq!(kept.tensors.read(name), whole.tensors.read(name));
        }
        assert!(part(b"no file", &[], |_| true).is_err());
    }

    fn none(_: &str) -> bool {
        false
    }

    #[test]
    fn matrices_in_signed_bytes_are_read_as_their_products() {
        let wave = |n: usize| (n as f32 * 0.7).sin();
        let mut parameters = Memory::default();
        // Neither the rows nor the whole are multiples of 32; the middle of it is 0.
        let matrix = Array::from_shape_fn((7, 21), |(r, c)| match r {
            2..=4 => 0.0,
            _ => wave(21 * r + c),
        });
        parameters.insert("matrix", matrix.clone().into_dyn());
        parameters.insert(
            "one row",
            Array::from_shape_fn((1, 40), |(_, c)| wave(c)).into_dyn(),
        );
        parameters.insert("bias", array![1.0f32, -0.3].into_dyn());
        let metadata = [("made by".to_owned(), "a test".to_owned())];
        for (bits, steps) in [(8, 127.0), (7, 63.0), (2, 1.0)] {
            let file = write_scaled(&metadata, &parameters, bits, none).unwrap();
            let mut read = SafeTensors::parse(file.into()).unwrap();
            assert_eq!(
                read.metadata()[1],
                ("weights".to_owned(), "Q8_0".to_owned())
            );
            let forms = read.tensors.entries().iter();
            let forms = forms.map(|entry| (entry.name(), entry.element().name()));
            let expected = [("matrix", "Q8_0"), ("bias", "F16"), ("one row", "F16")];
            assert_eq!(forms.collect::<Vec<_>>(), expected);
            let found = read.tensors.read("matrix").unwrap();
            assert_eq!(found.shape(), [7, 21]);
            for (found, number) in found.iter().zip(&matrix) {
                let error = (found - number).abs();
                assert!(error <= 0.51 / steps, "{found} for {number}");
            }
            let file = write_scaled(&[], &parameters, bits, |name| name == "matrix").unwrap();
            let kept = SafeTensors::parse(file.into()).unwrap().tensors;
            assert_eq!(kept.entry("matrix").unwrap().element().name(), "F16");
            // Written again, it is the same to the last bit.
            let mut again = Memory::default();
            again.insert("matrix", found.clone());
            let file = write_scaled(&[], &again, bits, none).unwrap();
            let mut read = SafeTensors::parse(file.into()).unwrap();
            assert_eq!(read.tensors.read("matrix").unwrap(), found);
        }
    }

    #[test]
    fn what_cannot_be_read_is_not_written() {
        let mut large = Memory::default();
        large.insert("a", array![1e6f32].into_dyn());
        assert!(write_parameters(&[], &large, Type::F32).is_ok());
        assert!(write_parameters(&[], &large, Type::F16).is_err());
        assert!(write_parameters(&[], &large, Type::Q8_0).is_err());
        assert!(write_scaled(&[], &large, 8, none).is_err());
        for bits in [0, 1, 9] {
            assert!(write_scaled(&[], &Memory::default(), bits, none).is_err());
        }
        for bad in [f32::NAN, f32::INFINITY, 1e8] {
            let mut wrong = Memory::default();
            wrong.insert("a", array![[1.0f32, bad], [0.0, 2.0]].into_dyn());
            assert!(write_scaled(&[], &wrong, 8, none).is_err(), "{bad}");
        }
        let said = [("weights".to_owned(), "F16".to_owned())];
        let error = write_scaled(&said, &Memory::default(), 8, none).unwrap_err();
        assert!(error.to_string().contains("weights"), "{error}");
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
