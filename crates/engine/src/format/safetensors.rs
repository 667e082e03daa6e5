//! safetensors, Hugging Face's file of weights: a JSON directory, then the tensors.
//!
//! ```text
//! length of the header u64, little-endian
//! {"NAME": {"dtype": "F32", "shape": [rows, columns], "data_offsets": [begin, end]}, …, "__metadata__": {"key": "text"}}
//! the tensors' bytes, without gaps; offsets count from here
//! ```
//!
//! ```
//! use engine::format::safetensors::SafeTensors;
//! use engine::parameters::{Parameters, vector};
//! let header = br#"{"one":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
//! let length = (header.len() as u64).to_le_bytes();
//! let file = [&length[..], header, &1.0f32.to_le_bytes()].concat();
//! let mut read = SafeTensors::parse(file.into())?;
//! assert_eq!(vector(&mut read.tensors, "one", 1)?.to_vec(), [1.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The format has no type of numbers in blocks. Where the metadata have [`WEIGHTS`] with the text
//! `Q8_0`, each tensor `NAME` in `I8` has its scales, one in `F16` for each 32 numbers in their
//! order, in the tensor `NAME.scales`: number = scale · byte. Bytes and scales lie apart from each
//! other, so that gzip makes the file smaller.
//!
//! Source: the format's description in the safetensors repository, and its rule that the tensors
//! fill the file.

use super::error::{FormatError, shortened};
use super::file_bytes::FileBytes;
use super::json::ReadJson;
use super::safetensors_header::{Description, Header};
use super::tensors::{Element, Entry, SCALED, Tensors, values};
use crate::parameters::Compressed;
use crate::quant::Type;

pub(super) const FORMAT: &str = "safetensors";

/// The largest header that is read, as in the reference implementation.
pub const LARGEST_HEADER: u64 = 100_000_000;

/// The key of the metadata that says how matrices are stored; its text is the name of a type.
pub const WEIGHTS: &str = "weights";

/// What follows the name of a tensor of signed bytes in the name of its scales.
pub const SCALES: &str = ".scales";

/// The tensors and the metadata of a file.
#[derive(Debug, Clone)]
pub struct SafeTensors {
    /// Its tensors, under the names that the file gives them.
    pub tensors: Tensors,
    metadata: Vec<(String, String)>,
}

impl SafeTensors {
    /// Reads a file's directory. Tensors in `F32`, `F16` and `BF16` can be read as numbers, and
    /// those in `I8` that have scales; others only as bytes.
    ///
    /// # Errors
    /// When the header is too long or differs from the format, a type is unknown, a name comes
    /// twice, the tensors do not fill the rest of the file one after the other, or scales are
    /// missing or of another number.
    pub fn parse(file: FileBytes) -> Result<Self, FormatError> {
        Self::with_header(file, Header::parse)
    }

    /// Reads the directory of a file whose names are known to differ, its header with another
    /// reader of JSON.
    ///
    /// # Errors
    /// Those of [`Self::parse`], but not for a name that comes twice: the reader has made one of
    /// them.
    pub fn parse_with(file: FileBytes, read_json: ReadJson) -> Result<Self, FormatError> {
        Self::with_header(file, |text| {
            let wrong = |error| FormatError::part(FORMAT, "header", "JSON", error);
            Header::of(read_json(text).map_err(wrong)?)
        })
    }

    fn with_header(
        file: FileBytes,
        header: impl Fn(&str) -> Result<Header, FormatError>,
    ) -> Result<Self, FormatError> {
        let (header, start) = file.parse(FORMAT, |cursor| {
            let length = cursor.u64("the header's length")?;
            if length > LARGEST_HEADER {
                let expected = format!("at most {LARGEST_HEADER}");
                let part = "header's length";
                return Err(FormatError::part(FORMAT, part, expected, length));
            }
            let header = header(cursor.utf8(length, "the header")?)?;
            Ok((header, cursor.position()))
        })?;
        let size = file.size().saturating_sub(start);
        let mut entries = Vec::with_capacity(header.tensors.len());
        for (name, tensor) in header.tensors {
            entries.push(entry(name, &tensor, start, size)?);
        }
        entries.sort_by_key(|entry| (entry.start, entry.length));
        no_gaps(&entries, start, size)?;
        let said = header.metadata.iter().find(|(key, _)| key == WEIGHTS);
        if said.is_some_and(|(_, text)| text == Type::Q8_0.name()) {
            entries = with_scales(entries)?;
        }
        Ok(Self {
            tensors: Tensors::new(FORMAT, vec![file], entries)?,
            metadata: header.metadata,
        })
    }

    /// The parts of a model as one, with the metadata of the first.
    ///
    /// # Errors
    /// When two parts have a tensor of one name.
    pub fn joined(parts: Vec<Self>) -> Result<Self, FormatError> {
        let metadata = parts.first().map(|part| part.metadata.clone());
        Ok(Self {
            tensors: Tensors::joined(parts.into_iter().map(|part| part.tensors))?,
            metadata: metadata.unwrap_or_default(),
        })
    }

