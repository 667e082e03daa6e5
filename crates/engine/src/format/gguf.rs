//! GGUF, the file of llama.cpp: metadata, a directory of tensors, the tensors.
//!
//! ```text
//! "GGUF", version u32, number of tensors u64, number of metadata entries u64
//! metadata entry:  key text, type u32, value            (see `gguf_value`)
//! tensor:          name text, axes u32, each axis u64 (columns first), type u32, offset u64
//! … to the next multiple of general.alignment (32 where it is not given) …
//! the tensors' bytes, each at its offset from here
//! ```
//! All numbers are little-endian. Versions 2 and 3 are read. Only version 3 may be big-endian, and
//! such a file is refused.
//!
//! ```
//! use engine::format::gguf::Gguf;
//! use engine::format::gguf_value::Value;
//! let mut file = b"GGUF".to_vec();
//! file.extend(3u32.to_le_bytes());
//! file.extend(0u64.to_le_bytes());
//! file.extend(1u64.to_le_bytes());
//! for text in ["general.name", "no tensors"] {
//!     file.extend((text.len() as u64).to_le_bytes());
//!     file.extend(text.as_bytes());
//!     if text == "general.name" {
//!         file.extend(8u32.to_le_bytes());
//!     }
//! }
//! let read = Gguf::parse(file.into())?;
//! assert_eq!(read.value("general.name").and_then(Value::text), Some("no tensors"));
//! # Ok::<(), engine::format::error::FormatError>(())
//! ```
//!
//! Source: the GGUF specification (ggml, `docs/gguf.md`).

use super::cursor::Cursor;
use super::error::FormatError;
use super::file_bytes::FileBytes;
use super::gguf_value::Value;
use super::tensors::{Element, Entry, Tensors, values};
use crate::quant::Type;

const FORMAT: &str = "gguf";
/// The first bytes of a file.
pub const MAGIC: [u8; 4] = *b"GGUF";
/// The alignment of tensors, in bytes, of a file whose metadata do not give one.
const ALIGNMENT: usize = 32;
/// The key of the metadata that gives the alignment of tensors.
pub const ALIGNMENT_KEY: &str = "general.alignment";
/// The key of the metadata that gives the place of a part of a model, from 0 on.
pub const SPLIT_NUMBER: &str = "split.no";
/// The key of the metadata that gives the number of the parts of a model.
pub const SPLIT_COUNT: &str = "split.count";
/// The key of the metadata that gives the number of the tensors in all parts of a model.
pub const SPLIT_TENSORS: &str = "split.tensors.count";
/// The largest number of parts: ggml writes it as u16.
const MOST_PARTS: f64 = 65_535.0;
/// The largest number of axes that ggml knows.
pub const MOST_AXES: usize = 4;
/// The longest key that the specification allows.
const LONGEST_KEY: usize = 65_535;
/// A key's length, a type and a value of one byte.
const LEAST_ENTRY: u64 = 8 + 4 + 1;
/// A name's length, the number of axes, a type and an offset.
const LEAST_TENSOR: u64 = 8 + 4 + 4 + 8;

/// A file's metadata and its directory of tensors.
#[derive(Debug, Clone)]
pub struct Gguf {
    /// The format's version, 2 or 3.
    pub version: u32,
    /// Its tensors, under the names that the file gives them.
    pub tensors: Tensors,
    metadata: Vec<(String, Value)>,
}

impl Gguf {
    /// Reads a file's metadata and its directory of tensors.
    ///
    /// # Errors
    /// When the bytes are not a GGUF file of version 2 or 3, a key or a name comes twice, a
    /// tensor's type is unknown, or tensors overlap or lie outside the file.
    pub fn parse(file: FileBytes) -> Result<Self, FormatError> {
        let (version, metadata, entries) = file.parse(FORMAT, |cursor| {
            let version = version(cursor)?;
            let tensors = cursor.u64("the number of tensors")?;
            let metadata = metadata(cursor)?;
            let alignment = alignment_of(find(&metadata, ALIGNMENT_KEY))?;
            let mut entries = directory(cursor, tensors, alignment)?;
            // An offset that no address can hold becomes one that lies outside the file.
            let data = cursor.position().checked_next_multiple_of(alignment);
            for entry in &mut entries {
                entry.start = entry.start.saturating_add(data.unwrap_or(usize::MAX));
            }
            Ok((version, metadata, entries))
        })?;
        Ok(Self {
            version,
            tensors: Tensors::new(FORMAT, vec![file], entries)?,
            metadata,
        })
    }

