//! The table of sinusoidal position vectors, with one row and one column taken out of it.

use ndarray::{Axis, Slice};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::parts::measure::even;
use crate::spec::{CellSpec, Run};

/// Points of the curve through a column for each place: fast waves turn more than once between two
/// places.
const BETWEEN: usize = 4;

/// The cell `sinusoid-map`.
pub const SPEC: CellSpec = CellSpec {
    name: "sinusoid-map",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::number("length", "Positions", (1.0, 256.0, 1.0), 64.0),
        InputSpec::number("width", "Dimensions $d$", (2.0, 128.0, 2.0), 64.0),
        InputSpec::number("position", "Position $p$", (0.0, 255.0, 1.0), 5.0),
        InputSpec::number("dimension", "Dimension", (0.0, 127.0, 1.0), 0.0),
    ]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let (length, width) = (
        inputs.count("length")?,
        even(inputs, "width", "Dimensions d")?,
    );
    // The vector of a place exists whether the map is long enough to show it or not; a dimension
    // does not.
    let position = inputs.count("position")? as f32;
    let dimension = inputs.count("dimension")?.min(width - 1);
    let mut record = Record::new();
    let table = shown!(
        record,
        engine::nn::position::sinusoidal::table,
        length,
        width
    );
    let row = shown!(
        record,
        engine::nn::position::sinusoidal::encode,
        position,
        width
    );
    let omega: Vec<f32> = (0..width / 2)
        .map(|i| engine::nn::position::sinusoidal::frequency(i, width))
        .collect();
    let angles = shown!(record, explain::angle::angles, &[position][..], &omega[..]);
    let wavelengths = shown!(record, explain::angle::wavelengths, &omega[..]);
    record.tensor("encoding", &table);
    record.tensor("row", &row);
    for (name, phase) in [("row.sin", 0), ("row.cos", 1)] {
        record.tensor(name, &row.slice_axis(Axis(0), Slice::new(phase, None, 2)));
    }
    record.tensor("column", &table.column(dimension));
    curve(&mut record, length, dimension, omega[dimension / 2]);
    record.tensor("frequencies", &ndarray::aview1(&omega));
    record.tensor("angles", &angles.row(0));
    record.tensor("wavelengths", &wavelengths);
    record.number("dimension", dimension as f64);
    Ok(record.finish())
}

/// The wave of a dimension at the places and between them.
fn curve(record: &mut Record, length: usize, dimension: usize, omega: f32) {
    let points = length.saturating_sub(1) * BETWEEN + 1;
    let places: Vec<f32> = (0..points).map(|i| i as f32 / BETWEEN as f32).collect();
    let angles = shown!(record, explain::angle::angles, &places[..], &[omega][..]);
    let wave = if dimension.is_multiple_of(2) {
        engine::math::sin
    } else {
        engine::math::cos
    };
    record.tensor("curve", &angles.column(0).mapv(wave));
    record.tensor("curve.places", &ndarray::aview1(&places));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;

    fn given(length: f64, width: f64, position: f64) -> Inputs {
        Inputs::defaults(&inputs())
            .with("length", InputValue::Number(length))
            .with("width", InputValue::Number(width))
            .with("position", InputValue::Number(position))
    }

    /// The curriculum's check: d = 4, PE(5) = [-0.96, 0.28, 0.05, 1.00].
    #[test]
    fn the_fifth_place_four_wide_is_the_worked_example() {
        let c = SPEC.compute(&given(8.0, 4.0, 5.0)).unwrap();
        for (i, expected) in [-0.96, 0.28, 0.05, 1.00].into_iter().enumerate() {
            let row = c.at("row", &[i]).unwrap();
            assert!((row - expected).abs() < 5e-3, "{i}: {row}");
            assert_eq!(c.at("encoding", &[5, i]), Some(row));
        }
        assert!((c.at("angles", &[1]).unwrap() - 0.05).abs() < 1e-6);
    }

    #[test]
    fn the_curve_runs_through_the_column() {
        for dimension in [0.0, 3.0] {
            let c = SPEC
                .compute(&given(8.0, 4.0, 5.0).with("dimension", InputValue::Number(dimension)))
                .unwrap();
            assert_eq!(c.tensor("curve").unwrap().shape(), [7 * BETWEEN + 1]);
            for place in 0..8 {
                let at_place = c.at("curve", &[place * BETWEEN]).unwrap();
                assert!((at_place - c.at("column", &[place]).unwrap()).abs() < 1e-6);
                assert_eq!(c.at("curve.places", &[place * BETWEEN]), Some(place as f64));
            }
        }
    }

    #[test]
    fn an_odd_width_is_refused_and_a_dimension_beyond_the_width_is_the_last() {
        let error = SPEC.compute(&given(8.0, 5.0, 5.0)).unwrap_err();
        assert!(error.to_string().contains("even"), "{error}");
        let c = SPEC
            .compute(&given(8.0, 4.0, 200.0).with("dimension", InputValue::Number(100.0)))
            .unwrap();
        assert_eq!(c.at("dimension", &[]), Some(3.0));
        assert_eq!(c.tensor("column").unwrap().shape(), [8]);
    }
}
