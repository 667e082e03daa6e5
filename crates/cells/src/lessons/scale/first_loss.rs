//! The first loss of a classifier by the size of its head's parameters: with a head of zeros it is ln K.

use engine::rng::normal_matrix;
use ndarray::Array2;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::spec::{CellSpec, Run};

/// B: vectors of the batch.
const BATCH: usize = 40;
/// C: numbers of each vector.
const WIDTH: usize = 64;
/// The largest scale, and points of the curve.
const LARGEST: f64 = 4.0;
const POINTS: usize = 17;

/// The cell `first-loss`.
pub const SPEC: CellSpec = CellSpec {
    name: "first-loss",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::number("scale", "Scale $s$ of the head", (0.0, LARGEST, 0.05), 1.0),
        InputSpec::number("classes", "Classes $K$", (2.0, 100.0, 1.0), 10.0),
        InputSpec::seed(1),
    ]
}

/// The head: draws of variance s²/C, so that the logits have about the variance s².
fn head(drawn: &Array2<f32>, scale: f64) -> Array2<f32> {
    let scale = (scale / (WIDTH as f64).sqrt()) as f32;
    drawn.mapv(|x| scale * x)
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let (scale, classes, seed) = (
        inputs.number("scale")?,
        inputs.count("classes")?,
        inputs.seed()?,
    );
    let mut record = Record::new();
    let vectors = normal_matrix(seed, "vectors", BATCH, WIDTH, 1.0);
    let drawn = normal_matrix(seed, "head", classes, WIDTH, 1.0);
    let labels: Vec<usize> = (0..BATCH).map(|n| n % classes).collect();
    let (h, w, y) = (vectors.view(), head(&drawn, scale), &labels[..]);
    let loss = shown!(record, explain::first_loss::first_loss, h, w.view(), y)?;
    let slopes = shown!(record, explain::first_loss::gradient, h, w.view(), y)?;
    record.number("loss", f64::from(loss));
    let uniform = engine::math::ln(classes as f32);
    record.number("uniform", f64::from(uniform));
    record.number("excess", f64::from(loss - uniform));
    let squares: f32 = slopes.iter().map(|x| x * x).sum();
    record.number("gradient", f64::from(engine::math::sqrt(squares)));
    let (mut scales, mut losses, mut rule) = (Vec::new(), Vec::new(), Vec::new());
    for n in 0..POINTS {
        let s = LARGEST * n as f64 / (POINTS - 1) as f64;
        let w = head(&drawn, s);
        losses.push(f64::from(explain::first_loss::first_loss(h, w.view(), y)?));
        rule.push(f64::from(uniform) + s * s / 2.0);
        scales.push(s);
    }
    record.numbers("scales", scales);
    record.numbers("losses", losses);
    record.numbers("rule", rule);
    record.number("scale.now", scale);
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::number;

    fn at(scale: f64, classes: f64, seed: f64) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("scale", number(scale))
            .with("classes", number(classes))
            .with("seed", number(seed));
        SPEC.compute(&given).unwrap()
    }

    /// A head of zeros: ln K, to the last bit, and nothing to learn for the body.
    #[test]
    fn a_head_of_zeros() {
        for classes in [2.0, 10.0, 100.0] {
            let c = at(0.0, classes, 3.0);
            let uniform = c.at("uniform", &[]).unwrap();
            assert!(
                (c.at("loss", &[]).unwrap() - uniform).abs() < 1e-6,
                "{classes}"
            );
            assert_eq!(c.at("gradient", &[]), Some(0.0));
        }
        let ten = at(0.0, 10.0, 1.0);
        assert!((ten.at("loss", &[]).unwrap() - std::f64::consts::LN_10).abs() < 1e-6);
    }

    /// The loss rises with the scale, at first by about s²/2.
    #[test]
    fn a_larger_head_is_surely_wrong() {
        for seed in [1.0, 2.0, 3.0] {
            let losses = [0.5, 1.0, 2.0, 4.0].map(|s| at(s, 10.0, seed).at("loss", &[]).unwrap());
            assert!(losses.is_sorted(), "{losses:?}");
            assert!(losses[3] > 4.0, "{losses:?}");
        }
        let few = (1..=20).map(|seed| at(0.5, 10.0, f64::from(seed)).at("excess", &[]).unwrap());
        let mean = few.sum::<f64>() / 20.0;
        assert!((0.08..0.16).contains(&mean), "{mean}");
    }
}
