//! The output of several heads as one product, and as the sum of what each head writes with its own
//! rows of W_O.

use ndarray::{Array2, Axis, Slice, arr2};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::parts::measure::{largest, row_differences};
use crate::parts::small_layer::{self, WIDTH};
use crate::spec::{CellSpec, Run};

/// The choices of a head that is switched off.
const OFF: &[&str] = &["none", "1", "2", "3", "4"];

/// The cell `output-slices`.
pub const SPEC: CellSpec = CellSpec {
    name: "output-slices",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    let mut all = small_layer::inputs();
    all.push(InputSpec::matrix(
        "w_o",
        "$W_O$: back to the features",
        (WIDTH, WIDTH),
        (WIDTH, WIDTH),
        arr2(&[
            [0.0, 1.0, 0.0, 0.5],
            [0.0, 0.0, 1.0, 0.0],
            [1.0, 0.0, 0.0, 0.0],
            [0.5, 0.0, 0.0, 1.0],
        ]),
    ));
    all.push(InputSpec::choice("off", "Head switched off", OFF));
    all
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let heads = small_layer::heads(inputs)?;
    let mut layer = small_layer::attended(&mut record, inputs)?;
    let w_o = inputs.matrix("w_o")?;
    let head_width = WIDTH / heads;
    // A head beyond the last cannot be switched off.
    let off = inputs.choice("off")?.parse::<usize>().ok();
    let off = off.filter(|&off| off <= heads);
    if let Some(off) = off {
        let head = off - 1;
        layer
            .attention
            .output
            .index_axis_mut(Axis(0), head)
            .fill(0.0);
        let columns = Slice::from(head * head_width..off * head_width);
        layer.joined.slice_axis_mut(Axis(1), columns).fill(0.0);
    }
    let outputs = &layer.attention.output;
    let whole = shown!(
        record,
        engine::nn::linear::project,
        layer.joined.view(),
        w_o.view()
    )?;
    let parts = shown!(
        record,
        explain::multi_head::parts,
        outputs.view(),
        w_o.view()
    )?;
    let sum: Array2<f32> = parts.sum_axis(Axis(0));
    let differences = row_differences(whole.view(), sum.view());
    let sizes = parts.axis_iter(Axis(0)).map(explain::stats::frobenius);
    let sizes = sizes.collect();
    record.tensor("joined", &layer.joined);
    record.tensor("whole", &whole);
    record.tensor("parts", &parts);
    record.tensor("sum", &sum);
    record.numbers("sizes", sizes);
    record.number("difference", largest(&differences));
    record.number("heads", heads as f64);
    record.number("head.width", head_width as f64);
    record.number("off", off.unwrap_or(0) as f64);
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;
    use crate::parts::test_models::choice;

    fn given(heads: &str, off: &str) -> Inputs {
        Inputs::defaults(&inputs())
            .with("heads", choice(heads))
            .with("off", choice(off))
    }

    /// The claim of the lesson, for the page's matrices and for random ones.
    #[test]
    fn the_sum_of_the_parts_is_the_whole() {
        for heads in ["1", "2", "4"] {
            for off in OFF {
                let c = compute(&given(heads, off)).unwrap();
                assert!(c.at("difference", &[]).unwrap() < 1e-6, "{heads} {off}");
                let mut random = given(heads, off);
                for name in ["x", "w_q", "w_k", "w_v", "w_o"] {
                    let rows = if name == "x" { 3 } else { WIDTH };
                    let drawn = engine::rng::normal_matrix(5, name, rows, WIDTH, 0.5);
                    random = random.with(name, InputValue::Matrix(drawn));
                }
                let c = compute(&random).unwrap();
                assert!(c.at("difference", &[]).unwrap() < 1e-6, "{heads} {off}");
            }
        }
    }

    /// A head that is switched off writes nothing, and the parts of the others stay as they are.
    #[test]
    fn a_head_that_is_off_takes_its_own_part_away() {
        let (all, without) = (compute(&given("2", "none")), compute(&given("2", "2")));
        let (all, without) = (all.unwrap(), without.unwrap());
        assert_eq!(without.at("sizes", &[1]), Some(0.0));
        assert_eq!(all.at("sizes", &[0]), without.at("sizes", &[0]));
        assert!(all.at("sizes", &[1]).unwrap() > 0.5);
        for (row, col) in [(0, 0), (1, 2), (2, 3)] {
            let left = all.at("whole", &[row, col]).unwrap();
            let part = all.at("parts", &[1, row, col]).unwrap();
            let right = without.at("whole", &[row, col]).unwrap();
            assert!((left - part - right).abs() < 1e-6);
        }
        // With two heads there is no third one to switch off.
        let none = compute(&given("2", "3")).unwrap();
        assert_eq!(none.tensor("whole"), all.tensor("whole"));
        assert_eq!(none.at("off", &[]), Some(0.0));
    }
}
