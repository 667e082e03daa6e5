//! Learned positions: one trained vector for each place.
//!
//! ```text
//! add(x)[t] = x[t] + table[t]      table [T_max, C], x [T, C] -> [T, C],  T ≤ T_max
//! ```
//!
//! ```
//! use engine::nn::position::learned::LearnedTable;
//! use ndarray::array;
//! let positions = LearnedTable { table: array![[1.0, 0.0], [0.0, 1.0]] };
//! assert_eq!(positions.add(array![[5.0, 5.0]].view())?, array![[6.0, 5.0]]);
//! assert!(positions.lookup(3).is_err());
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Gehring et al. 2017, "Convolutional sequence to sequence learning", section 3.1; Vaswani et al. 2017, table 3, row E.

use crate::error::{EngineError, Result};
use crate::nn::shape::expect;
use ndarray::{Array2, ArrayView2, s};

/// The table; a position beyond its end does not exist.
#[derive(Debug, Clone, PartialEq)]
pub struct LearnedTable {
    /// `[T_max, C]`.
    pub table: Array2<f32>,
}

impl LearnedTable {
    /// The first `tokens` rows.
    ///
    /// # Errors
    /// When the table is shorter than that.
    pub fn lookup(&self, tokens: usize) -> Result<ArrayView2<'_, f32>> {
        // -> [T, C]
        let known = self.table.nrows();
        if tokens > known {
            return Err(EngineError::value(
                "learned positions",
                "tokens",
                format!("at most {known}"),
                tokens,
            ));
        }
        Ok(self.table.slice(s![..tokens, ..]))
    }

    /// `x` with each row's position added.
    ///
    /// # Errors
    /// When `x` is longer than the table or has another width.
    pub fn add(&self, x: ArrayView2<'_, f32>) -> Result<Array2<f32>> {
        // x [T, C] -> [T, C]
        let positions = self.lookup(x.nrows())?;
        expect("learned positions", "x", positions.shape(), x.shape())?;
        Ok(&x + &positions)
    }
}
