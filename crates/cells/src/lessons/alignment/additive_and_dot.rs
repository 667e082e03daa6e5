//! One state asks four annotations in three ways: by a small network, by a dot product, and by a
//! scaled one.

use engine::nn::bahdanau::AdditiveAttention;
use engine::parameters::Weight;
use ndarray::{Array1, Array2, Axis, arr2, stack};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::spec::{CellSpec, Run};

/// Points of each curve against the size of the state.
const POINTS: usize = 33;

/// The largest factor that the state is stretched by.
const LARGEST: f64 = 8.0;

/// The kinds of score, in the order of the rows of `scores` and `weights`.
const KINDS: [&str; 3] = ["additive", "dot", "scaled dot"];

/// The cell `additive-and-dot`.
pub const SPEC: CellSpec = CellSpec {
    name: "additive-and-dot",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    let square = |name, label, matrix| InputSpec::matrix(name, label, (2, 2), (2, 2), matrix);
    vec![
        InputSpec::matrix("s", "State $s$", (1, 1), (2, 2), arr2(&[[1.0, 0.5]])),
        InputSpec::matrix(
            "h",
            "Annotations $h$",
            (4, 4),
            (2, 2),
            arr2(&[[0.2, 0.1], [0.9, 0.8], [0.4, -0.6], [-0.7, 0.3]]),
        ),
        square("w", "W", arr2(&[[0.8, -0.4], [0.3, 0.9]])),
        square("u", "U", arr2(&[[1.0, 0.2], [-0.1, 1.1]])),
        InputSpec::matrix("v", "v", (2, 2), (1, 1), arr2(&[[1.2], [0.9]])),
        InputSpec::number(
            "stretch",
            "Multiply the state by",
            (0.0, LARGEST, 0.25),
            1.0,
        ),
        InputSpec::entry("step", "Selected step of the walk", 3, Some(&[0, 0, 0])),
    ]
}

/// The scoring network with the matrices of the inputs, multiplied as in the paper of 2017: x · W.
fn network(inputs: &Inputs) -> Result<AdditiveAttention, CellError> {
    let weight = |name: &str| -> Result<Weight, CellError> {
        let matrix = inputs.matrix(name)?.t();
        Ok(Weight::Dense(matrix.as_standard_layout().into_owned()))
    };
    Ok(AdditiveAttention {
        query: weight("w")?,
        key: weight("u")?,
        score: inputs.matrix("v")?.column(0).to_owned(),
    })
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let (s, h) = (inputs.matrix("s")?, inputs.matrix("h")?);
    let attention = network(inputs)?;
    let mut record = Record::new();
    let stretch = inputs.number("stretch")? as f32;
    let state = s * stretch;
    let w = inputs.matrix("w")?;
    let query = shown!(record, engine::nn::linear::project, state.view(), w.view())?;
    let keys = shown!(
        record,
        engine::nn::bahdanau::AdditiveAttention::keys,
        &attention,
        h.view()
    )?;
    let inner = shown!(
        record,
        engine::nn::bahdanau::AdditiveAttention::inner,
        &attention,
        state.row(0),
        keys.view()
    )?;
    let scale = shown!(record, engine::nn::attention::scale, h.ncols());
    let additive = shown!(
        record,
        engine::nn::linear::project,
        inner.view(),
        inputs.matrix("v")?.view()
    )?;
    let dot = shown!(
        record,
        engine::nn::attention::scores,
        h.view(),
        state.view(),
        1.0_f32
    )?;
    let scaled = shown!(
        record,
        engine::nn::attention::scores,
        h.view(),
        state.view(),
        scale
    )?;
    record.tensor("state", &state);
    record.tensor("query", &query);
    record.tensor("keys", &keys);
    record.tensor("inner", &inner);
    record.number("scale", f64::from(scale));
    record.number("one", 1.0);
    let columns = [additive.column(0), dot.column(0), scaled.column(0)];
    let scores = stack(Axis(0), &columns).map_err(|e| CellError::Mismatch(e.to_string()))?;
    let weights = shown!(record, engine::nn::softmax::softmax_rows, scores.view());
    let context = shown!(
        record,
        engine::nn::attention::mix_values,
        weights.view(),
        h.view()
    )?;
    record.tensor("additive", &additive);
    record.tensor("dot", &dot);
    record.tensor("scaled", &scaled);
    record.tensor("scores", &scores);
    record.tensor("weights", &weights);
    record.tensor("context", &context);
    record.words("kind", KINDS.map(String::from).into());
    record.words("source", (1..=h.nrows()).map(|j| format!("h{j}")).collect());
    curves(&mut record, inputs, &attention, scale)?;
    Ok(record.finish())
}

