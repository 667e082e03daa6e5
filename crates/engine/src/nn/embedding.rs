//! Embedding: a token's id picks a row of a table.
//!
//! ```text
//! embed(table, ids)[t] = table[ids[t]]      table [V, C], ids [T] -> [T, C]
//! ```
//! It equals one-hot(ids) · table, without the multiplications by 0.
//!
//! ```
//! use engine::nn::embedding::embed;
//! use ndarray::array;
//! let table = array![[0.0, 0.1], [1.0, 1.1], [2.0, 2.1]];
//! assert_eq!(embed(table.view(), &[2, 0, 2])?, array![[2.0, 2.1], [0.0, 0.1], [2.0, 2.1]]);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Bengio et al. 2003, "A neural probabilistic language model", section 2;
//! `torch.nn.Embedding`.

use crate::error::{EngineError, Result};
use crate::shape::rows;
use ndarray::{Array2, ArrayView2};

/// The rows of `table` that `ids` name, in their order.
///
/// # Errors
/// When an id is not a row of the table.
pub fn embed(table: ArrayView2<'_, f32>, ids: &[usize]) -> Result<Array2<f32>> {
    // table [V, C], ids [T] -> [T, C]
    expect_ids(ids, table.nrows())?;
    rows("embed", table, ids)
}

/// Refuses ids that are not below the vocabulary size.
pub(crate) fn expect_ids(ids: &[usize], vocabulary: usize) -> Result<()> {
    let outside = ids.iter().find(|&&id| id >= vocabulary);
    outside.map_or(Ok(()), |id| {
        let expected = format!("below the vocabulary size {vocabulary}");
        Err(EngineError::value("embed", "id", expected, id))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_outside_the_table_is_refused() {
        let table = Array2::zeros((3, 2));
        let error = embed(table.view(), &[0, 3]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "embed: id must be below the vocabulary size 3, found 3"
        );
        assert_eq!(embed(table.view(), &[]).unwrap().dim(), (0, 2));
    }
}
