//! MNIST's files, packed with gzip: 10,000 digits to train on and 10,000 to test with.
//!
//! ```text
//! pictures: 0 0 8 3, then N, rows, columns as u32, big-endian, then a byte for each pixel, 0 paper to 255 ink
//! labels:   0 0 8 1, then N, then a byte for each label
//! ```
//!
//! Source: LeCun, Cortes and Burges, "The MNIST database of handwritten digits", section "File
//! formats".

use crate::frame::{Card, read_gz};
use crate::{Result, TrainError};
use engine::drawing::SIDE;
use engine::ndarray::{Array3, ArrayView2, Axis, Slice};
use std::path::Path;

/// Digits, and what they are.
#[derive(Debug, Clone, PartialEq)]
pub struct Digits {
    /// `[N, SIDE, SIDE]`, 0 paper to 1 ink.
    pub pictures: Array3<f32>,
    /// `[N]`, 0 to 9.
    pub labels: Vec<usize>,
}

impl Digits {
    /// Reads `NAME-images-idx3-ubyte.gz` and `NAME-labels-idx1-ubyte.gz`.
    ///
    /// # Errors
    /// When a file is missing, damaged or short, or has not `count` digits.
    pub fn read(folder: &Path, name: &str, count: usize) -> Result<Self> {
        let path = folder.join(format!("{name}-images-idx3-ubyte.gz"));
        let pixels = idx(&path, &[count, SIDE, SIDE])?;
        let pictures = pixels.iter().map(|&byte| f32::from(byte) / 255.0).collect();
        let pictures = Array3::from_shape_vec((count, SIDE, SIDE), pictures)
            .map_err(|error| TrainError::content(&path, "pictures", error))?;
        let path = folder.join(format!("{name}-labels-idx1-ubyte.gz"));
        let labels: Vec<usize> = idx(&path, &[count])?.into_iter().map(usize::from).collect();
        match labels.iter().find(|&&label| label > 9) {
            Some(label) => Err(TrainError::content(&path, "labels from 0 to 9", label)),
            None => Ok(Self { pictures, labels }),
        }
    }

    /// The number of digits.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Digit `n`.
    pub fn picture(&self, n: usize) -> ArrayView2<'_, f32> {
        // [SIDE, SIDE]
        self.pictures.index_axis(Axis(0), n)
    }

    /// The first `count`, and the others.
    fn split(self, count: usize) -> (Self, Self) {
        let part = |from: usize, to: usize| Self {
            pictures: self
                .pictures
                .slice_axis(Axis(0), Slice::from(from..to))
                .to_owned(),
            labels: self.labels[from..to].to_vec(),
        };
        (part(0, count), part(count, self.len()))
    }
}

/// The content of a file in the IDX format, whose sizes must be these.
fn idx(path: &Path, shape: &[usize]) -> Result<Vec<u8>> {
    let values: usize = shape.iter().product();
    let mut head = vec![0, 0, 8, shape.len() as u8];
    for &size in shape {
        head.extend((size as u32).to_be_bytes());
    }
    let mut bytes = read_gz(path, head.len() + values)?;
    if !bytes.starts_with(&head) {
        let expected = format!("the IDX format with bytes of shape {shape:?}");
        let found = format!(
            "a file that begins with {:?}",
            &bytes[..head.len().min(bytes.len())]
        );
        return Err(TrainError::content(path, expected, found));
    }
    if bytes.len() < head.len() + values {
        let expected = format!("{values} bytes for {shape:?}");
        return Err(TrainError::content(
            path,
            expected,
            bytes.len() - head.len(),
        ));
    }
    Ok(bytes.split_off(head.len()))
}

/// The digits for training, for choosing the best step, and for the figures of the card.
#[derive(Debug, Clone, PartialEq)]
pub struct Mnist {
    /// The training set.
    pub train: Digits,
    /// The last of the training digits, which are not trained on: by these the best step is chosen.
    pub held_out: Digits,
    /// MNIST's test digits.
    pub test: Digits,
}

/// Number of digits in each of the two sets.
const COUNT: usize = 10_000;

/// Number of training digits that are held out for validation.
const HELD_OUT: usize = 500;

impl Mnist {
    /// Reads both sets from a folder.
    ///
    /// # Errors
    /// When a file is missing, damaged or short.
    pub fn read(folder: &Path) -> Result<Self> {
        let (train, held_out) = Digits::read(folder, "train10k", COUNT)?.split(COUNT - HELD_OUT);
        let test = Digits::read(folder, "t10k", COUNT)?;
        Ok(Self {
            train,
            held_out,
            test,
        })
    }
}

/// The text on the data in the cards of all digit models.
pub(super) fn card() -> Card {
    Card {
        about: String::new(),
        data: format!(
            "{} of 10,000 training digits of MNIST, {HELD_OUT} to choose the best step by; figures on its 10,000 test digits",
            COUNT - HELD_OUT
        ),
        licence: "CC BY-SA 3.0".to_owned(),
        source: "`train-images-idx3-ubyte.gz`, `t10k-images-idx3-ubyte.gz` and their labels at yann.lecun.com/exdb/mnist; the training \
            digits as in github.com/cazala/mnist (`src/digits`), which are as many of each class as the first 10,000"
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::replace;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    fn write(path: &Path, bytes: &[u8]) {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        replace(path, &encoder.finish().unwrap()).unwrap();
    }

    #[test]
    fn files_that_are_missing_short_or_of_another_kind_are_named() {
        let folder = std::env::temp_dir().join(format!("train-idx-{}", std::process::id()));
        let error = |name: &str| Digits::read(&folder, name, 1).unwrap_err().to_string();
        assert!(error("none").contains("cannot read") && error("none").contains("none-images"));
        let picture = folder.join("x-images-idx3-ubyte.gz");
        let labels = folder.join("x-labels-idx1-ubyte.gz");
        let mut bytes = vec![0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 28, 0, 0, 0, 28];
        bytes.extend([255; 784]);
        write(&picture, &bytes[..700]);
        assert!(error("x").ends_with("expected 784 bytes for [1, 28, 28], found 684"));
        write(&picture, b"digits, of a kind");
        assert!(error("x").contains("expected the IDX format"));
        write(&picture, &bytes);
        write(&labels, &[0, 0, 8, 1, 0, 0, 0, 1, 17]);
        assert!(error("x").ends_with("expected labels from 0 to 9, found 17"));
        write(&labels, &[0, 0, 8, 1, 0, 0, 0, 1, 7]);
        let digits = Digits::read(&folder, "x", 1).unwrap();
        assert_eq!((digits.labels[0], digits.picture(0).sum()), (7, 784.0));
    }
}
