//! The tensors in a file: a directory of names, shapes and types over the file's bytes.
//!
//! Nothing is unpacked before it is asked for. [`Tensors`] is a [`Parameters`]: [`Parameters::read`] gives plain numbers,
//! [`Parameters::weight`] leaves compressed matrices in the blocks that the file has them in; plain ones are packed by
//! [`crate::parameters::Compressed`]. Both refuse a tensor with a number that is not finite.

use std::sync::Arc;

use ndarray::{ArrayD, ArrayView2, IxDyn};

use super::error::FormatError;
use crate::error::{EngineError, Result};
use crate::parameters::{Parameters, Weight, expect_shape};
use crate::quant::{self, Matrix, Type};

/// What a tensor's bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// Numbers, plain or in blocks.
    Number(Type),
    /// Something a model has no use for, such as `I64`; it can only be had as bytes.
    Other(&'static str),
}

impl Element {
    /// The type's name in the formats.
    pub fn name(self) -> &'static str {
        match self {
            Self::Number(kind) => kind.name(),
            Self::Other(name) => name,
        }
    }
}

/// One tensor of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub(super) name: Box<str>,
    pub(super) shape: Box<[usize]>,
    pub(super) element: Element,
    pub(super) start: usize,
    pub(super) length: usize,
}

impl Entry {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its shape, rows first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// What its bytes are.
    pub fn element(&self) -> Element {
        self.element
    }

    /// How many bytes it takes in the file.
    pub fn bytes(&self) -> usize {
        self.length
    }

    fn values(&self) -> usize {
        self.shape.iter().product()
    }
}

/// The number of values of a shape; `None` where even with the zeros left out it is more than memory can hold.
pub fn values(shape: &[usize]) -> Option<usize> {
    let whole = shape
        .iter()
        .filter(|&&n| n > 0)
        .try_fold(1usize, |product, &n| product.checked_mul(n))?;
    isize::try_from(whole.checked_mul(size_of::<f32>())?).ok()?;
    Some(if shape.contains(&0) { 0 } else { whole })
}

/// All tensors of a file.
#[derive(Debug, Clone)]
pub struct Tensors {
    format: &'static str,
    bytes: Arc<[u8]>,
    entries: Vec<Entry>,
    /// Places in `entries`, by name.
    by_name: Vec<u32>,
}

impl Tensors {
    /// A directory of entries that lie within `bytes` and apart from each other.
    pub(super) fn new(
        format: &'static str,
        bytes: Arc<[u8]>,
        entries: Vec<Entry>,
    ) -> Result<Self, FormatError> {
        let too_many = |_| FormatError::part(format, "tensors", "fewer than 2^32", entries.len());
        let count = u32::try_from(entries.len()).map_err(too_many)?;
        let place = |n: u32| entries.get(n as usize);
        let outside = |entry: &&Entry| {
            let end = entry.start.checked_add(entry.length);
            end.is_none_or(|end| end > bytes.len())
        };
        if let Some(entry) = entries.iter().find(outside) {
            let expected = format!("bytes before the file's end at {}", bytes.len());
            let found = format!("{} bytes from {} on", entry.length, entry.start);
            return Err(FormatError::tensor(format, &entry.name, expected, found));
        }
        let mut order: Vec<u32> = (0..count).collect();
        order.sort_unstable_by_key(|&n| place(n).map(|entry| (entry.start, entry.length)));
        for pair in order.windows(2) {
            let &[before, after] = pair else { continue };
            let (Some(before), Some(after)) = (place(before), place(after)) else {
                continue;
            };
            if before.start + before.length > after.start {
                let expected = format!(
                    "bytes behind those of {}",
                    super::error::shortened(&before.name)
                );
                let found = format!("both from byte {} on", after.start);
                return Err(FormatError::tensor(format, &after.name, expected, found));
            }
        }
        order.sort_unstable_by_key(|&n| place(n).map(|entry| &entry.name));
        for pair in order.windows(2) {
            let &[before, after] = pair else { continue };
            let name = |n| place(n).map(|entry| &*entry.name);
            if name(before) == name(after) {
                let name = name(after).unwrap_or_default();
                return Err(FormatError::tensor(format, name, "one of this name", "two"));
            }
        }
        Ok(Self {
            format,
            bytes,
            entries,
            by_name: order,
        })
    }

    /// The tensors, in the order of the file.
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