    /// The parts of a model as one, with the metadata of the first, which alone has all of them, but
    /// without its place.
    ///
    /// # Errors
    /// When two parts have a tensor of one name, or the parts have together another number of
    /// tensors than they say.
    pub fn joined(parts: Vec<Self>) -> Result<Self, FormatError> {
        let first = parts.first();
        let version = first.map_or(0, |part| part.version);
        let mut metadata = first.map(|part| part.metadata.clone()).unwrap_or_default();
        let tensors = Tensors::joined(parts.into_iter().map(|part| part.tensors))?;
        let count = tensors.entries().len();
        let said = find(&metadata, SPLIT_TENSORS).and_then(Value::number);
        match said {
            Some(said) if said as usize != count => {
                let found = format!("{count} in all parts together");
                Err(refuse(SPLIT_TENSORS, format!("{said} tensors"), found))
            }
            _ => {
                let place = [SPLIT_NUMBER, SPLIT_COUNT, SPLIT_TENSORS];
                metadata.retain(|(key, _)| !place.contains(&key.as_str()));
                Ok(Self {
                    version,
                    tensors,
                    metadata,
                })
            }
        }
    }

    /// Which part of a model this is, from 1 on, and of how many; `None` for a whole model.
    pub fn part(&self) -> Option<(usize, usize)> {
        let number = |key| self.value(key).and_then(Value::number);
        let (before, count) = (number(SPLIT_NUMBER)?, number(SPLIT_COUNT)?);
        let is_part = (2.0..=MOST_PARTS).contains(&count) && (0.0..count).contains(&before);
        is_part.then_some((before as usize + 1, count as usize))
    }

    /// The metadata, by key.
    pub fn metadata(&self) -> &[(String, Value)] {
        &self.metadata
    }

    /// The value of a key of the metadata.
    pub fn value(&self, key: &str) -> Option<&Value> {
        find(&self.metadata, key)
    }
}

fn find<'a>(metadata: &'a [(String, Value)], key: &str) -> Option<&'a Value> {
    let position = metadata.binary_search_by(|(known, _)| known.as_str().cmp(key));
    metadata.get(position.ok()?).map(|(_, value)| value)
}

/// The error of a part other than a tensor.
pub(super) fn refuse(part: &str, expected: impl Into<String>, found: impl ToString) -> FormatError {
    FormatError::part(FORMAT, part, expected, found)
}

fn version(cursor: &mut Cursor<'_>) -> Result<u32, FormatError> {
    let magic: [u8; 4] = cursor.array("the magic bytes")?;
    if magic != MAGIC {
        let found = format!("{:?}", magic.escape_ascii().to_string());
        return Err(refuse("magic bytes", "\"GGUF\"", found));
    }
    match cursor.u32("the version")? {
        version @ (2 | 3) => Ok(version),
        other if matches!(other.swap_bytes(), 2 | 3) => {
            Err(refuse("byte order", "little-endian", "big-endian"))
        }
        other => Err(refuse("version", "2 or 3", other)),
    }
}

/// The metadata, sorted by key.
fn metadata(cursor: &mut Cursor<'_>) -> Result<Vec<(String, Value)>, FormatError> {
    let count = cursor.count(LEAST_ENTRY, "the metadata")?;
    let mut metadata: Vec<(String, Value)> = Vec::with_capacity(count);
    for _ in 0..count {
        let key = cursor.text("a key of the metadata")?;
        if key.len() > LONGEST_KEY {
            let expected = format!("at most {LONGEST_KEY} bytes for a key");
            return Err(refuse(key, expected, key.len()));
        }
        let value = Value::read(cursor, key)?;
        metadata.push((key.to_owned(), value));
    }
    metadata.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    for pair in metadata.windows(2) {
        if let [(a, _), (b, _)] = pair
            && a == b
        {
            return Err(refuse(a, "one key of this name", "two"));
        }
    }
    Ok(metadata)
}

