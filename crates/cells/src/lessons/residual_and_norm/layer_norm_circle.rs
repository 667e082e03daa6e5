//! Layer norm and RMS norm of a vector of three numbers, and layer norm of the same vector
//! multiplied and shifted.

use ndarray::{Array1, ArrayView1, arr2};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::spec::{CellSpec, Run};

/// What ε may be: 10 to the power of −8, −7, … 0.
const EPSILONS: [f32; 9] = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0];

/// The lowest of these powers.
const LOWEST: f64 = -8.0;

/// The cell `layer-norm-circle`.
pub const SPEC: CellSpec = CellSpec {
    name: "layer-norm-circle",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    let x = arr2(&[[-0.4, 0.6, 0.7]]);
    vec![
        InputSpec::matrix("x", "Vector $x$", (1, 1), (3, 3), x),
        InputSpec::number("tilt", "Angle of view, degrees", (0.0, 90.0, 1.0), 65.0),
        InputSpec::number("times", "Multiply $x$ by", (0.1, 10.0, 0.1), 3.0),
        InputSpec::number("plus", "and add", (-10.0, 10.0, 0.5), 5.0),
        InputSpec::number(
            "power",
            "Exponent of \u{3b5} (base 10)",
            (LOWEST, 0.0, 1.0),
            -5.0,
        ),
    ]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let x = inputs.matrix("x")?;
    let x = x.row(0);
    let at = inputs.number("power")? - LOWEST;
    let eps = EPSILONS.get(at as usize).copied().unwrap_or(EPSILONS[3]);
    let mut record = Record::new();
    let layer = shown!(record, explain::norm_steps::layer_norm_steps, x, eps);
    let rms = shown!(record, explain::norm_steps::rms_norm_steps, x, eps);
    // The same as models compute it, with γ = 1 and β = 0.
    let (gamma, beta) = (Array1::ones(x.len()), Array1::zeros(x.len()));
    let (gamma, beta) = (gamma.view(), beta.view());
    let (times, plus) = (
        inputs.number("times")? as f32,
        inputs.number("plus")? as f32,
    );
    let moved = x.mapv(|value| times * value + plus);
    let again = shown!(
        record,
        engine::nn::norm::layer_norm,
        moved.view().insert_axis(ndarray::Axis(0)),
        gamma,
        beta,
        eps
    )?;
    let model = engine::nn::norm::layer_norm(x.insert_axis(ndarray::Axis(0)), gamma, beta, eps)?;
    let length = |v: ArrayView1<'_, f32>| -> Result<f64, CellError> {
        Ok(f64::from(engine::math::sqrt(explain::similarity::dot(
            v, v,
        )?)))
    };
    let differences = &again - &model;
    let largest = differences
        .iter()
        .fold(0.0_f32, |most, d| most.max(d.abs()));
    record.number("mean", f64::from(layer.mean));
    record.tensor("centred", &layer.centred);
    record.number("sum", f64::from(layer.centred.sum()));
    record.number("variance", f64::from(layer.variance));
    record.number("deviation", f64::from(layer.deviation));
    record.tensor("layer", &layer.output);
    record.tensor("rms", &rms.output);
    record.number("rms.root", f64::from(rms.deviation));
    record.number("length", length(x)?);
    record.number("length.layer", length(layer.output.view())?);
    record.number("length.rms", length(rms.output.view())?);
    record.number("radius", f64::from(engine::math::sqrt(x.len() as f32)));
    record.tensor("moved", &moved);
    record.tensor("again", &again.row(0));
    record.number("again.difference", f64::from(largest));
    record.number("epsilon", f64::from(eps));
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;

    fn of(x: [f32; 3]) -> Inputs {
        Inputs::defaults(&inputs()).with("x", InputValue::Matrix(arr2(&[x])))
    }

    fn number(c: &Computation, name: &str) -> f64 {
        c.at(name, &[]).unwrap()
    }

    /// What the lesson says: subtracting the mean leads to a plane, dividing to a circle in it; RMS
    /// norm only divides, and leads to the sphere.
    #[test]
    fn layer_norm_leads_to_a_circle_and_rms_norm_to_a_sphere() {
        let radius = 3.0_f64.sqrt();
        for seed in 0..200 {
            let x = engine::rng::normal_matrix(seed, "x", 1, 3, 2.0);
            let c = SPEC
                .compute(&of([x[[0, 0]], x[[0, 1]], x[[0, 2]]]))
                .unwrap();
            let variance = number(&c, "variance");
            if variance < 0.05 {
                continue;
            }
            let sum: f64 = (0..3).map(|n| c.at("layer", &[n]).unwrap()).sum();
            assert!(
                sum.abs() < 1e-5 && number(&c, "sum").abs() < 1e-5,
                "in the plane"
            );
            assert!((number(&c, "length.layer") - radius).abs() < 1e-3);
            assert!((number(&c, "length.rms") - radius).abs() < 1e-3);
            // The circle and the sphere have the same centre and radius.
            assert!((number(&c, "radius") - radius).abs() < 1e-6);
            // RMS norm keeps the direction.
            for n in 0..3 {
                let kept = c.at("rms", &[n]).unwrap() * number(&c, "rms.root");
                assert!((kept - f64::from(x[[0, n]])).abs() < 1e-5);
            }
        }
    }

    /// LN(a x + b) = LN(x) for a > 0, but for ε.
    #[test]
    fn a_multiple_and_a_shift_change_nothing() {
        let of = |times: f64, plus: f64, power: f64| {
            let given = of([2.0, 1.0, -1.5])
                .with("times", InputValue::Number(times))
                .with("plus", InputValue::Number(plus))
                .with("power", InputValue::Number(power));
            number(&SPEC.compute(&given).unwrap(), "again.difference")
        };
        let page = SPEC.compute(&Inputs::defaults(&inputs())).unwrap();
        let page = number(&page, "again.difference");
        assert!((1e-5..5e-5).contains(&page), "{page}");
        for (times, plus) in [(0.5, -10.0), (7.0, 2.5), (10.0, 10.0)] {
            assert!(of(times, plus, -5.0) < 2e-5);
            assert!(of(times, plus, -8.0) < 2e-6);
        }
        // With a large ε they do change.
        assert!(of(3.0, 5.0, 0.0) > 0.1);
    }

    /// Where all numbers are nearly equal, ε keeps the result short, and where they are equal, zero.
    #[test]
    fn nearly_equal_numbers_end_inside_the_circle() {
        let c = SPEC.compute(&of([1.001, 1.0, 0.999])).unwrap();
        assert!(number(&c, "length.layer") < 0.6);
        let c = SPEC.compute(&of([2.0, 2.0, 2.0])).unwrap();
        assert_eq!(number(&c, "length.layer"), 0.0);
        assert!((number(&c, "length.rms") - 3.0_f64.sqrt()).abs() < 1e-5);
    }

    /// Values of `torch.nn.functional.layer_norm` and `rms_norm` in float64.
    #[test]
    fn the_page_has_these_numbers() {
        let c = SPEC.compute(&Inputs::defaults(&inputs())).unwrap();
        for (name, expected) in [
            ("centred", [-0.7, 0.3, 0.4]),
            ("layer", [-1.409_40, 0.604_03, 0.805_37]),
            ("rms", [-0.689_37, 1.034_06, 1.206_40]),
        ] {
            for (n, expected) in expected.into_iter().enumerate() {
                let found = c.at(name, &[n]).unwrap();
                assert!((found - expected).abs() < 1e-4, "{name} {n}: {found}");
            }
        }
        assert!((number(&c, "mean") - 0.3).abs() < 1e-6);
    }
}
