//! The matrix that moves every sinusoidal position vector by the same number of places.

use ndarray::Axis;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::parts::measure::{even, largest, row_differences};
use crate::spec::{CellSpec, Run};

/// The cell `shift-is-linear`.
pub const SPEC: CellSpec = CellSpec {
    name: "shift-is-linear",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::number("shift", "Shift $k$", (-100.0, 100.0, 1.0), 3.0),
        InputSpec::number("width", "Dimensions $d$", (2.0, 24.0, 2.0), 8.0),
        InputSpec::number("position", "Position $p$", (0.0, 255.0, 1.0), 5.0),
        InputSpec::number("length", "Positions to try", (1.0, 256.0, 1.0), 64.0),
        InputSpec::entry("selected", "Selected row of the product", 2, Some(&[0, 0])),
    ]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let (length, width) = (
        inputs.count("length")?,
        even(inputs, "width", "Dimensions d")?,
    );
    let (shift, position) = (
        inputs.number("shift")? as f32,
        inputs.count("position")? as f32,
    );
    let goal = position + shift;
    let mut record = Record::new();
    let matrix = shown!(
        record,
        engine::nn::position::sinusoidal::shift_matrix,
        shift,
        width
    )?;
    let here = shown!(
        record,
        engine::nn::position::sinusoidal::encode,
        position,
        width
    );
    let here = here.insert_axis(Axis(1));
    let moved = shown!(
        record,
        engine::nn::linear::project,
        matrix.view(),
        here.view()
    )?;
    let target = shown!(
        record,
        engine::nn::position::sinusoidal::encode,
        goal,
        width
    );
    let places: Vec<f32> = (0..length).map(|p| p as f32).collect();
    let goals: Vec<f32> = places.iter().map(|p| p + shift).collect();
    let starts = shown!(
        record,
        engine::nn::position::sinusoidal::encode_all,
        &places[..],
        width
    );
    let all_moved = shown!(
        record,
        engine::nn::linear::project,
        starts.view(),
        matrix.t()
    )?;
    let all_goals = shown!(
        record,
        engine::nn::position::sinusoidal::encode_all,
        &goals[..],
        width
    );
    let errors = row_differences(all_moved.view(), all_goals.view());
    record.tensor("matrix", &matrix);
    record.tensor("here", &here);
    record.tensor("moved", &moved);
    record.tensor("target", &target.insert_axis(Axis(1)));
    record.number("goal", f64::from(goal));
    record.number("largest", largest(&errors));
    record.numbers("errors", errors);
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;

    /// The curriculum's check: below 1e-5 for all places, here over many shifts and widths.
    #[test]
    fn one_matrix_moves_every_place() {
        for width in [2.0, 8.0, 24.0] {
            for shift in [-100.0, -3.0, 0.0, 1.0, 3.0, 37.0, 100.0] {
                let given = Inputs::defaults(&inputs())
                    .with("width", InputValue::Number(width))
                    .with("shift", InputValue::Number(shift))
                    .with("length", InputValue::Number(256.0));
                let c = SPEC.compute(&given).unwrap();
                assert_eq!(c.tensor("errors").unwrap().shape(), [256]);
                let worst = c.at("largest", &[]).unwrap();
                assert!(worst < 1e-5, "width {width}, shift {shift}: {worst}");
            }
        }
    }

    #[test]
    fn the_matrix_is_pairs_of_rotations() {
        let c = SPEC.compute(&Inputs::defaults(&inputs())).unwrap();
        assert!((c.at("matrix", &[0, 0]).unwrap() - 3.0_f64.cos()).abs() < 1e-6);
        assert!((c.at("matrix", &[0, 1]).unwrap() - 3.0_f64.sin()).abs() < 1e-6);
        assert_eq!(c.at("matrix", &[0, 2]), Some(0.0));
        for i in 0..8 {
            let (moved, target) = (
                c.at("moved", &[i, 0]).unwrap(),
                c.at("target", &[i, 0]).unwrap(),
            );
            assert!((moved - target).abs() < 1e-6);
        }
    }
}