/// The alignment of tensors, in bytes, from the value under [`ALIGNMENT_KEY`].
///
/// # Errors
/// When the value is not a multiple of 8 as u32.
pub fn alignment_of(value: Option<&Value>) -> Result<usize, FormatError> {
    let Some(value) = value else {
        return Ok(ALIGNMENT);
    };
    match value {
        Value::U32(n) if *n > 0 && n.is_multiple_of(8) => Ok(*n as usize),
        other => {
            let number = other.number().map(|n| n.to_string());
            let found = number.unwrap_or_else(|| "no number".to_owned());
            Err(refuse(ALIGNMENT_KEY, "a multiple of 8, as u32", found))
        }
    }
}

/// The tensors, with offsets from the beginning of the data.
fn directory(
    cursor: &mut Cursor<'_>,
    count: u64,
    alignment: usize,
) -> Result<Vec<Entry>, FormatError> {
    let needed = count.saturating_mul(LEAST_TENSOR);
    cursor.expect(needed, "the directory of tensors")?;
    let mut entries = Vec::with_capacity(count as usize);
    for _ in 0..count {
        entries.push(entry(cursor, alignment)?);
    }
    Ok(entries)
}

fn entry(cursor: &mut Cursor<'_>, alignment: usize) -> Result<Entry, FormatError> {
    let name = cursor.text("a tensor's name")?;
    let wrong =
        |expected: &str, found: String| Err(FormatError::tensor(FORMAT, name, expected, found));
    let axes = cursor.u32(name)? as usize;
    if axes > MOST_AXES {
        return wrong("at most 4 axes", axes.to_string());
    }
    let mut shape = [0; MOST_AXES];
    for axis in shape.iter_mut().take(axes).rev() {
        let size = cursor.u64(name)?;
        *axis = match usize::try_from(size) {
            Ok(size) if size > 0 => size,
            _ => return wrong("axes from 1 on that fit in memory", size.to_string()),
        };
    }
    let shape = shape.get(..axes).unwrap_or_default();
    let kind = match Type::from_ggml(cursor.u32(name)?) {
        Ok(kind) => kind,
        Err(error) => {
            let known = Type::ALL.map(Type::name).join(", ");
            return wrong(&format!("one of the types {known}"), error.to_string());
        }
    };
    let offset = cursor.u64(name)?;
    let columns = shape.last().copied().unwrap_or(1);
    if !columns.is_multiple_of(kind.block_len()) {
        let found = format!("rows of {columns} in {}", kind.name());
        return wrong("rows of whole blocks", found);
    }
    let Some(length) = values(shape).and_then(|values| kind.bytes(values)) else {
        return wrong("a shape that fits in memory", format!("{shape:?}"));
    };
    let start = match usize::try_from(offset) {
        Ok(start) if start.is_multiple_of(alignment) => start,
        _ => {
            return wrong(
                &format!("an offset that is a multiple of {alignment}"),
                offset.to_string(),
            );
        }
    };
    Ok(Entry {
        file: 0,
        name: name.into(),
        shape: shape.into(),
        element: Element::Number(kind),
        start,
        length,
    })
}

/// Reads any bytes as a file, and all content of a file that can be read; for fuzzing.
#[doc(hidden)]
pub fn parse_never_panics(bytes: &[u8]) {
    use crate::model::{bert::Bert, gpt2::Gpt2, llama::Llama};
    let Ok(file) = Gguf::parse(bytes.into()) else {
        return;
    };
    super::tensors::read_all(file.tensors.clone());
    if let Ok(vocabulary) = file.vocabulary() {
        let _ = vocabulary.tokenizer();
    }
    let Ok(mut parameters) = file.parameters() else {
        return;
    };
    let source = &mut parameters;
    let _ = file.llama().and_then(|config| Llama::load(config, source));
    let _ = file.gpt2().and_then(|config| Gpt2::load(config, source));
    let _ = file.bert().and_then(|config| Bert::load(config, source));
}
