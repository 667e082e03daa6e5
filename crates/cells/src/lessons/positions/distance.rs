//! All dot products between sinusoidal position vectors: constant along each diagonal.

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::parts::measure::{diagonal_spreads, even, largest};
use crate::spec::{CellSpec, Run};

/// The cell `distance`.
pub const SPEC: CellSpec = CellSpec {
    name: "distance",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::number("length", "Positions", (2.0, 128.0, 1.0), 32.0),
        InputSpec::number("width", "Dimensions $d$", (2.0, 128.0, 2.0), 64.0),
        InputSpec::number("first", "Position $p$", (0.0, 127.0, 1.0), 5.0),
        InputSpec::number("second", "Position $q$", (0.0, 127.0, 1.0), 9.0),
    ]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let (length, width) = (
        inputs.count("length")?,
        even(inputs, "width", "Dimensions d")?,
    );
    let first = inputs.count("first")?.min(length - 1);
    let second = inputs.count("second")?.min(length - 1);
    let mut record = Record::new();
    let table = shown!(
        record,
        engine::nn::position::sinusoidal::table,
        length,
        width
    );
    // Scores with scale 1 are plain dot products of every row with every row.
    let products = shown!(
        record,
        engine::nn::attention::scores,
        table.view(),
        table.view(),
        1.0_f32
    )?;
    // As a share of the product of a vector with itself, the largest there is.
    let most = f64::from(products[[0, 0]]);
    let spreads: Vec<f64> = diagonal_spreads(products.view())
        .into_iter()
        .map(|s| s / most)
        .collect();
    record.number("first", first as f64);
    record.number("second", second as f64);
    record.number("offset", second as f64 - first as f64);
    record.number("product", f64::from(products[[first, second]]));
    record.tensor("row", &products.row(first));
    record.number("largest_spread", largest(&spreads));
    record.numbers("spreads", spreads);
    record.tensor("products", &products);
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;

    /// PE(p) · PE(q) is a function of p - q, up to the rounding of the sums.
    #[test]
    fn products_depend_on_the_distance_only() {
        for width in [2.0, 64.0, 128.0] {
            let given = Inputs::defaults(&inputs())
                .with("width", InputValue::Number(width))
                .with("length", InputValue::Number(128.0));
            let c = SPEC.compute(&given).unwrap();
            let spread = c.at("largest_spread", &[]).unwrap();
            assert!(spread < 2e-6, "width {width}: {spread}");
            assert!((c.at("products", &[7, 7]).unwrap() - width / 2.0).abs() < 1e-4);
            assert_eq!(c.at("products", &[3, 9]), c.at("products", &[9, 3]));
        }
    }

    #[test]
    fn a_place_beyond_the_end_is_the_last() {
        let given = Inputs::defaults(&inputs()).with("length", InputValue::Number(4.0));
        let c = SPEC.compute(&given).unwrap();
        assert_eq!(
            (c.at("first", &[]), c.at("second", &[])),
            (Some(3.0), Some(3.0))
        );
    }
}
