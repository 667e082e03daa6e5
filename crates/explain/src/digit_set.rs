//! A set of handwritten digits as a text that the site ships: a line for each.
//!
//! ```text
//! LABEL  PIXELS        separated by a tab; two hexadecimal digits for each of 28 x 28 pixels, row by row, 00 paper to ff ink
//! ```
//!
//! ```
//! use explain::digit_set::{Digit, read, write};
//! let mut pixels = vec![0; 784];
//! pixels[400] = 255;
//! let text = write([(7, &pixels[..])]);
//! let digits = read(&text)?;
//! assert_eq!((digits.len(), digits[0].label), (1, 7));
//! assert_eq!(digits[0].image[[0, 14, 8]], 1.0);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source of the digits: LeCun, Cortes and Burges, "The MNIST database of handwritten digits".

use engine::drawing::SIDE;
use engine::error::{EngineError, Result};
use ndarray::Array3;

/// A digit.
#[derive(Debug, Clone, PartialEq)]
pub struct Digit {
    /// What it is, 0 to 9.
    pub label: usize,
    /// `[1, 28, 28]`: 0 paper to 1 ink.
    pub image: Array3<f32>,
}

/// The text of some digits: labels, and the bytes of their pixels.
pub fn write<'a>(digits: impl IntoIterator<Item = (usize, &'a [u8])>) -> String {
    let line = |(label, pixels): (usize, &[u8])| {
        let pixels: String = pixels.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{label}\t{pixels}\n")
    };
    digits.into_iter().map(line).collect()
}

/// The digits of a text.
///
/// # Errors
/// When a line is not a label and its pixels.
pub fn read(text: &str) -> Result<Vec<Digit>> {
    text.lines().map(digit).collect()
}

fn digit(line: &str) -> Result<Digit> {
    let wrong = |expected: &str| {
        let found: String = line.chars().take(12).collect();
        EngineError::shape("digit_set", expected, format!("{found:?} …"))
    };
    let (label, pixels) = line.split_once('\t').ok_or_else(|| wrong("a tab"))?;
    let label = label.parse().ok().filter(|&label: &usize| label < 10);
    let label = label.ok_or_else(|| wrong("a label from 0 to 9"))?;
    let values: Option<Vec<f32>> = pixels.as_bytes().chunks(2).map(grey).collect();
    let image = values.and_then(|values| Array3::from_shape_vec((1, SIDE, SIDE), values).ok());
    let image = image.ok_or_else(|| wrong("784 pixels of two hexadecimal digits"))?;
    Ok(Digit { label, image })
}

/// The value of two hexadecimal digits, 0 to 1.
fn grey(digits: &[u8]) -> Option<f32> {
    let value = |digit: u8| char::from(digit).to_digit(16);
    match digits {
        [high, low] => Some((16 * value(*high)? + value(*low)?) as f32 / 255.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_comes_back() {
        let pixels: Vec<u8> = (0..784).map(|n| (n % 256) as u8).collect();
        let text = write([(3, &pixels[..]), (9, &pixels[..])]);
        let found = read(&text).unwrap();
        assert_eq!((found.len(), found[1].label), (2, 9));
        for (value, byte) in found[0].image.iter().zip(&pixels) {
            assert_eq!(*value, f32::from(*byte) / 255.0);
        }
    }

    #[test]
    fn what_is_no_digit_is_refused() {
        let blank = "0".repeat(2 * 784);
        assert!(read(&format!("5\t{blank}")).is_ok());
        for line in [
            blank.clone(),
            format!("12\t{blank}"),
            format!("5\t{blank}0"),
            format!("5\t{}", &blank[2..]),
            format!("5\t{}zz", &blank[2..]),
        ] {
            assert!(read(&line).is_err());
        }
    }
}
