//! Typed inputs of a cell: what the reader may change, within which limits, and how it is written
//! in a lesson's props and in the address bar (both as JSON).

use std::sync::Arc;

use ndarray::Array2;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::CellError;

use super::decimal;
use super::drawing::{Drawing, MOST_POINTS};
pub use super::inputs::Inputs;
use super::selection::{Selectable, Selection};
use super::symbols::plain;

/// Largest magnitude that a number typed into a matrix may have.
pub const LARGEST_ENTRY: f32 = 1e6;

/// A picture as red, green and blue bytes, row by row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pixels {
    /// Width in pixels.
    pub width: usize,
    /// Height in pixels.
    pub height: usize,
    /// `3 * width * height` bytes: row by row, red, green, blue.
    pub rgb: Vec<u8>,
}

/// A picture input: one of the site's samples by name, or one that the reader brought.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Picture {
    /// Name of the sample, or [`Picture::YOURS`].
    pub name: String,
    /// The decoded pixels; a sample that the page must fetch first has none yet.
    pub pixels: Option<Arc<Pixels>>,
}

impl Picture {
    /// Name of a picture that came from the reader's disk, camera or clipboard.
    pub const YOURS: &'static str = "yours";
}

/// The value of one input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum InputValue {
    /// A finite number.
    Number(f64),
    /// Text that the reader typed.
    Text(String),
    /// A matrix `[rows, columns]`; a vector is a matrix of one row, a mask one of zeros and ones.
    Matrix(Array2<f32>),
    /// On or off.
    Toggle(bool),
    /// One of the names that the schema lists.
    Choice(String),
    /// A permutation: `order[i]` is the index of the item at position `i`.
    Order(Vec<usize>),
    /// A picture.
    Picture(Picture),
    /// The strokes of a pen.
    Drawing(Drawing),
    /// What is selected in the cell's view.
    Selection(Selection),
}

/// The type of an input and its limits.
#[derive(Debug, Clone, PartialEq)]
pub enum InputKind {
    /// A number from `min` to `max` in steps of `step`; a step of 1 with whole limits means whole
    /// numbers.
    Number {
        /// Smallest value allowed.
        min: f64,
        /// Largest value allowed.
        max: f64,
        /// Distance between neighbouring slider positions.
        step: f64,
    },
    /// Text of at most this many characters.
    Text {
        /// Characters kept; longer text is refused with a message, not cut.
        max_chars: usize,
    },
    /// A matrix whose sides lie within these limits.
    Matrix {
        /// Fewest and most rows.
        rows: (usize, usize),
        /// Fewest and most columns.
        cols: (usize, usize),
    },
    /// On or off.
    Toggle,
    /// One of these names.
    Choice(&'static [&'static str]),
    /// A permutation of at most this many items.
    Order {
        /// Most items.
        max_len: usize,
    },
    /// A picture; the list holds the names of the samples.
    Picture(&'static [&'static str]),
    /// The strokes of a pen on a square pad; none at all too.
    Drawing,
    /// What is selected in the cell's view. It is in links and undone like any input, but a
    /// computation does not receive it.
    Selection(Selectable),
}

impl InputKind {
    /// True where computations receive an input of this kind.
    pub fn is_computed_from(&self) -> bool {
        !matches!(self, Self::Selection(_))
    }
}

/// One input of a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct InputSpec {
    /// Name in props, state and `data-from="input:NAME"`.
    pub name: &'static str,
    /// Label of the control.
    pub label: &'static str,
    /// Type and limits.
    pub kind: InputKind,
    /// Value where the lesson gives none.
    pub default: InputValue,
}

impl InputSpec {
    /// A number input.
    pub fn number(
        name: &'static str,
        label: &'static str,
        (min, max, step): (f64, f64, f64),
        default: f64,
    ) -> Self {
        let kind = InputKind::Number { min, max, step };
        Self {
            name,
            label,
            kind,
            default: InputValue::Number(default),
        }
    }

    /// The visible seed that random weights are drawn from: a whole number from 0 to 9999.
    pub fn seed(default: u32) -> Self {
        Self::number("seed", "Seed", (0.0, 9999.0, 1.0), f64::from(default))
    }

    /// A text input of at most 4,000 characters.
    pub fn text(name: &'static str, label: &'static str, default: &str) -> Self {
        let kind = InputKind::Text { max_chars: 4000 };
        Self {
            name,
            label,
            kind,
            default: InputValue::Text(default.to_owned()),
        }
    }

    /// A matrix input with limits on its sides.
    pub fn matrix(
        name: &'static str,
        label: &'static str,
        rows: (usize, usize),
        cols: (usize, usize),
        default: Array2<f32>,
    ) -> Self {
        let kind = InputKind::Matrix { rows, cols };
        Self {
            name,
            label,
            kind,
            default: InputValue::Matrix(default),
        }
    }

