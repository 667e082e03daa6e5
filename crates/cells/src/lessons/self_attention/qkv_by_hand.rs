//! Self-attention from X to Y with every matrix small enough to follow by hand.

use engine::nn::attention::Mask;
use ndarray::{Array1, Array2};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::parts::small_layer::{matrices, square};
use crate::spec::{CellSpec, Run};

/// The cell `qkv-by-hand`.
pub const SPEC: CellSpec = CellSpec {
    name: "qkv-by-hand",
    inputs,
    run: Run::Now(compute),
};

/// The example is made by hand so that it can be read: the four features of a word are article,
/// thing, action, alive.
fn inputs() -> Vec<InputSpec> {
    let x = [
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.8],
        [0.0, 0.2, 1.0, 0.3],
    ];
    // Articles look for things; things for articles and actions; actions for things that are alive.
    let w_q = [
        [0.0, 2.0, 0.0, 0.0],
        [1.0, 0.0, 1.0, 0.0],
        [0.0, 1.5, 0.0, 1.5],
        [0.0, 0.0, 1.0, 0.0],
    ];
    let w_k = [
        [1.5, 0.0, 0.0, 0.0],
        [0.0, 1.5, 0.0, 0.5],
        [0.0, 0.0, 1.0, 0.0],
        [0.0, 0.5, 0.0, 2.0],
    ];
    let w_v = [
        [0.5, 0.0, 0.0, 0.1],
        [0.0, 1.0, 0.2, 0.0],
        [0.3, 0.0, 1.0, 0.0],
        [0.0, 0.4, 0.0, 1.0],
    ];
    let w_o = [
        [1.0, 0.0, 0.0, 0.5],
        [0.0, 1.0, 0.5, 0.0],
        [0.0, 0.5, 1.0, 0.0],
        [0.5, 0.0, 0.0, 1.0],
    ];
    let mut all = matrices(x, [w_q, w_k, w_v]);
    all.extend([
        square("w_o", "$W_O$: back to the width of $X$", w_o),
        InputSpec::toggle("with_output", "Multiply by $W_O$ at the end", false),
        InputSpec::entry("step", "Selected step of the walk", 3, Some(&[0, 2, 1])),
    ]);
    all
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let (x, w_q, w_k, w_v) = (
        inputs.matrix("x")?,
        inputs.matrix("w_q")?,
        inputs.matrix("w_k")?,
        inputs.matrix("w_v")?,
    );
    let mut record = Record::new();
    let mask = Mask::None;
    let layer = shown!(
        record,
        explain::one_head::self_attention,
        x.view(),
        w_q.view(),
        w_k.view(),
        w_v.view(),
        &mask
    )?;
    let scale = shown!(record, engine::nn::attention::scale, layer.q.ncols());
    softmax_steps(&mut record, &layer.attention.scores)?;
    let mut parameters = w_q.len() + w_k.len() + w_v.len();
    record.number("scale", f64::from(scale));
    record.tensor("q", &layer.q);
    record.tensor("k", &layer.k);
    record.tensor("v", &layer.v);
    record.tensor("scores", &layer.attention.scores);
    record.tensor("weights", &layer.attention.weights);
    record.tensor("output", &layer.attention.output);
    if inputs.toggle("with_output")? {
        let (output, w_o) = (layer.attention.output.view(), inputs.matrix("w_o")?);
        let y = shown!(record, engine::nn::linear::project, output, w_o.view())?;
        parameters += w_o.len();
        record.tensor("y", &y);
    }
    record.number("parameters", parameters as f64);
    Ok(record.finish())
}

/// The steps from scores to weights: each score less the largest of its row, its exponential, and
/// each row's total.
fn softmax_steps(record: &mut Record, scores: &Array2<f32>) -> Result<(), CellError> {
    let mut exponents = Array2::zeros(scores.dim());
    let mut exponentials = Array2::zeros(scores.dim());
    let mut totals = Array1::zeros(scores.nrows());
    for (i, row) in scores.rows().into_iter().enumerate() {
        let steps = shown!(record, explain::softmax_steps::safe, row, 1.0_f32)?;
        exponents.row_mut(i).assign(&steps.exponents);
        exponentials.row_mut(i).assign(&steps.exponentials);
        totals[i] = steps.total;
    }
    record.tensor("exponents", &exponents);
    record.tensor("exponentials", &exponentials);
    record.tensor("totals", &totals);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;
    use crate::parts::small_layer::{TOKENS, WIDTH};

    /// The curriculum's check.
    #[test]
    fn there_are_48_weights_and_64_with_the_output_matrix() {
        let given = Inputs::defaults(&inputs());
        let c = SPEC.compute(&given).unwrap();
        assert_eq!(c.at("parameters", &[]), Some(48.0));
        assert!(c.tensor("y").is_none());
        let c = SPEC
            .compute(&given.with("with_output", InputValue::Toggle(true)))
            .unwrap();
        assert_eq!(c.at("parameters", &[]), Some(64.0));
        assert_eq!(c.tensor("y").unwrap().shape(), [3, 4]);
    }

    /// The sums that the page writes out, done again here in f64, lead from X to the output.
    #[test]
    fn every_number_is_the_sum_that_is_written_under_it() {
        let given = Inputs::defaults(&inputs()).with("with_output", InputValue::Toggle(true));
        let c = SPEC.compute(&given).unwrap();
        let input = |name: &str, i: usize, j: usize| f64::from(given.matrix(name).unwrap()[[i, j]]);
        let at = |name: &str, i: usize, j: usize| c.at(name, &[i, j]).unwrap();
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-5, "{a} {b}");
        for i in 0..TOKENS {
            for j in 0..WIDTH {
                for (out, w) in [("q", "w_q"), ("k", "w_k"), ("v", "w_v")] {
                    let sum: f64 = (0..WIDTH).map(|k| input("x", i, k) * input(w, k, j)).sum();
                    near(at(out, i, j), sum);
                }
                let mix: f64 = (0..TOKENS)
                    .map(|k| at("weights", i, k) * at("v", k, j))
                    .sum();
                near(at("output", i, j), mix);
                let back: f64 = (0..WIDTH)
                    .map(|k| at("output", i, k) * input("w_o", k, j))
                    .sum();
                near(at("y", i, j), back);
            }
            for j in 0..TOKENS {
                let product: f64 = (0..WIDTH).map(|k| at("q", i, k) * at("k", j, k)).sum();
                near(at("scores", i, j), product * c.at("scale", &[]).unwrap());
                let share = at("exponentials", i, j) / c.at("totals", &[i]).unwrap();
                near(at("weights", i, j), share);
            }
        }
    }

    /// The prose's claim about the example: the article and the verb look at the cat most of all.
    #[test]
    fn the_and_sat_look_at_cat() {
        let c = SPEC.compute(&Inputs::defaults(&inputs())).unwrap();
        for row in [0, 2] {
            let weight = |j| c.at("weights", &[row, j]).unwrap();
            assert!(weight(1) > 0.5 && weight(1) > weight(0) && weight(1) > weight(2));
        }
    }
}
