//! The tensors of a model: a directory of names, shapes and types over the bytes of its file, or of
//! its files.
//!
//! A tensor is unpacked only when it is asked for. [`Tensors`] implements [`Parameters`]:
//! [`Parameters::read`] gives plain numbers, [`Parameters::weight`] leaves compressed matrices in
//! the blocks of the file; [`crate::parameters::Compressed`] packs plain ones. Both refuse a tensor
//! with a number that is not finite.

use std::borrow::Cow;
use std::ops::Range;

use ndarray::{ArrayD, ArrayView2, IxDyn};

use super::error::{FormatError, shortened};
use super::file_bytes::FileBytes;
use crate::decimal::decimal;
use crate::error::Result;
use crate::parameters::{Parameters, Weight, expect_shape};
use crate::quant::{self, Matrix, Type};

/// The type of a tensor's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// Numbers, plain or in blocks.
    Number(Type),
    /// Signed bytes, [`SCALED`] of which share a scale: Q8_0 with the scales apart from the bytes.
    Scaled {
        /// The position in the file of the first scale, in half precision.
        scales: usize,
    },
    /// A type that no model uses, such as `I64`; its elements can only be read as bytes.
    Other(&'static str),
}

impl Element {
    /// The type's name in the formats.
    pub fn name(self) -> &'static str {
        match self {
            Self::Number(kind) => kind.name(),
            Self::Scaled { .. } => Type::Q8_0.name(),
            Self::Other(name) => name,
        }
    }

    fn is_number(self) -> bool {
        !matches!(self, Self::Other(_))
    }
}

/// The number of signed bytes that share a scale; the last scale of a tensor may have fewer.
pub const SCALED: usize = 32;

/// One tensor of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The position of its file among those of the model.
    pub(super) file: usize,
    pub(super) name: Box<str>,
    pub(super) shape: Box<[usize]>,
    pub(super) element: Element,
    pub(super) start: usize,
    pub(super) length: usize,
}

impl Entry {
    /// The tensor's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The tensor's shape, rows first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The type of its elements.
    pub fn element(&self) -> Element {
        self.element
    }

    /// The number of its bytes in the file.
    pub fn bytes(&self) -> usize {
        self.length
    }

    fn values(&self) -> usize {
        self.shape.iter().product()
    }
}

/// The number of elements of a shape; `None` where memory cannot hold them as `f32`, even if axes
/// of 0 are left out.
pub fn values(shape: &[usize]) -> Option<usize> {
    let whole = shape
        .iter()
        .filter(|&&n| n > 0)
        .try_fold(1usize, |product, &n| product.checked_mul(n))?;
    isize::try_from(whole.checked_mul(size_of::<f32>())?).ok()?;
    Some(if shape.contains(&0) { 0 } else { whole })
}

/// All tensors of a model.
#[derive(Debug, Clone)]
pub struct Tensors {
    format: &'static str,
    files: Vec<FileBytes>,
    entries: Vec<Entry>,
    /// Positions in `entries`, sorted by name.
    by_name: Vec<u32>,
}

impl Tensors {
    /// A directory of entries that lie within their files and apart from each other.
    pub(super) fn new(
        format: &'static str,
        files: Vec<FileBytes>,
        entries: Vec<Entry>,
    ) -> Result<Self, FormatError> {
        let too_many = |_| FormatError::part(format, "tensors", "fewer than 2^32", entries.len());
        let count = u32::try_from(entries.len()).map_err(too_many)?;
        let entry = |n: u32| entries.get(n as usize);
        let size = |entry: &Entry| files.get(entry.file).map_or(0, FileBytes::size);
        let outside = |entry: &&Entry| {
            let end = entry.start.checked_add(entry.length);
            end.is_none_or(|end| end > size(entry))
        };
        if let Some(entry) = entries.iter().find(outside) {
            let expected = format!("bytes before the file's end at {}", size(entry));
            let found = format!("{} bytes from {} on", entry.length, entry.start);
            return Err(FormatError::tensor(format, &entry.name, expected, found));
        }
        let mut order: Vec<u32> = (0..count).collect();
        let place = |entry: &Entry| (entry.file, entry.start, entry.length);
        order.sort_unstable_by_key(|&n| entry(n).map(place));
        for pair in order.windows(2) {
            let &[before, after] = pair else { continue };
            let (Some(before), Some(after)) = (entry(before), entry(after)) else {
                continue;
            };
            if before.file == after.file && before.start + before.length > after.start {
                let expected = format!("bytes after those of {}", shortened(&before.name));
                let found = format!("both from byte {} on", after.start);
                return Err(FormatError::tensor(format, &after.name, expected, found));
            }
        }
        let name = |n| entry(n).map(|entry| &*entry.name);
        order.sort_unstable_by_key(|&n| name(n));
        for pair in order.windows(2) {
            let &[before, after] = pair else { continue };
            if name(before) == name(after) {
                let name = name(after).unwrap_or_default();
                return Err(FormatError::tensor(format, name, "one of this name", "two"));
            }
        }
        Ok(Self {
            format,
            files,
            entries,
            by_name: order,
        })
    }

