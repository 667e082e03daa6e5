//! Softmax of editable logits at a temperature, as it is written and as it must be computed.

use ndarray::{Array1, Array2, ArrayView1, Axis, arr2, stack};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::spec::{CellSpec, Run};

/// Points of the curves against the temperature, from 0.01 to 100 in equal steps of its logarithm.
const POINTS: usize = 41;

/// The cell `softmax-temperature`.
pub const SPEC: CellSpec = CellSpec {
    name: "softmax-temperature",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    let logits = arr2(&[[2.0, 1.0, 0.5, -0.5, -1.0]]);
    vec![
        InputSpec::matrix("logits", "Logits", (1, 1), (2, 8), logits),
        InputSpec::number("tau", "Temperature $\u{3c4}$", (0.01, 10.0, 0.01), 1.0),
    ]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let x = inputs.matrix("logits")?.row(0);
    let tau = inputs.number("tau")? as f32;
    let mut record = Record::new();
    let weights = shown!(record, engine::nn::softmax::softmax_temperature, x, tau)?;
    let entropy = shown!(record, engine::nn::softmax::entropy, weights.view());
    let jacobian = shown!(record, engine::nn::softmax::jacobian, weights.view());
    let norm = shown!(record, explain::stats::frobenius, jacobian.view());
    record.tensor("weights", &weights);
    record.number("entropy", f64::from(entropy));
    record.tensor("jacobian", &jacobian);
    record.number("norm", norm);
    record.number(
        "largest",
        weights
            .iter()
            .fold(0.0, |most, &w| f64::max(most, f64::from(w))),
    );

    let written = shown!(record, explain::softmax_steps::as_written, x, tau)?;
    let safe = shown!(record, explain::softmax_steps::safe, x, tau)?;
    let broken = written.weights.iter().filter(|w| w.is_nan()).count();
    record.number("written.broken", broken as f64);
    for (name, steps) in [("written", written), ("safe", safe)] {
        let rows = [&steps.exponents, &steps.exponentials, &steps.weights].map(|r| r.view());
        let rows = stack(Axis(0), &rows).map_err(|e| CellError::Mismatch(e.to_string()))?;
        record.tensor(&format!("{name}.steps"), &rows);
        record.number(&format!("{name}.total"), f64::from(steps.total));
    }
    limits(&mut record, x, &weights)?;
    curves(&mut record, x)?;
    let names = (0..x.len()).map(|i| format!("logit {}", i + 1)).collect();
    record.words("logit", names);
    Ok(record.finish())
}

/// The weights at the ends: a temperature too small and one too large for anything else to matter.
fn limits(record: &mut Record, x: ArrayView1<'_, f32>, now: &Array1<f32>) -> Result<(), CellError> {
    let cold = shown!(
        record,
        engine::nn::softmax::softmax_temperature,
        x,
        f32::MIN_POSITIVE
    )?;
    let hot = shown!(
        record,
        engine::nn::softmax::softmax_temperature,
        x,
        f32::INFINITY
    )?;
    let most = shown!(record, engine::nn::softmax::entropy, hot.view());
    let rows = [cold.view(), now.view(), hot.view()];
    let rows = stack(Axis(0), &rows).map_err(|e| CellError::Mismatch(e.to_string()))?;
    record.tensor("ends", &rows);
    record.words(
        "end",
        ["\u{3c4} \u{2192} 0", "now", "\u{3c4} \u{2192} \u{221e}"]
            .map(String::from)
            .into(),
    );
    record.tensor("cold", &cold);
    record.tensor("hot", &hot);
    record.number("entropy.uniform", f64::from(most));
    Ok(())
}

/// Each weight, and the entropy, against the temperature.
fn curves(record: &mut Record, x: ArrayView1<'_, f32>) -> Result<(), CellError> {
    let mut curves = Array2::zeros((x.len(), POINTS));
    let (mut taus, mut entropies) = (Vec::new(), Vec::new());
    for point in 0..POINTS {
        let power = -2.0 + 4.0 * point as f32 / (POINTS - 1) as f32;
        let tau = engine::math::pow(10.0, power);
        let weights = engine::nn::softmax::softmax_temperature(x, tau)?;
        entropies.push(f64::from(engine::nn::softmax::entropy(weights.view())));
        curves.column_mut(point).assign(&weights);
        taus.push(f64::from(tau));
    }
    record.tensor("curve.weights", &curves);
    record.numbers("curve.tau", taus);
    record.numbers("curve.entropy", entropies);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;

    fn with(logits: &[f32], tau: f64) -> Computation {
        let logits = Array2::from_shape_vec((1, logits.len()), logits.to_vec()).unwrap();
        let given = Inputs::defaults(&inputs())
            .with("logits", InputValue::Matrix(logits))
            .with("tau", InputValue::Number(tau));
        SPEC.compute(&given).unwrap()
    }

    fn row(c: &Computation, name: &str) -> Vec<f64> {
        c.tensor(name).unwrap().values.iter().copied().collect()
    }

    /// The curriculum's check: cold is one-hot, hot is uniform.
    #[test]
    fn the_limits_are_one_hot_and_uniform() {
        let c = with(&[2.0, 1.0, 0.5, -0.5], 0.01);
        assert_eq!(row(&c, "cold"), [1.0, 0.0, 0.0, 0.0]);
        assert_eq!(row(&c, "weights"), [1.0, 0.0, 0.0, 0.0]);
        assert_eq!(row(&c, "hot"), [0.25; 4]);
        assert_eq!(c.at("entropy", &[]), Some(0.0));
        let last = c.at("curve.weights", &[0, POINTS - 1]).unwrap();
        assert!((last - 0.25).abs() < 0.01, "{last}");
    }

    /// The curriculum's check: a row of thousands gives weights, not NaN, though the form as
    /// written does.
    #[test]
    fn a_row_of_thousands_gives_no_nan() {
        let c = with(&[1000.0; 5], 1.0);
        assert!(row(&c, "weights").iter().all(|w| (w - 0.2).abs() < 1e-7));
        assert_eq!(c.at("written.broken", &[]), Some(5.0));
        assert_eq!(c.at("written.total", &[]), Some(f64::INFINITY));
        assert_eq!(c.at("safe.total", &[]), Some(5.0));
        for extreme in [[1e6, -1e6], [-1e6, -1e6]] {
            let c = with(&extreme, 0.01);
            for name in ["weights", "cold", "hot", "curve.weights"] {
                assert!(row(&c, name).iter().all(|w| w.is_finite()), "{name}");
            }
        }
    }

    #[test]
    fn equal_largest_logits_share_the_cold_limit() {
        let c = with(&[3.0, 1.0, 3.0], 1.0);
        assert_eq!(row(&c, "cold"), [0.5, 0.0, 0.5]);
    }

    #[test]
    fn adding_one_number_to_all_logits_changes_nothing() {
        let (a, b) = (with(&[1.0, 2.0, 3.0], 0.5), with(&[11.0, 12.0, 13.0], 0.5));
        assert_eq!(row(&a, "weights"), row(&b, "weights"));
    }
}
