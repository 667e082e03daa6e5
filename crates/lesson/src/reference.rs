//! References to tensor elements, and values quoted in prose.
//!
//! `weights[0,1]` is one element, `weights[0]` a row, `weights` a whole tensor or a single number.
//! An inline value names a cell first: `qkv-by-hand.weights[0,1] .3`, three digits after the point;
//! `count` instead of `.3` prints a whole number, `power1` a power of ten with one digit,
//! `percent1` a percentage.

use std::fmt;
use std::str::FromStr;

/// Digits after the point that an inline value gets when it does not say.
pub const DEFAULT_DIGITS: u8 = 3;

/// Most digits after the point; an `f32` holds no more.
const MOST_DIGITS: u8 = 9;

/// A text that is not a reference or inline value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ReferenceError(String);

/// An element, a slice or the whole of a named tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ElementRef {
    /// Name of the tensor in the cell's computation.
    pub tensor: String,
    /// Position along the first axes; empty for the whole tensor.
    pub index: Vec<usize>,
}

impl FromStr for ElementRef {
    type Err = ReferenceError;

    fn from_str(text: &str) -> Result<Self, ReferenceError> {
        let text = text.trim();
        let wrong = || {
            ReferenceError(format!(
                "`{text}` is not a tensor element such as `weights[0,1]`"
            ))
        };
        let (name, index) = match text.split_once('[') {
            None => (text, Vec::new()),
            Some((name, rest)) => {
                let inside = rest.strip_suffix(']').ok_or_else(wrong)?;
                let index: Result<Vec<usize>, _> =
                    inside.split(',').map(|i| i.trim().parse()).collect();
                (name.trim(), index.map_err(|_| wrong())?)
            }
        };
        let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic());
        let reads_well = name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
        if !starts_well || !reads_well {
            return Err(wrong());
        }
        Ok(Self {
            tensor: name.to_owned(),
            index,
        })
    }
}

impl fmt::Display for ElementRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.tensor)?;
        if self.index.is_empty() {
            return Ok(());
        }
        let list: Vec<String> = self.index.iter().map(usize::to_string).collect();
        write!(f, "[{}]", list.join(","))
    }
}

/// A value that prose quotes from a cell of the same page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InlineRef {
    /// Id of the cell on the page.
    pub cell: String,
    /// The element that is quoted.
    pub element: ElementRef,
    /// Format, as `data-format` holds it: `fixed3`, `count`, `power1`, `percent1`.
    pub format: String,
}

impl FromStr for InlineRef {
    type Err = ReferenceError;

    fn from_str(text: &str) -> Result<Self, ReferenceError> {
        let text = text.trim();
        let wrong = |why: &str| {
            ReferenceError(format!(
                "`={text}` is not a value such as `=cell-id.weights[0,1] .3`: {why}"
            ))
        };
        let (cell, rest) = text
            .split_once('.')
            .ok_or_else(|| wrong("no tensor is named"))?;
        if cell.is_empty() || !cell.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
            return Err(wrong("it starts with the id of a cell"));
        }
        let (element, format) = match rest.rsplit_once(' ') {
            None => (rest, format!("fixed{DEFAULT_DIGITS}")),
            Some((element, format)) => (
                element,
                number_format(format).ok_or_else(|| {
                    wrong("it ends in `.0` to `.9`, `count`, `power1` or `percent1`")
                })?,
            ),
        };
        Ok(Self {
            cell: cell.to_owned(),
            element: element.parse()?,
            format,
        })
    }
}

/// The format for an author's `.3`, `count`, `power1` or `percent1`.
pub(crate) fn number_format(text: &str) -> Option<String> {
    let digits = |rest: &str| rest.parse::<u8>().ok().filter(|d| *d <= MOST_DIGITS);
    if let Some(rest) = text.strip_prefix('.') {
        return digits(rest).map(|d| format!("fixed{d}"));
    }
    let known = text == "count"
        || ["power", "percent"]
            .iter()
            .any(|word| text.strip_prefix(word).and_then(digits).is_some());
    known.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_round_trip() {
        for text in ["weights[0,1]", "weights[0]", "entropy", "heads.q[1,2,3]"] {
            assert_eq!(text.parse::<ElementRef>().unwrap().to_string(), text);
        }
        for text in ["", "[1]", "w[", "w[1", "w[a]", "w[]", "w w", "0.5", "-1"] {
            assert!(text.parse::<ElementRef>().is_err(), "{text}");
        }
    }

    #[test]
    fn inline_values_name_cell_element_and_format() {
        let full: InlineRef = "qkv-by-hand.weights[0,1] .2".parse().unwrap();
        assert_eq!(
            (full.cell.as_str(), full.format.as_str()),
            ("qkv-by-hand", "fixed2")
        );
        assert_eq!(full.element.to_string(), "weights[0,1]");
        let short: InlineRef = "a.heads.q[1]".parse().unwrap();
        assert_eq!(
            (short.element.tensor.as_str(), short.format.as_str()),
            ("heads.q", "fixed3")
        );
        for format in ["count", "power1", "percent0"] {
            let value: InlineRef = format!("a.w {format}").parse().unwrap();
            assert_eq!(value.format, format);
        }
        for text in [
            "",
            "a",
            ".w",
            "a.",
            "a b.w",
            "a.w .x",
            "a.w .10",
            "a.w powerx",
            "a.w 3",
        ] {
            assert!(text.parse::<InlineRef>().is_err(), "{text}");
        }
    }
}
