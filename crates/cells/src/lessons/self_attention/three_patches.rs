//! Attention among three image patches with two-wide queries and keys: small enough for pencil and
//! paper.

use engine::nn::attention::{Mask, Scoring};
use engine::trace::Observer;
use explain::one_head::OneHead;
use ndarray::{Array1, Array2, Axis, arr2};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::spec::{CellSpec, Run};

/// The cell `three-patches`.
pub const SPEC: CellSpec = CellSpec {
    name: "three-patches",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    let side = (3, 3);
    vec![
        InputSpec::matrix(
            "q",
            "Queries",
            side,
            (2, 2),
            arr2(&[[1.0, 0.0], [0.8, 0.2], [0.0, 1.0]]),
        ),
        InputSpec::matrix(
            "k",
            "Keys",
            side,
            (2, 2),
            arr2(&[[1.0, 0.0], [0.9, 0.1], [0.1, 0.9]]),
        ),
        InputSpec::matrix(
            "v",
            "Values",
            side,
            (2, 2),
            arr2(&[[0.9, 0.1], [0.7, 0.3], [0.2, 0.8]]),
        ),
        InputSpec::entry("step", "Selected step of the walk", 3, Some(&[0, 0, 0])),
    ]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let (q, k, v) = (
        inputs.matrix("q")?,
        inputs.matrix("k")?,
        inputs.matrix("v")?,
    );
    let mut record = Record::new();
    let scale = shown!(record, engine::nn::attention::scale, q.ncols());
    let (scoring, mask) = (Scoring::Dot(scale), Mask::None);
    let mut nobody: Option<&mut dyn Observer> = None;
    // The function takes all heads at once; here there is one.
    let [one_q, one_k, one_v] = [&q, &k, &v].map(|x| x.view().insert_axis(Axis(0)));
    let attention = shown!(
        record,
        engine::nn::attention::attend,
        one_q,
        one_k,
        one_v,
        &scoring,
        &mask,
        &mut nobody
    )?;
    let attention = OneHead::of(&attention, 0);
    // The steps from scores to weights: each score less the largest of its row, its exponential,
    // each row's total.
    let mut exponents = Array2::zeros(attention.scores.dim());
    let mut exponentials = Array2::zeros(attention.scores.dim());
    let mut totals = Array1::zeros(attention.scores.nrows());
    for (i, row) in attention.scores.rows().into_iter().enumerate() {
        let steps = shown!(record, explain::softmax_steps::safe, row, 1.0_f32)?;
        exponents.row_mut(i).assign(&steps.exponents);
        exponentials.row_mut(i).assign(&steps.exponentials);
        totals[i] = steps.total;
    }
    record.number("scale", f64::from(scale));
    record.tensor("exponents", &exponents);
    record.tensor("exponentials", &exponentials);
    record.tensor("totals", &totals);
    record.tensor("scores", &attention.scores);
    record.tensor("weights", &attention.weights);
    record.tensor("output", &attention.output);
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The worked example of the curriculum: a widely read text prints 0.21 for the last weight.
    #[test]
    fn patch_one_has_the_published_scores_and_the_true_weights() {
        let c = SPEC.compute(&Inputs::defaults(&inputs())).unwrap();
        for (j, (score, weight)) in [(0.707, 0.406), (0.636, 0.379), (0.071, 0.215)]
            .into_iter()
            .enumerate()
        {
            assert!((c.at("scores", &[0, j]).unwrap() - score).abs() < 5e-4);
            assert!((c.at("weights", &[0, j]).unwrap() - weight).abs() < 5e-4);
        }
        assert_eq!(c.calls.len(), 5);
        assert_eq!(c.calls[1].path, "engine::nn::attention::attend");
    }

    /// How far a point is outside the triangle (or line, or point) of some values: the most that it
    /// exceeds them along any side or across it. 0 inside.
    fn outside(values: &Array2<f32>, point: [f64; 2]) -> f64 {
        let corner = |i: usize| [0, 1].map(|j| f64::from(values[[i, j]]));
        let along = |p: [f64; 2], d: [f64; 2]| p[0] * d[0] + p[1] * d[1];
        let mut directions = vec![[1.0, 0.0], [0.0, 1.0]];
        for (a, b) in [(0, 1), (1, 2), (2, 0)] {
            let [a, b] = [a, b].map(corner);
            let (x, y) = (b[0] - a[0], b[1] - a[1]);
            let length = x.hypot(y);
            if length > 1e-3 {
                directions.extend([[x / length, y / length], [-y / length, x / length]]);
            }
        }
        let both = directions.iter().flat_map(|&[x, y]| [[x, y], [-x, -y]]);
        let beyond = both.map(|d| {
            let farthest = (0..3).map(|i| along(corner(i), d));
            along(point, d) - farthest.fold(f64::NEG_INFINITY, f64::max)
        });
        beyond.fold(0.0, f64::max)
    }

    /// Attention can only mix: for two thousand random inputs, with short and long queries, no
    /// output is outside the triangle of the values.
    #[test]
    fn no_output_leaves_the_triangle_of_the_values() {
        let square = arr2(&[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]);
        assert!((outside(&square, [0.6, 0.6]) - 0.2 / 2.0_f64.sqrt()).abs() < 1e-9);
        assert_eq!(outside(&square, [0.3, 0.3]), 0.0);
        for seed in 0..2_000 {
            let drawn = |name, std| {
                let drawn = engine::rng::normal_matrix(seed, name, 3, 2, std);
                crate::input::InputValue::Matrix(drawn)
            };
            // From nearly equal weights to nearly one.
            let length = [0.1, 1.0, 10.0, 100.0][seed as usize % 4];
            let given = Inputs::defaults(&inputs())
                .with("q", drawn("q", length))
                .with("k", drawn("k", 1.0))
                .with("v", drawn("v", 0.3));
            let values = given.matrix("v").unwrap();
            let c = SPEC.compute(&given).unwrap();
            for row in 0..3 {
                let point = [0, 1].map(|column| c.at("output", &[row, column]).unwrap());
                let by = outside(values, point);
                assert!(by < 1e-6, "seed {seed}, patch {row}: {by} outside");
            }
        }
    }
}
