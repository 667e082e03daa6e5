//! One query and a few keys: weights by dot products, as in Swin, and by cosines with a temperature, as in
//! Swin V2, while the vectors grow; and the coordinates from which Swin V2 computes its bias.

use engine::nn::attention::{Mask, Scoring};
use ndarray::{Array1, Array2, ArrayView2, Axis, arr2};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::spec::{CellSpec, Run};

/// The smallest temperature.
const SMALLEST: f64 = 0.01;

/// Side of the windows that a bias was trained on, and of larger ones.
const TRAINED: usize = 8;
const LARGER: usize = 16;

/// The cell `cosine-scores`.
pub const SPEC: CellSpec = CellSpec {
    name: "cosine-scores",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    let q = arr2(&[[1.0, 0.4]]);
    let k = arr2(&[[0.9, 0.1], [0.8, 0.9], [0.2, 1.0], [-0.7, 0.3]]);
    vec![
        InputSpec::matrix("q", "Query $q$", (1, 1), (2, 2), q),
        InputSpec::matrix("k", "Keys $k$", (2, 6), (2, 2), k),
        InputSpec::number("length", "Length of the vectors", (1.0, 30.0, 0.5), 1.0),
        InputSpec::number("tau", "Temperature $\u{3c4}$", (0.001, 1.0, 0.001), 0.1),
    ]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let (length, tau) = (inputs.number("length")? as f32, inputs.number("tau")?);
    let (q, k) = (inputs.matrix("q")? * length, inputs.matrix("k")? * length);
    if q.iter().all(|&x| x == 0.0) {
        let message = "a query of zeros points nowhere: give it a number other than 0";
        return Err(CellError::input("q", "Query q", message));
    }
    let used = tau.max(SMALLEST);
    let factor = (1.0 / used) as f32;
    let mut record = Record::new();
    let dot = Scoring::Dot(engine::nn::attention::scale(q.ncols()));
    attended(&mut record, "dot", [q.view(), k.view()], &dot)?;
    let cosine = Scoring::Cosine(Array1::from_elem(1, factor));
    attended(&mut record, "cosine", [q.view(), k.view()], &cosine)?;
    record.number("tau", used);
    record.number("factor", f64::from(factor));
    coordinates(&mut record);
    Ok(record.finish())
}

/// The scores and weights of the query, and the largest weight.
fn attended(
    record: &mut Record,
    name: &str,
    [q, k]: [ArrayView2<'_, f32>; 2],
    scoring: &Scoring,
) -> Result<(), CellError> {
    let (q, k) = (q.insert_axis(Axis(0)), k.insert_axis(Axis(0)));
    let observer = &mut None::<&mut dyn engine::trace::Observer>;
    // The keys are values too: only the weights are shown.
    let found = shown!(
        record,
        engine::nn::attention::attend,
        q,
        k,
        k,
        scoring,
        &Mask::None,
        observer
    )?;
    let of = |all: &ndarray::Array3<f32>| all.index_axis(Axis(0), 0).to_owned();
    let weights: Array2<f32> = of(&found.weights);
    let largest = weights.iter().fold(0.0, |most: f32, &w| most.max(w));
    record.tensor(&format!("{name}.scores"), &of(&found.scores));
    record.tensor(&format!("{name}.weights"), &weights);
    record.number(&format!("{name}.largest"), f64::from(largest));
    Ok(())
}

/// Distances of 0 to 15 patches as the network of the bias receives them: as they are, divided by the
/// largest of the trained window, and as logarithms.
fn coordinates(record: &mut Record) {
    let distances: Vec<f64> = (0..LARGER).map(|n| n as f64).collect();
    let linear = distances.iter().map(|d| d / (TRAINED - 1) as f64).collect();
    let mut logs = Vec::new();
    for n in 0..LARGER as isize {
        logs.push(f64::from(shown!(
            record,
            engine::nn::cosine_attention::log_distance,
            n,
            TRAINED
        )));
    }
    record.numbers("distance", distances);
    record.numbers("linear", linear);
    record.numbers("log", logs);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::number;

    fn at(length: f64, tau: f64) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("length", number(length))
            .with("tau", number(tau));
        SPEC.compute(&given).unwrap()
    }

    fn all(c: &Computation, name: &str) -> Vec<f64> {
        c.tensor(name).unwrap().values.iter().copied().collect()
    }

    /// What the lesson says: longer vectors leave the cosines alone and drive the dot products to one key.
    #[test]
    fn length_moves_dot_products_only() {
        let (short, long) = (at(1.0, 0.1), at(30.0, 0.1));
        for (a, b) in all(&short, "cosine.weights")
            .iter()
            .zip(all(&long, "cosine.weights"))
        {
            assert!((a - b).abs() < 1e-5);
        }
        assert!(short.at("dot.largest", &[]).unwrap() < 0.4);
        assert!(long.at("dot.largest", &[]).unwrap() > 0.99);
        let (a, b) = (all(&short, "dot.scores"), all(&long, "dot.scores"));
        assert!(a.iter().zip(b).all(|(a, b)| (a * 900.0 - b).abs() < 1e-3));
    }

    /// The key that wins by dot product, because it is long, is not the one at the smallest angle.
    #[test]
    fn the_two_scores_prefer_different_keys() {
        let c = at(1.0, 0.1);
        let best = |name: &str| {
            let all = all(&c, name);
            (0..all.len())
                .max_by(|&a, &b| all[a].total_cmp(&all[b]))
                .unwrap()
        };
        assert_eq!((best("dot.scores"), best("cosine.scores")), (1, 0));
    }

    /// A temperature below 0.01 counts as 0.01, and no score is above 100.
    #[test]
    fn the_temperature_has_a_floor() {
        let (floor, below) = (at(1.0, 0.01), at(1.0, 0.001));
        assert_eq!(all(&floor, "cosine.scores"), all(&below, "cosine.scores"));
        assert_eq!(below.at("factor", &[]), Some(100.0));
        assert!(
            all(&below, "cosine.scores")
                .iter()
                .all(|s| s.abs() <= 100.001)
        );
    }

    /// Section 3.3 of Swin V2: from windows of 8 to 16 the coordinates go 1.14 times the trained range
    /// further as they are, and 0.33 times as logarithms.
    #[test]
    fn logarithms_go_less_far_beyond_the_trained_range() {
        let c = at(1.0, 0.1);
        let beyond = |name: &str| (all(&c, name)[15] - all(&c, name)[7]) / all(&c, name)[7];
        assert!((beyond("linear") - 8.0 / 7.0).abs() < 1e-9);
        assert!((beyond("log") - 0.333).abs() < 0.02, "{}", beyond("log"));
    }

    #[test]
    fn a_query_of_zeros_gets_a_message() {
        let zeros = crate::input::InputValue::Matrix(Array2::zeros((1, 2)));
        let given = Inputs::defaults(&inputs()).with("q", zeros);
        assert!(matches!(SPEC.compute(&given), Err(CellError::Input { .. })));
    }
}