    /// A tensor's bytes as the file has them.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn bytes(&self, name: &str) -> Result<&[u8], FormatError> {
        let missing = || FormatError::tensor(self.format, name, "a tensor", "none");
        self.entry(name)
            .and_then(|entry| self.bytes.get(entry.start..entry.start + entry.length))
            .ok_or_else(missing)
    }

    /// An error that names the first tensor with a number that is not finite.
    ///
    /// # Errors
    /// When there is a NaN or an infinity, or numbers cannot be unpacked.
    pub fn check_finite(&self) -> Result<(), FormatError> {
        let numbers = |entry: &&Entry| matches!(entry.element, Element::Number(_));
        let mut entries = self.entries.iter().filter(numbers);
        entries.try_for_each(|entry| self.check_entry(entry))
    }

    /// As [`Self::check_finite`] for one tensor, unpacked a piece at a time.
    fn check_entry(&self, entry: &Entry) -> Result<(), FormatError> {
        const BLOCKS: usize = 1024;
        let kind = self.kind(entry)?;
        let mut numbers = vec![0.0; BLOCKS * kind.block_len()];
        let pieces = self.bytes(&entry.name)?.chunks(BLOCKS * kind.block_bytes());
        for (n, piece) in pieces.enumerate() {
            let count = piece.len() / kind.block_bytes() * kind.block_len();
            let part = numbers.get_mut(..count).unwrap_or_default();
            quant::dequantize(kind, piece, part).map_err(|error| self.unread(entry, error))?;
            self.check_numbers(entry, part, n * BLOCKS * kind.block_len())?;
        }
        Ok(())
    }

    /// An error where one of the numbers, which begin at place `start` of the tensor, is not finite.
    fn check_numbers(
        &self,
        entry: &Entry,
        numbers: &[f32],
        start: usize,
    ) -> Result<(), FormatError> {
        let Some(at) = numbers.iter().position(|x| !x.is_finite()) else {
            return Ok(());
        };
        let found = format!("{} at {}", numbers[at], start + at);
        let expected = "finite numbers";
        Err(FormatError::tensor(
            self.format,
            &entry.name,
            expected,
            found,
        ))
    }

    fn kind(&self, entry: &Entry) -> Result<Type, FormatError> {
        match entry.element {
            Element::Number(kind) => Ok(kind),
            Element::Other(name) => Err(self.unread(entry, name)),
        }
    }

    fn unread(&self, entry: &Entry, found: impl ToString) -> FormatError {
        FormatError::tensor(self.format, &entry.name, "numbers", found)
    }

    /// A tensor's numbers; an error where one is not finite.
    fn numbers(&self, entry: &Entry) -> Result<Vec<f32>, FormatError> {
        let kind = self.kind(entry)?;
        let mut numbers = vec![0.0; entry.values()];
        quant::dequantize(kind, self.bytes(&entry.name)?, &mut numbers)
            .map_err(|error| self.unread(entry, error))?;
        self.check_numbers(entry, &numbers, 0)?;
        Ok(numbers)
    }

    /// The same bytes with each stack of matrices `[E, rows, cols]` that `name_of` gives names for as E matrices; the function gets
    /// the stack's name and a matrix's place in it.
    pub(super) fn unstacked(
        &self,
        name_of: impl Fn(&str, usize) -> Option<String>,
    ) -> Result<Self, FormatError> {
        /// More than any model has; keeps what a small file can ask for small.
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
        let bytes = Arc::clone(&self.bytes);
        Ok(Self {
            ..Self::new(self.format, bytes, entries)?
        })
    }

    fn known(&self, name: &str) -> Result<&Entry> {
        let missing = || FormatError::tensor(self.format, name, "a tensor", "none").into_engine();
        self.entry(name).ok_or_else(missing)
    }
}

impl Parameters for Tensors {
    fn names(&self) -> Vec<String> {
        let numbers = |entry: &&Entry| matches!(entry.element, Element::Number(_));
        let names = self.entries.iter().filter(numbers);
        names.map(|entry| entry.name.to_string()).collect()
    }

    fn shape(&self, name: &str) -> Option<Vec<usize>> {
        let entry = self.entry(name)?;
        matches!(entry.element, Element::Number(_)).then(|| entry.shape.to_vec())
    }

    fn form(&self, name: &str) -> Type {
        match self.entry(name).map(|entry| entry.element) {
            Some(Element::Number(kind)) => kind,
            _ => Type::F32,
        }
    }

    fn read(&mut self, name: &str) -> Result<ArrayD<f32>> {
        let entry = self.known(name)?;
        let numbers = self.numbers(entry).map_err(FormatError::into_engine)?;
        ArrayD::from_shape_vec(IxDyn(&entry.shape), numbers).map_err(|error| {
            let found = format!("{:?}", entry.shape);
            FormatError::tensor(
                self.format,
                name,
                "numbers for its shape",
                format!("{found}: {error}"),
            )
            .into_engine()
        })
    }

    fn weight(&mut self, name: &str, rows: usize, cols: usize) -> Result<Weight> {
        expect_shape(self.shape(name), name, &[rows, cols])?;
        let entry = self.known(name)?;
        let kind = self.kind(entry).map_err(FormatError::into_engine)?;
        let wrong = |error: String| -> EngineError {
            FormatError::tensor(
                self.format,
                name,
                format!("a matrix in {}", kind.name()),
                error,
            )
            .into_engine()
        };
        let bytes = self.bytes(name).map_err(FormatError::into_engine)?;
        let matrix = if kind.block_len() > 1 {
            self.check_entry(entry).map_err(FormatError::into_engine)?;
            Matrix::new(kind, rows, cols, bytes.to_vec()).map_err(|error| wrong(error.to_string()))
        } else {
            let numbers = self.numbers(entry).map_err(FormatError::into_engine)?;
            ArrayView2::from_shape((rows, cols), &numbers)
                .map(Matrix::plain)
                .map_err(|error| wrong(error.to_string()))
        };
        matrix.map(Weight::Packed)
    }
}

/// Reads every tensor in every way; for fuzzing.
pub(super) fn read_all(mut tensors: Tensors) {
    let _ = tensors.check_finite();
    for name in tensors.names() {
        let _ = tensors.read(&name);
    }
    read_weights(&mut tensors);
}

/// Reads every matrix as something to multiply with; for fuzzing.
pub(super) fn read_weights(source: &mut dyn Parameters) {
    for name in source.names() {
        if let Some(&[rows, cols]) = source.shape(&name).as_deref() {
            let _ = source.weight(&name, rows, cols);
        }
    }
}