    /// An on/off input.
    pub fn toggle(name: &'static str, label: &'static str, default: bool) -> Self {
        Self {
            name,
            label,
            kind: InputKind::Toggle,
            default: InputValue::Toggle(default),
        }
    }

    /// A choice among names; the first is the default.
    pub fn choice(name: &'static str, label: &'static str, names: &'static [&'static str]) -> Self {
        let default = InputValue::Choice(names.first().copied().unwrap_or_default().to_owned());
        Self {
            name,
            label,
            kind: InputKind::Choice(names),
            default,
        }
    }

    /// A permutation of `len` items, the identity at first.
    pub fn order(name: &'static str, label: &'static str, len: usize, max_len: usize) -> Self {
        let default = InputValue::Order((0..len).collect());
        Self {
            name,
            label,
            kind: InputKind::Order { max_len },
            default,
        }
    }

    /// A drawing.
    pub fn drawing(name: &'static str, label: &'static str, default: Drawing) -> Self {
        Self {
            name,
            label,
            kind: InputKind::Drawing,
            default: InputValue::Drawing(default),
        }
    }

    /// The selected entry of a tensor; `axes` indices.
    pub fn entry(
        name: &'static str,
        label: &'static str,
        axes: usize,
        default: Option<&[usize]>,
    ) -> Self {
        let default = default.map_or(Selection::Nothing, |index| Selection::Entry(index.to_vec()));
        Self {
            name,
            label,
            kind: InputKind::Selection(Selectable::Entry { axes }),
            default: InputValue::Selection(default),
        }
    }

    /// The selected word of a text.
    pub fn word(name: &'static str, label: &'static str, default: &str) -> Self {
        Self {
            name,
            label,
            kind: InputKind::Selection(Selectable::Word),
            default: InputValue::Selection(Selection::word(default)),
        }
    }

    fn refuse(&self, message: impl Into<String>) -> CellError {
        CellError::input(self.name, &plain(self.label), message)
    }

    /// Checks a value against type and limits.
    ///
    /// # Errors
    /// [`CellError::Input`] saying what was expected.
    pub fn check(&self, value: &InputValue) -> Result<(), CellError> {
        match (&self.kind, value) {
            (InputKind::Number { min, max, step }, InputValue::Number(x)) => {
                self.check_number(*x, *min, *max, *step)
            }
            (InputKind::Text { max_chars }, InputValue::Text(text)) => {
                let count = text.chars().count();
                if count > *max_chars {
                    return Err(self.refuse(format!(
                        "this is {count} characters long; at most {max_chars} can be shown here. Your text is kept: shorten it to continue."
                    )));
                }
                Ok(())
            }
            (InputKind::Matrix { rows, cols }, InputValue::Matrix(m)) => {
                self.check_matrix(m, *rows, *cols)
            }
            (InputKind::Toggle, InputValue::Toggle(_)) => Ok(()),
            (InputKind::Choice(names), InputValue::Choice(name))
                if names.contains(&name.as_str()) =>
            {
                Ok(())
            }
            (InputKind::Choice(names), InputValue::Choice(name)) => Err(self.refuse(format!(
                "\u{201c}{name}\u{201d} is not one of {}",
                names.join(", ")
            ))),
            (InputKind::Order { max_len }, InputValue::Order(order)) => {
                let mut seen = vec![false; order.len()];
                let fresh = order
                    .iter()
                    .all(|&i| seen.get_mut(i).is_some_and(|s| !std::mem::replace(s, true)));
                if !fresh || order.len() > *max_len {
                    return Err(self.refuse(format!(
                        "expected each of at most {max_len} places exactly once"
                    )));
                }
                Ok(())
            }
            (InputKind::Picture(names), InputValue::Picture(p)) => {
                if p.name == Picture::YOURS || names.contains(&p.name.as_str()) {
                    return Ok(());
                }
                Err(self.refuse(format!(
                    "there is no sample picture called \u{201c}{}\u{201d}",
                    p.name
                )))
            }
            (InputKind::Drawing, InputValue::Drawing(drawing)) if !drawing.is_whole() => {
                Err(self.refuse("a stroke has no point, or leaves the pad"))
            }
            (InputKind::Drawing, InputValue::Drawing(drawing)) => {
                let count = drawing.points();
                if count > MOST_POINTS {
                    return Err(self.refuse(format!(
                        "this drawing has {count} points; at most {MOST_POINTS} are kept here"
                    )));
                }
                Ok(())
            }
            (InputKind::Selection(kind), InputValue::Selection(selection))
                if selection.fits(*kind) =>
            {
                Ok(())
            }
            _ => Err(self.refuse("this is not the kind of value that belongs here")),
        }
    }

    fn check_number(&self, x: f64, min: f64, max: f64, step: f64) -> Result<(), CellError> {
        if !x.is_finite() {
            return Err(self.refuse("type a number; this is not one"));
        }
        if x < min || x > max {
            let [x, min, max] = [x, min, max].map(engine::decimal::decimal);
            return Err(self.refuse(format!("{x} is outside {min} to {max}")));
        }
        if step == 1.0 && min.fract() == 0.0 && x.fract() != 0.0 {
            return Err(self.refuse(format!(
                "{} is not a whole number",
                engine::decimal::decimal(x)
            )));
        }
        Ok(())
    }

    fn check_matrix(
        &self,
        m: &Array2<f32>,
        rows: (usize, usize),
        cols: (usize, usize),
    ) -> Result<(), CellError> {
        let (r, c) = m.dim();
        if r < rows.0 || r > rows.1 || c < cols.0 || c > cols.1 {
            return Err(self.refuse(format!(
                "expected {} to {} rows and {} to {} columns, found {r} x {c}",
                rows.0, rows.1, cols.0, cols.1
            )));
        }
        for ((i, j), x) in m.indexed_iter() {
            if !x.is_finite() || x.abs() > LARGEST_ENTRY {
                return Err(self.refuse(format!(
                    "row {}, column {}: type a number between -1,000,000 and 1,000,000",
                    i + 1,
                    j + 1
                )));
            }
        }
        Ok(())
    }

    /// Reads a value from JSON (props of a lesson, state of the address bar) and checks it.
    ///
    /// # Errors
    /// [`CellError::Input`] where the JSON has another type or breaks a limit.
    pub fn parse(&self, json: &Value) -> Result<InputValue, CellError> {
        let wrong = |expected: &str| self.refuse(format!("expected {expected}, found {json}"));
        let value = match &self.kind {
            InputKind::Number { .. } => {
                InputValue::Number(json.as_f64().ok_or_else(|| wrong("a number"))?)
            }
            InputKind::Text { .. } => {
                InputValue::Text(json.as_str().ok_or_else(|| wrong("a text"))?.to_owned())
            }
            InputKind::Matrix { .. } => InputValue::Matrix(
                parse_matrix(json)
                    .ok_or_else(|| wrong("a list of rows of numbers, all equally long"))?,
            ),
            InputKind::Toggle => {
                InputValue::Toggle(json.as_bool().ok_or_else(|| wrong("true or false"))?)
            }
            InputKind::Choice(_) => {
                InputValue::Choice(json.as_str().ok_or_else(|| wrong("a name"))?.to_owned())
            }
            InputKind::Order { .. } => {
                let list = json.as_array().ok_or_else(|| wrong("a list of places"))?;
                let order: Option<Vec<usize>> = list
                    .iter()
                    .map(|v| v.as_u64().and_then(|i| usize::try_from(i).ok()))
                    .collect();
                InputValue::Order(order.ok_or_else(|| wrong("a list of places"))?)
            }
            InputKind::Picture(_) => {
                let name = json
                    .as_str()
                    .ok_or_else(|| wrong("the name of a sample picture"))?
                    .to_owned();
                InputValue::Picture(Picture { name, pixels: None })
            }
            InputKind::Drawing => InputValue::Drawing(
                json.as_str()
                    .and_then(Drawing::parse)
                    .ok_or_else(|| wrong("the strokes of a drawing"))?,
            ),
            InputKind::Selection(_) => InputValue::Selection(
                Selection::parse(json).ok_or_else(|| wrong("a word or a list of indices"))?,
            ),
        };
        self.check(&value)?;
        Ok(value)
    }
}

