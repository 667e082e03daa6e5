//! Writes GGUF files, version 3.
//!
//! Source: the GGUF specification (ggml, `docs/gguf.md`).

use crate::TensorBytes;
use crate::gguf_value::{depth, write_text, write_value};
use engine::format::error::FormatError;
use engine::format::gguf::{
    ALIGNMENT_KEY, Gguf, MAGIC, MOST_AXES, SPLIT_COUNT, SPLIT_NUMBER, SPLIT_TENSORS, alignment_of,
};
use engine::format::gguf_value::{Array, DEEPEST, Value};
use engine::format::tensors::{Element, values};
use engine::token::gguf::GgufVocabulary;

const FORMAT: &str = "gguf";

/// A file of the metadata and tensors, each in its order; `general.alignment` in the metadata sets
/// the alignment.
///
/// # Errors
/// When the reader would refuse the file: a tensor has bytes for another shape, rows that are not
/// whole blocks or more than four axes, or a name or key comes twice.
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
        write_value(&mut file, value);
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

/// A model in so many files, as llama.cpp splits it: each says its place, the first has all other
/// metadata.
///
/// # Errors
/// When there are more than 65,535 files.
pub fn split(model: &Gguf, count: usize) -> Result<Vec<Vec<u8>>, FormatError> {
    let many = |_| FormatError::part(FORMAT, SPLIT_COUNT, "at most 65535", count);
    let count = u16::try_from(count).map_err(many)?;
    let entries = model.tensors.entries();
    let bytes = entries
        .iter()
        .map(|entry| model.tensors.bytes(entry.name()));
    let bytes = bytes.collect::<Result<Vec<_>, _>>()?;
    let mut tensors = Vec::with_capacity(entries.len());
    for (entry, bytes) in entries.iter().zip(&bytes) {
        let (name, element) = (entry.name(), entry.element());
        let Element::Number(kind) = element else {
            let found = element.name();
            return Err(FormatError::tensor(FORMAT, name, "numbers", found));
        };
        tensors.push(TensorBytes {
            name,
            shape: entry.shape(),
            kind,
            bytes,
        });
    }
    let all = Value::U64(tensors.len() as u64);
    let length = tensors.len().div_ceil(usize::from(count).max(1)).max(1);
    let mut parts = tensors.chunks(length);
    (0..count)
        .map(|number| {
            let place = [
                (SPLIT_NUMBER, Value::U16(number)),
                (SPLIT_COUNT, Value::U16(count)),
                (SPLIT_TENSORS, all.clone()),
            ];
            let place = place.map(|(key, value)| (key.to_owned(), value));
            let own = model.metadata().iter();
            let own = own.filter(|(key, _)| number == 0 || key == ALIGNMENT_KEY);
            let metadata: Vec<_> = own.cloned().chain(place).collect();
            write(&metadata, parts.next().unwrap_or_default())
        })
        .collect()
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
        let depth = value.array().map_or(0, depth);
        if depth > DEEPEST {
            let expected = format!("arrays nested at most {DEEPEST} deep");
            return Err(FormatError::part(FORMAT, key, expected, depth));
        }
    }
    let twice = repeated(metadata.iter().map(|(key, _)| key.as_str()).collect());
    twice.map_or(Ok(()), |key| {
        Err(FormatError::part(
            FORMAT,
            key,
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

/// The keys and values under `tokenizer.ggml` for a vocabulary: the reverse of
/// [`engine::format::gguf::Gguf::vocabulary`].
pub fn vocabulary_metadata(vocabulary: &GgufVocabulary) -> Vec<(String, Value)> {
    let text = |value: &Option<String>| value.clone().map(Value::Text);
    let id = |value: Option<usize>| value.and_then(|id| u32::try_from(id).ok()).map(Value::U32);
    let truth = |value: Option<bool>| value.map(Value::Bool);
    let GgufVocabulary {
        tokens,
        scores,
        token_types,
        merges,
        ..
    } = vocabulary;
    let all = [
        ("model", Some(Value::Text(vocabulary.model.clone()))),
        ("pre", text(&vocabulary.pre)),
        ("tokens", Some(Value::Array(Array::Text(tokens.clone())))),
        (
            "scores",
            scores
                .clone()
                .map(|scores| Value::Array(Array::F32(scores))),
        ),
        (
            "token_type",
            token_types
                .clone()
                .map(|types| Value::Array(Array::I32(types))),
        ),
        (
            "merges",
            merges
                .clone()
                .map(|merges| Value::Array(Array::Text(merges))),
        ),
        ("bos_token_id", id(vocabulary.begin)),
        ("eos_token_id", id(vocabulary.end)),
        ("unknown_token_id", id(vocabulary.unknown)),
        ("cls_token_id", id(vocabulary.class)),
        ("seperator_token_id", id(vocabulary.separator)),
        ("padding_token_id", id(vocabulary.padding)),
        ("mask_token_id", id(vocabulary.mask)),
        ("add_bos_token", truth(vocabulary.add_begin)),
        ("add_eos_token", truth(vocabulary.add_end)),
        ("add_space_prefix", truth(vocabulary.add_space_before)),
    ];
    let named =
        |(key, value): (&str, Option<Value>)| Some((format!("tokenizer.ggml.{key}"), value?));
    all.into_iter().filter_map(named).collect()
}
