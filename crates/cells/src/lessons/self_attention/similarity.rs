//! Dot product and cosine of two vectors in the plane, and what they make of length.

use ndarray::{Array2, arr2};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::spec::{CellSpec, Run};

/// Points of the curves over the factor, up to [`LARGEST_FACTOR`]. A key stretched by 0 has no
/// direction, so they begin above it.
const POINTS: usize = 40;

/// Largest factor that the second vector is stretched by.
const LARGEST_FACTOR: f64 = 4.0;

/// The cell `similarity`.
pub const SPEC: CellSpec = CellSpec {
    name: "similarity",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::matrix(
            "vectors",
            "Query and key",
            (2, 2),
            (2, 2),
            arr2(&[[1.2, 0.4], [0.6, 1.0]]),
        ),
        InputSpec::number(
            "factor",
            "Stretch the key by",
            (0.0, LARGEST_FACTOR, 0.1),
            1.0,
        ),
    ]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let vectors = inputs.matrix("vectors")?;
    let factor = inputs.number("factor")? as f32;
    let (query, key) = (vectors.row(0), vectors.row(1));
    let stretched = key.mapv(|x| x * factor);
    let mut record = Record::new();
    let stretched_key = stretched.view();
    let dot = shown!(record, explain::similarity::dot, query, stretched_key)?;
    let cosine = shown!(record, explain::similarity::cosine, query, stretched_key)?;
    let query_square = shown!(record, explain::similarity::dot, query, query)?;
    let key_square = shown!(
        record,
        explain::similarity::dot,
        stretched_key,
        stretched_key
    )?;
    let query_length = shown!(record, engine::math::sqrt, query_square);
    let key_length = shown!(record, engine::math::sqrt, key_square);

    // The same key at every factor: one row each.
    let step = LARGEST_FACTOR / POINTS as f64;
    let factors: Vec<f64> = (1..=POINTS).map(|i| i as f64 * step).collect();
    let keys = Array2::from_shape_fn((POINTS, 2), |(i, j)| key[j] * factors[i] as f32);
    let one = query.insert_axis(ndarray::Axis(0));
    let dots = shown!(
        record,
        engine::nn::attention::scores,
        one,
        keys.view(),
        1.0_f32
    )?;
    let cosines = shown!(record, explain::similarity::cosine_rows, one, keys.view())?;

    record.number("dot", f64::from(dot));
    record.number("cosine", f64::from(cosine));
    record.number("query_length", f64::from(query_length));
    record.number("key_length", f64::from(key_length));
    record.tensor("stretched", &stretched);
    record.numbers("factors", factors);
    record.tensor("dots", &dots.row(0));
    record.tensor("cosines", &cosines.row(0));
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;

    fn measured(vectors: [[f32; 2]; 2], factor: f64) -> (f64, f64) {
        let given = Inputs::defaults(&inputs())
            .with("vectors", InputValue::Matrix(arr2(&vectors)))
            .with("factor", InputValue::Number(factor));
        let c = SPEC.compute(&given).unwrap();
        let product = c.at("query_length", &[]).unwrap() * c.at("key_length", &[]).unwrap();
        let (dot, cosine) = (c.at("dot", &[]).unwrap(), c.at("cosine", &[]).unwrap());
        assert!((product * cosine - dot).abs() < 1e-5);
        (dot, cosine)
    }

    #[test]
    fn the_dot_product_grows_with_length_and_the_cosine_does_not() {
        let (dot, cosine) = measured([[3.0, 4.0], [4.0, 3.0]], 1.0);
        assert!((dot - 24.0).abs() < 1e-5 && (cosine - 0.96).abs() < 1e-6);
        let (dot, cosine) = measured([[3.0, 4.0], [4.0, 3.0]], 2.0);
        assert!((dot - 48.0).abs() < 1e-5 && (cosine - 0.96).abs() < 1e-6);
    }

    #[test]
    fn right_angles_opposites_and_a_vector_without_length() {
        assert_eq!(measured([[1.0, 0.0], [0.0, 2.0]], 1.0), (0.0, 0.0));
        let (dot, cosine) = measured([[1.0, 0.0], [-2.0, 0.0]], 1.0);
        assert_eq!((dot, cosine), (-2.0, -1.0));
        assert_eq!(measured([[1.0, 0.0], [1.0, 0.0]], 0.0), (0.0, 0.0));
    }
}