    /// The texts under `__metadata__`.
    pub fn metadata(&self) -> &[(String, String)] {
        &self.metadata
    }
}

/// The size in bytes of one element of a type, and how it is read.
fn element(dtype: &str) -> Option<(usize, Element)> {
    Some(match dtype {
        "F32" => (4, Element::Number(Type::F32)),
        "F16" => (2, Element::Number(Type::F16)),
        "BF16" => (2, Element::Number(Type::Bf16)),
        "F64" => (8, Element::Other("F64")),
        "I64" => (8, Element::Other("I64")),
        "U64" => (8, Element::Other("U64")),
        "I32" => (4, Element::Other("I32")),
        "U32" => (4, Element::Other("U32")),
        "I16" => (2, Element::Other("I16")),
        "U16" => (2, Element::Other("U16")),
        "I8" => (1, Element::Other("I8")),
        "U8" => (1, Element::Other("U8")),
        "BOOL" => (1, Element::Other("BOOL")),
        "F8_E4M3" => (1, Element::Other("F8_E4M3")),
        "F8_E5M2" => (1, Element::Other("F8_E5M2")),
        _ => return None,
    })
}

/// The entry of a tensor in a file whose data start at byte `data` and have `size` bytes.
fn entry(
    name: String,
    tensor: &Description,
    data: usize,
    size: usize,
) -> Result<Entry, FormatError> {
    let (dtype, shape) = (&tensor.dtype, tensor.shape());
    let wrong =
        |expected: &str, found: String| Err(FormatError::tensor(FORMAT, &name, expected, found));
    let Some((each, element)) = element(dtype) else {
        return wrong("a known dtype", shortened(dtype));
    };
    let Some(length) = values(shape).and_then(|values| values.checked_mul(each)) else {
        return wrong("a shape that fits in memory", format!("{shape:?}"));
    };
    let [begin, end] = tensor.data_offsets;
    if end > size || end.checked_sub(begin) != Some(length) {
        let expected = format!("{length} bytes for {shape:?} in {dtype}, within {size}");
        return wrong(&expected, format!("those from {begin} to {end}"));
    }
    Ok(Entry {
        file: 0,
        start: data + begin,
        name: name.into(),
        shape: shape.into(),
        element,
        length,
    })
}

/// Checks that the tensors fill the file, as the format demands: so nothing can be hidden in it.
fn no_gaps(entries: &[Entry], start: usize, size: usize) -> Result<(), FormatError> {
    let mut end = start;
    for entry in entries {
        if entry.start != end {
            let expected = format!("its bytes at offset {}", end - start);
            let (name, found) = (&entry.name, entry.start - start);
            return Err(FormatError::tensor(FORMAT, name, expected, found));
        }
        end += entry.length;
    }
    if end - start == size {
        return Ok(());
    }
    let (part, expected) = ("the tensors together", format!("{} bytes", end - start));
    Err(FormatError::part(FORMAT, part, expected, size))
}

/// The tensors in signed bytes with their scales, which are no tensors of their own then.
fn with_scales(entries: Vec<Entry>) -> Result<Vec<Entry>, FormatError> {
    let bytes = |entry: &Entry| entry.element == Element::Other("I8");
    let names = entries.iter().filter(|entry| bytes(entry));
    let mut names: Vec<String> = names
        .map(|entry| format!("{}{SCALES}", entry.name))
        .collect();
    names.sort_unstable();
    let (mut scales, mut found): (Vec<Entry>, Vec<Entry>) =
        entries.into_iter().partition(|entry| {
            entry.element == Element::Number(Type::F16)
                && names
                    .binary_search_by(|name| name.as_str().cmp(&entry.name))
                    .is_ok()
        });
    scales.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    for entry in found.iter_mut().filter(|entry| bytes(entry)) {
        let count = entry.length.div_ceil(SCALED);
        let name = format!("{}{SCALES}", entry.name);
        let scales = scales
            .binary_search_by(|scales| (*scales.name).cmp(name.as_str()))
            .ok()
            .map(|i| &scales[i]);
        let shape = scales.map(|scales| &*scales.shape);
        let Some(start) = scales
            .map(|scales| scales.start)
            .filter(|_| shape == Some(&[count]))
        else {
            let expected = format!(
                "{count} scales in F16 as {}{SCALES}",
                shortened(&entry.name)
            );
            let found = shape.map_or_else(|| "none".to_owned(), |shape| format!("{shape:?}"));
            return Err(FormatError::tensor(FORMAT, &entry.name, expected, found));
        };
        entry.element = Element::Scaled { scales: start };
    }
    Ok(found)
}

/// Reads any bytes as a file, and all content of a file that can be read; for fuzzing.
#[doc(hidden)]
pub fn parse_never_panics(bytes: &[u8]) {
    let Ok(file) = SafeTensors::parse(bytes.into()) else {
        return;
    };
    super::tensors::read_all(file.tensors.clone());
    super::tensors::read_weights(&mut Compressed::new(file.tensors, Type::Q8_0));
}
