//! One-hot vectors: a token as a vector with a single 1, and its product with a table.
//!
//! ```text
//! one_hot(id) = (0, …, 0, 1, 0, …, 0)                                [V], the 1 at index id
//! one_hot(id) · E = Σ_j one_hot(id)_j · E_j = E_id                   E [V, C] -> [C]
//! ```
//! ```
//! use explain::one_hot::{one_hot, times};
//! use ndarray::array;
//! let table = array![[0.0, 0.1], [1.0, 1.1], [2.0, 2.1]];
//! assert_eq!(one_hot(1, 3), array![0.0, 1.0, 0.0]);
//! assert_eq!(times(one_hot(1, 3).view(), table.view())?, array![1.0, 1.1]);
//! # Ok::<(), engine::EngineError>(())
//! ```

use engine::error::Result;
use engine::nn::linear::project;
use ndarray::{Array1, ArrayView1, ArrayView2, Axis};

/// The vector of a token: `size` numbers, 1 at the index of its id and 0 elsewhere.
pub fn one_hot(id: usize, size: usize) -> Array1<f32> {
    Array1::from_shape_fn(size, |index| if index == id { 1.0 } else { 0.0 })
}

/// A vector times a table: the sum of all rows, each times its number of the vector.
///
/// # Errors
/// When the vector is not as long as the table has rows.
pub fn times(vector: ArrayView1<'_, f32>, table: ArrayView2<'_, f32>) -> Result<Array1<f32>> {
    // vector [V], table [V, C] -> [C]
    let product = project(vector.insert_axis(Axis(0)), table)?;
    Ok(product.index_axis_move(Axis(0), 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::nn::embedding::embed;
    use engine::rng;

    /// The product is the row, to the last bit: every other term is a zero.
    #[test]
    fn a_one_hot_vector_picks_a_row_bit_for_bit() {
        let table = rng::normal_matrix(3, "table", 301, 48, 1.0);
        for id in [0, 1, 150, 300] {
            let found = times(one_hot(id, 301).view(), table.view()).unwrap();
            let row = embed(table.view(), &[id]).unwrap();
            let bits = found
                .iter()
                .zip(&row)
                .map(|(a, b)| a.to_bits() ^ b.to_bits());
            assert!(bits.into_iter().all(|differing| differing == 0));
        }
        assert!(times(one_hot(0, 300).view(), table.view()).is_err());
    }
}
