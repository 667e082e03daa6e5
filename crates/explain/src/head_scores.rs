//! What a head looks at, as six numbers from 0 to 1: the mean, over the tokens of a sentence, of the
//! weight that follows a pattern.
//!
//! ```text
//! A [T, T] weights; w the tokens of the sentence, without those that the model adds
//! previous   mean over t in w of A[t, t−1]
//! next       mean over t in w of A[t, t+1]
//! special    mean over t in w of the sum of A[t, s] over the tokens s that the model adds
//! same       mean over t in w of the sum of A[t, s] over all s with the same token as t, t itself too
//! induction  mean, over t in w whose token was there before, of the sum of A[t, s+1] over all earlier s with the same token
//! even       mean over t in w of the entropy of row t, divided by the logarithm of the number of tokens that t may see
//! ```
//!
//! ```
//! use explain::head_scores::{EVEN, PREVIOUS, head_scores};
//! use ndarray::array;
//! // A start token, then a b: each looks at the one before.
//! let weights = array![[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
//! let scores = head_scores(weights.view(), &[9, 1, 2], (1, 3), true);
//! assert_eq!((scores[PREVIOUS], scores[EVEN]), (1.0, 0.0));
//! ```
//!
//! Source: Clark et al. 2019, "What does BERT look at?", section 3; Olsson et al. 2022, "In-context
//! learning and induction heads" (prefix matching).

use engine::math;
use engine::nn::softmax::entropy;
use ndarray::{Array1, ArrayView1, ArrayView2, Axis, Slice};

/// Index of the weight of the token before.
pub const PREVIOUS: usize = 0;
/// Index of the weight of the next token.
pub const NEXT: usize = 1;
/// Index of the weight of the tokens that the model adds.
pub const SPECIAL: usize = 2;
/// Index of the weight of the same token.
pub const SAME: usize = 3;
/// Index of the weight of what followed the same token earlier.
pub const INDUCTION: usize = 4;
/// Index of the evenness.
pub const EVEN: usize = 5;

/// The number of scores.
pub const COUNT: usize = 6;

/// The scores of one head. The tokens of the sentence are those from `words.0` up to, and without,
/// `words.1`; `is_causal` says that a token sees none after it. A score over no token is 0.
pub fn head_scores(
    weights: ArrayView2<'_, f32>,
    ids: &[usize],
    words: (usize, usize),
    is_causal: bool,
) -> Array1<f32> {
    // weights [T, T], ids [T] -> [6]
    let mut sums = [(0.0_f32, 0_usize); COUNT];
    for (t, row) in weights.outer_iter().enumerate() {
        if !(words.0..words.1).contains(&t) {
            continue;
        }
        let seen = if is_causal { t + 1 } else { row.len() };
        for (sum, found) in sums.iter_mut().zip(of_row(t, row, ids, words, seen)) {
            if let Some(weight) = found {
                *sum = (sum.0 + weight, sum.1 + 1);
            }
        }
    }
    let means = sums.iter().map(|&(sum, count)| sum / count.max(1) as f32);
    means.collect()
}

/// The numbers of one row; none where a pattern has no place in it.
fn of_row(
    t: usize,
    row: ArrayView1<'_, f32>,
    ids: &[usize],
    words: (usize, usize),
    seen: usize,
) -> [Option<f32>; COUNT] {
    let at = |s: usize| row.get(s).copied();
    let is_same = |s: &usize| ids.get(*s) == ids.get(t);
    let special = (0..row.len()).filter(|s| !(words.0..words.1).contains(s));
    let same = (0..row.len()).filter(is_same);
    let earlier = (words.0..t).filter(is_same);
    let is_repeated = earlier.clone().next().is_some();
    let even = || entropy(row.slice_axis(Axis(0), Slice::from(..seen))) / math::ln(seen as f32);
    [
        t.checked_sub(1).and_then(at),
        at(t + 1),
        Some(special.filter_map(at).sum()),
        Some(same.filter_map(at).sum()),
        is_repeated.then(|| earlier.filter_map(|s| at(s + 1)).sum()),
        (seen > 1).then(even),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, array};

    /// An even row has evenness 1, and its other scores count the tokens that fit.
    #[test]
    fn even_weights_are_even() {
        let ids = [7, 1, 2, 1, 8];
        let weights = Array2::from_elem((5, 5), 0.2_f32);
        let found = head_scores(weights.view(), &ids, (1, 4), false);
        let expected = [0.2, 0.2, 0.4, (0.4 + 0.2 + 0.4) / 3.0, 0.2, 1.0];
        for (a, b) in found.iter().zip(expected) {
            assert!((a - b).abs() < 1e-6, "{found}");
        }
    }

    /// The token that came after the same token before, in rows that have one.
    #[test]
    fn induction_looks_one_past_the_same_token() {
        let ids = [7, 1, 2, 1];
        let weights = array![
            [1.0, 0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, 0.9, 0.1]
        ];
        let found = head_scores(weights.view(), &ids, (1, 4), true);
        assert!((found[INDUCTION] - 0.9).abs() < 1e-6);
        assert!((found[SPECIAL] - 2.0 / 3.0).abs() < 1e-6);
        let none = head_scores(weights.view(), &[7, 1, 2, 3], (1, 4), true);
        assert_eq!(none[INDUCTION], 0.0);
    }
}