/// The highest score of each kind, and its weight, against the factor that the state is stretched
/// by.
fn curves(
    record: &mut Record,
    inputs: &Inputs,
    attention: &AdditiveAttention,
    scale: f32,
) -> Result<(), CellError> {
    let (s, h) = (inputs.matrix("s")?, inputs.matrix("h")?);
    let keys = attention.keys(h.view())?;
    let mut stretches = Vec::new();
    let mut highest = Array2::zeros((KINDS.len(), POINTS));
    let mut largest = Array2::zeros((KINDS.len(), POINTS));
    for point in 0..POINTS {
        let stretch = LARGEST as f32 * point as f32 / (POINTS - 1) as f32;
        let state = s * stretch;
        let found = attention.attend(state.row(0), keys.view(), h.view(), &mut None)?;
        let dots = |scale| -> Result<Array1<f32>, CellError> {
            let scores = engine::nn::attention::scores(state.view(), h.view(), scale)?;
            Ok(scores.row(0).to_owned())
        };
        for (kind, scores) in [found.scores, dots(1.0)?, dots(scale)?].iter().enumerate() {
            let weights = engine::nn::softmax::softmax(scores.view());
            let most = |row: &Array1<f32>| row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            highest[[kind, point]] = most(scores);
            largest[[kind, point]] = most(&weights);
        }
        stretches.push(f64::from(stretch));
    }
    record.numbers("curve.stretch", stretches);
    record.tensor("curve.score", &highest);
    record.tensor("curve.weight", &largest);
    // What no additive score can pass: each tanh is at most 1.
    let bound: f32 = attention.score.iter().map(|v| v.abs()).sum();
    record.number("bound", f64::from(bound));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;

    fn stretched(by: f64) -> Computation {
        let given = Inputs::defaults(&inputs()).with("stretch", InputValue::Number(by));
        SPEC.compute(&given).unwrap()
    }

    /// Step by step is what the model's own attention computes at once.
    #[test]
    fn the_additive_scores_are_those_of_the_layer() {
        let given = Inputs::defaults(&inputs());
        let attention = network(&given).unwrap();
        let (s, h) = (given.matrix("s").unwrap(), given.matrix("h").unwrap());
        let keys = attention.keys(h.view()).unwrap();
        let found = attention
            .attend(s.row(0), keys.view(), h.view(), &mut None)
            .unwrap();
        let c = SPEC.compute(&given).unwrap();
        for j in 0..4 {
            let at = |name, i| c.at(name, &[i, j]).unwrap();
            assert!((at("scores", 0) - f64::from(found.scores[j])).abs() < 1e-6);
            assert!((at("weights", 0) - f64::from(found.weights[j])).abs() < 1e-6);
            let sum = (0..2)
                .map(|k| f64::from(s[[0, k]] * h[[j, k]]))
                .sum::<f64>();
            assert!((at("scores", 1) - sum).abs() < 1e-6);
            assert!((at("scores", 2) - sum / 2f64.sqrt()).abs() < 1e-6);
        }
        assert!((c.at("query", &[0, 0]).unwrap() - 0.95).abs() < 1e-6);
    }

    /// A state eight times as long has dot products eight times as large; the additive scores stay
    /// within their bound.
    #[test]
    fn dot_products_grow_and_additive_scores_do_not() {
        let (one, eight) = (stretched(1.0), stretched(8.0));
        let bound = eight.at("bound", &[]).unwrap();
        assert!((bound - 2.1).abs() < 1e-6);
        for j in 0..4 {
            let dot = |c: &Computation| c.at("scores", &[1, j]).unwrap();
            assert!((dot(&eight) - 8.0 * dot(&one)).abs() < 1e-5);
            assert!(eight.at("scores", &[0, j]).unwrap().abs() <= bound);
        }
        for point in 0..POINTS {
            assert!(eight.at("curve.score", &[0, point]).unwrap() <= bound + 1e-6);
        }
        let last = eight.at("curve.score", &[1, POINTS - 1]).unwrap();
        assert!(last > 3.0 * bound, "{last}");
    }

    /// Nobody asks: dot products are all zero and every word gets the same, while the network still
    /// has an opinion of the annotations.
    #[test]
    fn a_state_of_zeros_leaves_only_the_additive_scores() {
        let c = stretched(0.0);
        for j in 0..4 {
            assert_eq!(c.at("weights", &[1, j]), Some(0.25));
        }
        assert!((c.at("weights", &[0, 0]).unwrap() - 0.25).abs() > 0.01);
    }
}