/// A list of rows, or one row as a plain list of numbers.
fn parse_matrix(json: &Value) -> Option<Array2<f32>> {
    let outer = json.as_array()?;
    let row = |v: &Value| -> Option<Vec<f32>> {
        v.as_array()?
            .iter()
            .map(|x| x.as_f64().map(|x| x as f32))
            .collect()
    };
    let rows: Vec<Vec<f32>> = if outer.first()?.is_array() {
        outer.iter().map(row).collect::<Option<_>>()?
    } else {
        vec![row(json)?]
    };
    let cols = rows.first()?.len();
    if rows.iter().any(|r| r.len() != cols) {
        return None;
    }
    Array2::from_shape_vec((rows.len(), cols), rows.concat()).ok()
}

/// The shortest JSON number that reads back as the same `f32`.
fn short(x: f32) -> Value {
    decimal::parse(&x.to_string()).map_or(Value::Null, |x| json!(x))
}

impl InputValue {
    /// As JSON, the inverse of [`InputSpec::parse`]. A picture is written as its name only.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Number(x) => json!(x),
            Self::Text(text) => json!(text),
            Self::Matrix(m) => Value::Array(
                m.rows()
                    .into_iter()
                    .map(|r| Value::Array(r.iter().map(|&x| short(x)).collect()))
                    .collect(),
            ),
            Self::Toggle(on) => json!(on),
            Self::Choice(name) => json!(name),
            Self::Order(order) => json!(order),
            Self::Picture(p) => json!(p.name),
            Self::Drawing(drawing) => json!(drawing.to_text()),
            Self::Selection(selection) => selection.to_json(),
        }
    }
}