    /// The tensors of the parts of a model, in the order of the parts.
    ///
    /// # Errors
    /// When two parts have a tensor of one name.
    pub(super) fn joined(parts: impl IntoIterator<Item = Self>) -> Result<Self, FormatError> {
        let (mut format, mut files, mut entries) = ("", Vec::new(), Vec::new());
        for part in parts {
            format = part.format;
            let before = files.len();
            entries.extend(part.entries.into_iter().map(|entry| Entry {
                file: before + entry.file,
                ..entry
            }));
            files.extend(part.files);
        }
        Self::new(format, files, entries)
    }

    /// The tensors, in the order of the file, or of the files.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The tensor of a name.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        let entry = |n: u32| self.entries.get(n as usize);
        let found = self
            .by_name
            .binary_search_by_key(&Some(name), |&n| entry(n).map(|entry| &*entry.name));
        entry(*self.by_name.get(found.ok()?)?)
    }

    /// The bytes of the tensor of a name, unchanged.
    ///
    /// # Errors
    /// When there is no tensor of that name, or its file cannot be read.
    pub fn bytes(&self, name: &str) -> Result<Cow<'_, [u8]>, FormatError> {
        self.bytes_of(self.known(name)?)
    }

    fn bytes_of(&self, entry: &Entry) -> Result<Cow<'_, [u8]>, FormatError> {
        self.bytes_at(entry, entry.start, entry.length)
    }

    /// Bytes of the file of a tensor.
    fn bytes_at(
        &self,
        entry: &Entry,
        start: usize,
        length: usize,
    ) -> Result<Cow<'_, [u8]>, FormatError> {
        let none = || Err("no file".to_owned());
        let file = self.files.get(entry.file);
        file.map_or_else(none, |file| file.read(start, length))
            .map_err(|why| self.wrong(entry, &format!("{length} bytes from {start} on"), why))
    }

    fn known(&self, name: &str) -> Result<&Entry, FormatError> {
        let missing = || FormatError::tensor(self.format, name, "a tensor", "none");
        self.entry(name).ok_or_else(missing)
    }

    /// Checks that all numbers are finite; the error names the first tensor with one that is not.
    ///
    /// # Errors
    /// When there is a NaN or an infinity, or numbers cannot be unpacked.
    pub fn check_finite(&self) -> Result<(), FormatError> {
        let mut entries = self
            .entries
            .iter()
            .filter(|entry| entry.element.is_number());
        entries.try_for_each(|entry| self.check_entry(entry))
    }

    /// As [`Self::check_finite`] for one tensor.
    fn check_entry(&self, entry: &Entry) -> Result<(), FormatError> {
        match entry.element {
            Element::Number(kind) if kind.block_len() > 1 => {
                self.check_blocks(entry, kind, 0, &self.bytes_of(entry)?)
            }
            _ => self.numbers(entry).map(drop),
        }
    }

    /// As [`Self::check_finite`] for blocks of one tensor from element `start` on, which are
    /// unpacked in parts.
    fn check_blocks(
        &self,
        entry: &Entry,
        kind: Type,
        start: usize,
        blocks: &[u8],
    ) -> Result<(), FormatError> {
        const BLOCKS: usize = 1024;
        if kind.has_finite_scales(blocks) {
            return Ok(());
        }
        let mut numbers = vec![0.0; BLOCKS * kind.block_len()];
        let parts = blocks.chunks(BLOCKS * kind.block_bytes());
        for (n, bytes) in parts.enumerate() {
            let count = bytes.len() / kind.block_bytes() * kind.block_len();
            let part = numbers.get_mut(..count).unwrap_or_default();
            quant::dequantize(kind, bytes, part).map_err(|error| self.unread(entry, error))?;
            self.check_numbers(entry, part, start + n * BLOCKS * kind.block_len())?;
        }
        Ok(())
    }

    /// Checks that numbers are finite; the first of them is element `start` of the tensor.
    fn check_numbers(
        &self,
        entry: &Entry,
        numbers: &[f32],
        start: usize,
    ) -> Result<(), FormatError> {
        let Some(at) = numbers.iter().position(|x| !x.is_finite()) else {
            return Ok(());
        };
        let found = format!("{} at {}", decimal(numbers[at].into()), start + at);
        Err(self.wrong(entry, "finite numbers", found))
    }

    /// The type in which matrices of a tensor are kept.
    fn kind(&self, entry: &Entry) -> Result<Type, FormatError> {
        match entry.element {
            Element::Number(kind) => Ok(kind),
            Element::Scaled { .. } => Ok(Type::F32),
            Element::Other(name) => Err(self.unread(entry, name)),
        }
    }

    fn unread(&self, entry: &Entry, found: impl ToString) -> FormatError {
        self.wrong(entry, "numbers", found)
    }

    fn wrong(&self, entry: &Entry, expected: &str, found: impl ToString) -> FormatError {
        FormatError::tensor(self.format, &entry.name, expected, found)
    }

    /// The numbers of a tensor; an error where one is not finite.
    fn numbers(&self, entry: &Entry) -> Result<Vec<f32>, FormatError> {
        /// Numbers whose bytes are read at once: whole blocks of each type.
        const PART: usize = 1 << 20;
        let mut numbers = vec![0.0; entry.values()];
        if let Element::Scaled { scales } = entry.element {
            self.scaled(entry, scales, &mut numbers)?;
        } else {
            let kind = self.kind(entry)?;
            let mut start = entry.start;
            for part in numbers.chunks_mut(PART) {
                let cut = || self.unread(entry, format!("{} in {}", part.len(), kind.name()));
                let length = kind.bytes(part.len()).ok_or_else(cut)?;
                let bytes = self.bytes_at(entry, start, length)?;
                quant::dequantize(kind, &bytes, part).map_err(|error| self.unread(entry, error))?;
                start += length;
            }
        }
        self.check_numbers(entry, &numbers, 0)?;
        Ok(numbers)
    }

    /// Writes the numbers of a tensor of signed bytes, whose scales begin at byte `start` of the
    /// file: each number is a product of a scale and a byte, which `f32` holds exactly.
    fn scaled(&self, entry: &Entry, start: usize, numbers: &mut [f32]) -> Result<(), FormatError> {
        let mut scales = vec![0.0; numbers.len().div_ceil(SCALED)];
        let halves = self.bytes_at(entry, start, size_of::<u16>() * scales.len())?;
        quant::dequantize(Type::F16, &halves, &mut scales)
            .map_err(|error| self.unread(entry, error))?;
        let bytes = self.bytes_of(entry)?;
        let bytes = bytes.chunks(SCALED);
        for ((numbers, bytes), scale) in numbers.chunks_mut(SCALED).zip(bytes).zip(scales) {
            for (number, &byte) in numbers.iter_mut().zip(bytes) {
                *number = scale * f32::from(byte.cast_signed());
            }
        }
        Ok(())
    }

    /// The numbers of the tensor of a name, in its shape.
    fn array(&self, name: &str) -> Result<ArrayD<f32>, FormatError> {
        let entry = self.known(name)?;
        let array = ArrayD::from_shape_vec(IxDyn(&entry.shape), self.numbers(entry)?);
        array.map_err(|error| {
            let found = format!("{:?}: {error}", entry.shape);
            self.wrong(entry, "numbers for its shape", found)
        })
    }

    /// The tensor of a name as a matrix in its own type; signed bytes with scales become `f32`.
    fn matrix(&self, name: &str, rows: usize, cols: usize) -> Result<Matrix, FormatError> {
        let entry = self.known(name)?;
        let kind = self.kind(entry)?;
        let wrong = |error: String| {
            let expected = format!("a matrix in {}", kind.name());
            self.wrong(entry, &expected, error)
        };
        if kind.block_len() > 1 || kind.is_half() {
            let row_bytes = kind.bytes(cols).unwrap_or_default();
            let read = |range: Range<usize>| {
                let (start, length) = (range.start * row_bytes, range.len() * row_bytes);
                let blocks = self.bytes_at(entry, entry.start + start, length)?;
                self.check_blocks(entry, kind, range.start * cols, &blocks)?;
                Ok(blocks)
            };
            return Matrix::by_rows(kind, [rows, cols], read, |error| wrong(error.to_string()));
        }
        let numbers = self.numbers(entry)?;
        let view = ArrayView2::from_shape((rows, cols), &numbers);
        view.map(Matrix::plain)
            .map_err(|error| wrong(error.to_string()))
    }

    /// The same tensors, but for stacks of matrices `[E, rows, cols]`: a stack becomes E matrices
    /// where `name_of` gives each a name, from the stack's name and the matrix's position in it.
    pub(super) fn unstacked(
        &self,
        name_of: impl Fn(&str, usize) -> Option<String>,
    ) -> Result<Self, FormatError> {
        /// More than any model has: the limit bounds the memory that a small file can ask for.
        const MOST_MATRICES: usize = 1024;
        let mut entries = Vec::with_capacity(self.entries.len());
        for entry in &self.entries {
            let (&[count, rows, cols], Element::Number(kind)) = (&*entry.shape, entry.element)
            else {
                entries.push(entry.clone());
                continue;
            };
            let names = (0..count.min(MOST_MATRICES)).map(|n| name_of(&entry.name, n));
            let names: Option<Vec<String>> = names.collect();
            let length = values(&[rows, cols]).and_then(|values| kind.bytes(values));
            match (names, length) {
                (Some(names), Some(length)) if count <= MOST_MATRICES => {
                    let parts = names.into_iter().enumerate().map(|(n, name)| Entry {
                        file: entry.file,
                        name: name.into(),
                        shape: [rows, cols].into(),
                        element: entry.element,
                        start: entry.start + n * length,
                        length,
                    });
                    entries.extend(parts);
                }
                _ => entries.push(entry.clone()),
            }
        }
        Self::new(self.format, self.files.clone(), entries)
    }
}

