//! A classifier without parameters: a vector is given the label that most of its nearest neighbours have.
//!
//! ```text
//! similarity = cosine(query, known)              queries [Q, C], known [N, C]
//! votes      = labels of the `neighbours` most similar rows
//! answer     = the label with the most votes; of equally many, the one of the most similar row    -> [Q]
//! ```
//!
//! ```
//! use explain::nearest::answers;
//! use ndarray::array;
//! let known = array![[1.0, 0.0], [2.0, 0.1], [0.0, 3.0]];
//! let found = answers(array![[5.0, 1.0], [0.1, 1.0]].view(), known.view(), &[7, 7, 2], 1)?;
//! assert_eq!(found, [7, 2]);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Wu et al. 2018, "Unsupervised feature learning via non-parametric instance discrimination",
//! section 3.4, with votes that weigh the same.

use engine::error::Result;
use engine::math;
use engine::nn::softmax::top_indices;
use engine::shape::mismatch;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2};

/// The label of each query by its nearest neighbours among the known rows.
///
/// # Errors
/// When rows have different lengths, or there is not one label for each known row.
pub fn answers(
    queries: ArrayView2<'_, f32>,
    known: ArrayView2<'_, f32>,
    labels: &[usize],
    neighbours: usize,
) -> Result<Vec<usize>> {
    // queries [Q, C], known [N, C], labels [N] -> [Q]
    if queries.ncols() != known.ncols() || labels.len() != known.nrows() {
        let expected = "rows as long as the queries, a label each";
        return Err(mismatch(
            "nearest",
            expected,
            queries.shape(),
            known.shape(),
        ));
    }
    let known = with_length_one(known);
    let one = |query: ArrayView1<'_, f32>| {
        let query = query.to_vec();
        // Added in order: the same bits everywhere.
        let similar: Array1<f32> = known
            .rows()
            .into_iter()
            .map(|row| row.iter().zip(&query).map(|(a, b)| a * b).sum())
            .collect();
        vote(&top_indices(similar.view(), neighbours), labels)
    };
    Ok(queries.rows().into_iter().map(one).collect())
}

/// The label with the most votes; of equally many, the one that comes first.
fn vote(nearest: &[usize], labels: &[usize]) -> usize {
    let mut best = (0, 0);
    for &at in nearest {
        let label = labels[at];
        let votes = nearest.iter().filter(|&&n| labels[n] == label).count();
        if votes > best.0 {
            best = (votes, label);
        }
    }
    best.1
}

/// Rows divided by their lengths; a row of zeros stays.
fn with_length_one(rows: ArrayView2<'_, f32>) -> Array2<f32> {
    let mut rows = rows.as_standard_layout().into_owned();
    for mut row in rows.rows_mut() {
        let squares: f32 = row.iter().map(|x| x * x).sum();
        let length = math::sqrt(squares);
        if length > 0.0 {
            row.mapv_inplace(|x| x / length);
        }
    }
    rows
}

/// How many of some answers are the labels.
pub fn right(answers: &[usize], labels: &[usize]) -> usize {
    let both = answers.iter().zip(labels);
    both.filter(|(answer, label)| answer == label).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    /// Directions decide, not lengths; and of equally many votes, the most similar row's.
    #[test]
    fn the_most_votes_win() {
        let known = array![[1.0, 0.0], [0.9, 0.1], [0.0, 9.0], [0.1, 9.0]];
        let labels = [3, 3, 5, 5];
        let of = |x: f32, y: f32, k: usize| {
            answers(array![[x, y]].view(), known.view(), &labels, k).unwrap()[0]
        };
        assert_eq!((of(1.0, 0.2, 3), of(0.2, 1.0, 3)), (3, 5));
        assert_eq!((of(1.0, 0.9, 4), of(0.9, 1.0, 4)), (3, 5));
        assert_eq!(of(0.0, 0.0, 1), 3);
        assert_eq!(right(&[1, 2, 3], &[1, 0, 3]), 2);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let known = array![[1.0, 0.0]];
        assert!(answers(array![[1.0]].view(), known.view(), &[1], 1).is_err());
        assert!(answers(known.view(), known.view(), &[1, 2], 1).is_err());
    }
}
