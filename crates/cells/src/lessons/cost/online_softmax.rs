//! Attention of one query, its scores read one by one: what is kept after each, beside the whole row
//! at once, and what both ways hold.

use engine::rng::normal_matrix;
use ndarray::{Array2, arr2};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::parts::measure::largest;
use crate::spec::{CellSpec, Run};

/// Scores of the row.
pub const COUNT: usize = 6;

/// Tokens and head dimension of the long row that is computed both ways.
const LONG: (usize, usize) = (4_096, 64);

/// The cell `online-softmax`.
pub const SPEC: CellSpec = CellSpec {
    name: "online-softmax",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    let scores = arr2(&[[1.0, 0.5, 3.0, 2.0, 4.0, 1.5]]);
    let values = arr2(&[
        [1.0, 0.0],
        [0.0, 1.0],
        [-1.0, 0.5],
        [0.5, -1.0],
        [0.8, 0.9],
        [-0.6, -0.7],
    ]);
    vec![
        InputSpec::matrix("scores", "Scores", (1, 1), (COUNT, COUNT), scores),
        InputSpec::matrix("values", "Values", (COUNT, COUNT), (2, 2), values),
        InputSpec::number("read", "Scores read", (1.0, COUNT as f64, 1.0), 3.0),
        InputSpec::number(
            "tokens",
            "Tokens in the text",
            (16.0, 131_072.0, 16.0),
            4_096.0,
        ),
    ]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let (scores, values) = (inputs.matrix("scores")?, inputs.matrix("values")?);
    let (read, tokens) = (inputs.count("read")?, inputs.count("tokens")?);
    let row = scores.row(0);
    let mut record = Record::new();
    let mut kept = explain::online_softmax::Online::start(values.ncols());
    let mut outputs = Array2::zeros(values.dim());
    let mut columns: [Vec<f64>; 4] = Default::default();
    for (n, (&score, value)) in row.iter().zip(values.rows()).enumerate() {
        kept = shown!(record, explain::online_softmax::absorb, &kept, score, value)?;
        outputs.row_mut(n).assign(&kept.output());
        for (column, number) in
            columns
                .iter_mut()
                .zip([kept.maximum, kept.factor, kept.term, kept.sum])
        {
            column.push(f64::from(number));
        }
    }
    let [maximum, factor, term, sum] = columns;
    record.numbers("maximum", maximum);
    record.numbers("factor", factor);
    record.numbers("term", term);
    record.numbers("sum", sum);
    record.tensor("outputs", &outputs);
    record.tensor("output", &kept.output());
    let weights = shown!(record, engine::nn::softmax::softmax, row);
    let dense = weights.dot(values);
    record.tensor("weights", &weights);
    record.tensor("dense", &dense);
    record.number("difference", difference(&dense, &kept.output()));
    record.number("read", read as f64);
    record.number("tokens", tokens as f64);
    long(&mut record)?;
    held(&mut record, tokens);
    Ok(record.finish())
}

/// The largest difference of two vectors.
fn difference(a: &ndarray::Array1<f32>, b: &ndarray::Array1<f32>) -> f64 {
    let all: Vec<f64> = (a - b).iter().map(|d| f64::from(d.abs())).collect();
    largest(&all)
}

/// The same for a long row of random scores and values.
fn long(record: &mut Record) -> Result<(), CellError> {
    let (tokens, d) = LONG;
    let scores = normal_matrix(17, "scores", 1, tokens, 2.0);
    let values = normal_matrix(17, "values", tokens, d, 1.0);
    let row = scores.row(0);
    let mut kept = explain::online_softmax::Online::start(d);
    let mut rescaled = 0;
    for (&score, value) in row.iter().zip(values.rows()) {
        kept = explain::online_softmax::absorb(&kept, score, value)?;
        rescaled += usize::from(kept.factor < 1.0);
    }
    let dense = engine::nn::softmax::softmax(row).dot(&values);
    record.number("long.tokens", tokens as f64);
    record.number("long.d", d as f64);
    record.number("long.rescaled", rescaled as f64);
    record.number("long.difference", difference(&dense, &kept.output()));
    Ok(())
}

/// The numbers that a head of dimension 64 holds at once: for all queries, for one, and online.
fn held(record: &mut Record, tokens: usize) {
    let d = LONG.1;
    let all = shown!(record, explain::cost::score_count, tokens);
    let row = shown!(record, explain::cost::held_by_rows, tokens, d);
    let online = shown!(record, explain::cost::held_online, d);
    record.number("held.matrix", all as f64);
    record.number("held.row", row as f64);
    record.number("held.online", online as f64);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;

    fn default() -> Computation {
        SPEC.compute(&Inputs::defaults(&inputs())).unwrap()
    }

    fn number(c: &Computation, name: &str) -> f64 {
        c.at(name, &[]).unwrap()
    }

    /// The curriculum's check: equal to the dense row below 1e-6.
    #[test]
    fn one_by_one_is_the_whole_row() {
        let c = default();
        assert!(number(&c, "difference") < 1e-6);
        assert!(number(&c, "long.difference") < 1e-6);
        for seed in 0..50 {
            let given = Inputs::defaults(&inputs())
                .with(
                    "scores",
                    InputValue::Matrix(normal_matrix(seed, "s", 1, COUNT, 5.0)),
                )
                .with(
                    "values",
                    InputValue::Matrix(normal_matrix(seed, "v", COUNT, 2, 1.0)),
                );
            let c = SPEC.compute(&given).unwrap();
            assert!(number(&c, "difference") < 1e-6);
        }
    }

    /// What the lesson says: the third and the fifth score are new largest ones, and shrink what came
    /// before; the others change nothing that is kept.
    #[test]
    fn only_a_new_largest_score_rescales() {
        let c = default();
        let factor: Vec<f64> = c.tensor("factor").unwrap().values.iter().copied().collect();
        assert_eq!(factor[0], 0.0);
        assert_eq!([factor[1], factor[3], factor[5]], [1.0; 3]);
        assert!((factor[2] - (-2.0_f64).exp()).abs() < 1e-6);
        assert!((factor[4] - (-1.0_f64).exp()).abs() < 1e-6);
        assert_eq!(c.at("maximum", &[5]), Some(4.0));
    }

    /// The first output is the first value, and the last the dense one.
    #[test]
    fn the_output_walks_from_the_first_value_to_the_dense_one() {
        let c = default();
        assert_eq!(c.at("outputs", &[0, 0]), Some(1.0));
        assert_eq!(c.at("outputs", &[0, 1]), Some(0.0));
        for n in 0..2 {
            assert_eq!(c.at("outputs", &[COUNT - 1, n]), c.at("output", &[n]));
        }
    }

    /// What the lesson says of 4,096 tokens.
    #[test]
    fn sixty_six_numbers_do_for_sixteen_million() {
        let c = default();
        assert_eq!(number(&c, "held.matrix"), 16_777_216.0);
        assert_eq!(number(&c, "held.row"), 4_160.0);
        assert_eq!(number(&c, "held.online"), 66.0);
        assert!(number(&c, "long.rescaled") < 20.0, "few scores are records");
    }
}
