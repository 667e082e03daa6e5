//! The dot product of two arrows in a plane, its terms, its sign and the angle.

use ndarray::{Array1, arr2};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::spec::{CellSpec, Run};

/// The cell `dot-product`.
pub const SPEC: CellSpec = CellSpec {
    name: "dot-product",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    let vectors = arr2(&[[2.0, 1.0], [1.0, 2.0]]);
    vec![InputSpec::matrix(
        "vectors",
        "The two vectors",
        (2, 2),
        (2, 2),
        vectors,
    )]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let vectors = inputs.matrix("vectors")?;
    let (a, b) = (vectors.row(0), vectors.row(1));
    let mut record = Record::new();
    let terms = shown!(record, explain::similarity::products, a, b)?;
    let dot = shown!(record, explain::similarity::dot, a, b)?;
    let squares = [
        explain::similarity::dot(a, a)?,
        explain::similarity::dot(b, b)?,
    ];
    let lengths: Array1<f32> = squares.into_iter().map(engine::math::sqrt).collect();
    let angle = shown!(record, explain::similarity::angle, a, b)?;
    record.tensor("terms", &terms);
    record.number("dot", f64::from(dot));
    record.tensor("lengths", &lengths);
    // A vector of zeros has no direction: there is no angle to show.
    if angle.is_finite() {
        record.number("cosine", f64::from(explain::similarity::cosine(a, b)?));
        record.number("angle", f64::from(angle));
    }
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;

    fn of(vectors: [[f32; 2]; 2]) -> Computation {
        let given = Inputs::defaults(&inputs());
        let given = given.with("vectors", InputValue::Matrix(arr2(&vectors)));
        SPEC.compute(&given).unwrap()
    }

    fn number(c: &Computation, name: &str) -> f64 {
        c.at(name, &[]).unwrap()
    }

    /// What the lesson says: positive below a right angle, zero at it, negative beyond it.
    #[test]
    fn the_sign_tells_on_which_side_of_a_right_angle_the_arrows_are() {
        for n in 0..72 {
            let degrees = 5.0 * f64::from(n);
            let (sin, cos) = degrees.to_radians().sin_cos();
            let c = of([[1.5, 0.0], [2.0 * cos as f32, 2.0 * sin as f32]]);
            let (dot, angle) = (number(&c, "dot"), number(&c, "angle"));
            let expected = if degrees > 180.0 {
                360.0 - degrees
            } else {
                degrees
            };
            assert!((angle - expected).abs() < 0.05, "{angle} {expected}");
            match expected {
                90.0 => assert!(dot.abs() < 1e-6),
                less if less < 90.0 => assert!(dot > 0.0),
                _ => assert!(dot < 0.0),
            }
        }
    }

    /// The dot product is both the sum of the terms and the lengths times the cosine.
    #[test]
    fn both_formulas_agree() {
        for seed in 0..200 {
            let drawn = engine::rng::normal_matrix(seed, "vectors", 2, 2, 2.0);
            let c = of([
                [drawn[[0, 0]], drawn[[0, 1]]],
                [drawn[[1, 0]], drawn[[1, 1]]],
            ]);
            let dot = number(&c, "dot");
            let at = |name: &str, i: usize| c.at(name, &[i]).unwrap();
            assert!((at("terms", 0) + at("terms", 1) - dot).abs() < 1e-5);
            let product = at("lengths", 0) * at("lengths", 1) * number(&c, "cosine");
            assert!((product - dot).abs() < 1e-4, "{product} {dot}");
        }
    }

    /// Twice the arrow, twice the number, the same angle.
    #[test]
    fn a_longer_arrow_has_a_larger_product_and_the_same_angle() {
        let (one, two) = (of([[2.0, 1.0], [1.0, 2.0]]), of([[2.0, 1.0], [2.0, 4.0]]));
        assert_eq!(number(&two, "dot"), 2.0 * number(&one, "dot"));
        assert!((number(&two, "angle") - number(&one, "angle")).abs() < 1e-3);
    }

    #[test]
    fn an_arrow_without_length_has_no_angle() {
        let c = of([[2.0, 1.0], [0.0, 0.0]]);
        assert_eq!((c.at("dot", &[]), c.at("angle", &[])), (Some(0.0), None));
    }
}
