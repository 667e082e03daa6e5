//! The values of a cell's inputs, read by name and kind.

use std::sync::Arc;

use litemap::LiteMap;
use ndarray::Array2;
use serde::{Deserialize, Serialize};

use super::drawing::Drawing;
use super::input::{InputSpec, InputValue, Pixels};
use crate::error::CellError;

/// The inputs of one cell, by name, as its computation receives them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Inputs(pub LiteMap<String, InputValue>);

impl Inputs {
    /// The defaults of a schema.
    pub fn defaults(specs: &[InputSpec]) -> Self {
        Self(
            specs
                .iter()
                .map(|s| (s.name.to_owned(), s.default.clone()))
                .collect(),
        )
    }

    /// Replaces one value; chainable in tests.
    #[must_use]
    pub fn with(mut self, name: &str, value: InputValue) -> Self {
        self.0.insert(name.to_owned(), value);
        self
    }

    fn get(&self, name: &str) -> Result<&InputValue, CellError> {
        self.0
            .get(name)
            .ok_or_else(|| CellError::Missing(name.to_owned()))
    }

    /// A number.
    ///
    /// # Errors
    /// [`CellError::Missing`] where the schema has no number of that name (as for all getters
    /// here).
    pub fn number(&self, name: &str) -> Result<f64, CellError> {
        match self.get(name)? {
            InputValue::Number(x) => Ok(*x),
            _ => Err(CellError::Missing(name.to_owned())),
        }
    }

    /// A whole, non-negative number.
    ///
    /// # Errors
    /// [`CellError::Missing`].
    pub fn count(&self, name: &str) -> Result<usize, CellError> {
        Ok(self.number(name)?.max(0.0) as usize)
    }

    /// The seed.
    ///
    /// # Errors
    /// [`CellError::Missing`].
    pub fn seed(&self) -> Result<u64, CellError> {
        Ok(self.count("seed")? as u64)
    }

    /// A text.
    ///
    /// # Errors
    /// [`CellError::Missing`].
    pub fn text(&self, name: &str) -> Result<&str, CellError> {
        match self.get(name)? {
            InputValue::Text(text) => Ok(text),
            _ => Err(CellError::Missing(name.to_owned())),
        }
    }

    /// A matrix `[rows, columns]`.
    ///
    /// # Errors
    /// [`CellError::Missing`].
    pub fn matrix(&self, name: &str) -> Result<&Array2<f32>, CellError> {
        match self.get(name)? {
            InputValue::Matrix(m) => Ok(m),
            _ => Err(CellError::Missing(name.to_owned())),
        }
    }

    /// An on/off value.
    ///
    /// # Errors
    /// [`CellError::Missing`].
    pub fn toggle(&self, name: &str) -> Result<bool, CellError> {
        match self.get(name)? {
            InputValue::Toggle(on) => Ok(*on),
            _ => Err(CellError::Missing(name.to_owned())),
        }
    }

    /// The name of the chosen option.
    ///
    /// # Errors
    /// [`CellError::Missing`].
    pub fn choice(&self, name: &str) -> Result<&str, CellError> {
        match self.get(name)? {
            InputValue::Choice(choice) => Ok(choice),
            _ => Err(CellError::Missing(name.to_owned())),
        }
    }

    /// A permutation of exactly `len` items: the identity where the stored one has another length,
    /// as it does after the reader adds or removes a word.
    ///
    /// # Errors
    /// [`CellError::Missing`].
    pub fn order(&self, name: &str, len: usize) -> Result<Vec<usize>, CellError> {
        match self.get(name)? {
            InputValue::Order(order) if order.len() == len => Ok(order.clone()),
            InputValue::Order(_) => Ok((0..len).collect()),
            _ => Err(CellError::Missing(name.to_owned())),
        }
    }

    /// The strokes of a drawing.
    ///
    /// # Errors
    /// [`CellError::Missing`].
    pub fn drawing(&self, name: &str) -> Result<&Drawing, CellError> {
        match self.get(name)? {
            InputValue::Drawing(drawing) => Ok(drawing),
            _ => Err(CellError::Missing(name.to_owned())),
        }
    }

    /// The pixels of a picture.
    ///
    /// # Errors
    /// [`CellError::Missing`]; [`CellError::Input`] while the picture has not been decoded.
    pub fn pixels(&self, name: &str) -> Result<Arc<Pixels>, CellError> {
        match self.get(name)? {
            InputValue::Picture(p) => p.pixels.clone().ok_or_else(|| {
                CellError::input(
                    name,
                    "Picture",
                    "this picture has not arrived yet; choose another or drop one in",
                )
            }),
            _ => Err(CellError::Missing(name.to_owned())),
        }
    }
}
