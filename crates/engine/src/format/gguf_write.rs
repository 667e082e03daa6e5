//! Writes GGUF files, version 3.

use super::error::{FormatError, shortened};
use super::gguf::{ALIGNMENT_KEY, FORMAT, MAGIC, MOST_AXES, alignment_of};
use super::gguf_value::{DEEPEST, Value, write_text};
use super::tensors::values;
use crate::quant::Type;

/// A tensor to write.
#[derive(Debug, Clone, Copy)]
pub struct TensorBytes<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its shape, rows first.
    pub shape: &'a [usize],
    /// What its bytes are.
    pub kind: Type,
    /// Its numbers in that form.
    pub bytes: &'a [u8],
}

/// A file of the metadata and tensors, each in its order; `general.alignment` in the metadata sets the alignment.
///
/// # Errors
/// When the reader would refuse the file: a tensor has bytes for another shape, rows that are not whole blocks or more than four
/// axes, or a name or key comes twice.
pub fn write(
    metadata: &[(String, Value)],
    tensors: &[TensorBytes<'_>],
) -> Result<Vec<u8>, FormatError> {
    check_keys(metadata)?;
    let alignment = metadata.iter().find(|(key, _)| key == ALIGNMENT_KEY);
    let alignment = alignment_of(alignment.map(|(_, value)| value))?;
    let mut file = MAGIC.to_vec();
    file.extend(3u32.to_le_bytes());
    file.extend((tensors.len() as u64).to_le_bytes());
    file.extend((metadata.len() as u64).to_le_bytes());
    for (key, value) in metadata {
        write_text(&mut file, key);
        value.write(&mut file);
    }
    let mut offset = 0;
    for tensor in tensors {
        check(tensor)?;
        write_text(&mut file, tensor.name);
        file.extend((tensor.shape.len() as u32).to_le_bytes());
        for &axis in tensor.shape.iter().rev() {
            file.extend((axis as u64).to_le_bytes());
        }
        file.extend(tensor.kind.ggml_id().to_le_bytes());
        file.extend((offset as u64).to_le_bytes());
        offset = (offset + tensor.bytes.len()).next_multiple_of(alignment);
    }
    let pad = |file: &mut Vec<u8>| file.resize(file.len().next_multiple_of(alignment), 0);
    pad(&mut file);
    for tensor in tensors {
        file.extend(tensor.bytes);
        pad(&mut file);
    }
    check_names(tensors)?;
    Ok(file)
}

fn check(tensor: &TensorBytes<'_>) -> Result<(), FormatError> {
    let wrong = |expected: String, found: String| {
        Err(FormatError::tensor(FORMAT, tensor.name, expected, found))
    };
    let shape = tensor.shape;
    if shape.len() > MOST_AXES || shape.contains(&0) {
        return wrong(
            "at most 4 axes, each from 1 on".to_owned(),
            format!("{shape:?}"),
        );
    }
    let columns = shape.last().copied().unwrap_or(1);
    let length = values(shape).and_then(|values| tensor.kind.bytes(values));
    let length = length.filter(|_| columns.is_multiple_of(tensor.kind.block_len()));
    let Some(length) = length else {
        let expected = format!("rows of whole blocks of {}", tensor.kind.name());
        return wrong(expected, format!("{shape:?}"));
    };
    if length != tensor.bytes.len() {
        let expected = format!("{length} bytes for {shape:?} in {}", tensor.kind.name());
        return wrong(expected, tensor.bytes.len().to_string());
    }
    Ok(())
}

fn check_keys(metadata: &[(String, Value)]) -> Result<(), FormatError> {
    for (key, value) in metadata {
        let depth = value.array().map_or(0, |array| array.depth());
        if depth > DEEPEST {
            let expected = format!("arrays nested at most {DEEPEST} deep");
            return Err(FormatError::part(FORMAT, shortened(key), expected, depth));
        }
    }
    let twice = repeated(metadata.iter().map(|(key, _)| key.as_str()).collect());
    twice.map_or(Ok(()), |key| {
        Err(FormatError::part(
            FORMAT,
            shortened(key),
            "one key of this name",
            "two",
        ))
    })
}

fn check_names(tensors: &[TensorBytes<'_>]) -> Result<(), FormatError> {
    let twice = repeated(tensors.iter().map(|tensor| tensor.name).collect());
    twice.map_or(Ok(()), |name| {
        Err(FormatError::tensor(FORMAT, name, "one of this name", "two"))
    })
}

/// A name that comes more than once.
fn repeated(mut names: Vec<&str>) -> Option<&str> {
    names.sort_unstable();
    let twice = names.windows(2).find(|pair| pair.first() == pair.last());
    twice.and_then(|pair| pair.first().copied())
}