impl Parameters for Tensors {
    fn names(&self) -> Vec<String> {
        let names = self
            .entries
            .iter()
            .filter(|entry| entry.element.is_number());
        names.map(|entry| entry.name.to_string()).collect()
    }

    fn shape(&self, name: &str) -> Option<Vec<usize>> {
        let entry = self.entry(name)?;
        entry.element.is_number().then(|| entry.shape.to_vec())
    }

    fn form(&self, name: &str) -> Type {
        match self.entry(name).map(|entry| entry.element) {
            Some(Element::Number(kind)) => kind,
            _ => Type::F32,
        }
    }

    fn read(&mut self, name: &str) -> Result<ArrayD<f32>> {
        self.array(name).map_err(FormatError::into_engine)
    }

    fn weight(&mut self, name: &str, rows: usize, cols: usize) -> Result<Weight> {
        expect_shape(self.shape(name), name, &[rows, cols])?;
        let matrix = self.matrix(name, rows, cols);
        matrix.map(Weight::Packed).map_err(FormatError::into_engine)
    }
}

/// Reads every tensor as numbers and as a matrix; for fuzzing.
pub(super) fn read_all(mut tensors: Tensors) {
    let _ = tensors.check_finite();
    for name in tensors.names() {
        let _ = tensors.read(&name);
    }
    read_weights(&mut tensors);
}

/// Reads every matrix in the form that products use; for fuzzing.
pub(super) fn read_weights(source: &mut dyn Parameters) {
    for name in source.names() {
        if let Some(&[rows, cols]) = source.shape(&name).as_deref() {
            let _ = source.weight(&name, rows, cols);
        }
    }
}
