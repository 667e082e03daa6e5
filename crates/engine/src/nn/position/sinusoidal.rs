//! Sinusoidal positions.
//!
//! ```text
//! PE(p, 2i)     = sin(p · ωᵢ)       ωᵢ = 10000^(−2i/C)
//! PE(p, 2i + 1) = cos(p · ωᵢ)       -> encode(p, C) [C], table(T, C) [T, C]
//! PE(p + k) = M_k · PE(p)           M_k [C, C], one 2 x 2 rotation for each frequency, the same for every p
//! ```
//!
//! ```
//! use engine::nn::position::sinusoidal::encode;
//! let found: Vec<String> = encode(5.0, 4).iter().map(|x| format!("{x:.2}")).collect();
//! assert_eq!(found, ["-0.96", "0.28", "0.05", "1.00"]);
//! ```
//!
//! Angles are computed in f64, so far positions keep their digits. An odd width ends on a sine.
//!
//! Source: Vaswani et al. 2017, section 3.5.

use super::rope::plain_angular;
use crate::error::{EngineError, Result};
use crate::math::double;
use ndarray::{Array1, Array2};

/// The base of the geometric series of wave lengths, 2π to 10000 · 2π.
const BASE: f64 = 10_000.0;

/// ωᵢ = 10000^(−2i/C), the angle in radians by which pair `i` rotates from one position to the
/// next.
pub fn frequency(i: usize, width: usize) -> f32 {
    plain_angular(i, width, BASE) as f32
}

/// The encoding of position `p` (any real number).
pub fn encode(p: f32, width: usize) -> Array1<f32> {
    // -> [C]
    encode_with(p, &frequencies(width), width)
}

/// ωᵢ of every pair.
fn frequencies(width: usize) -> Vec<f64> {
    let pairs = 0..width.div_ceil(2);
    pairs.map(|i| plain_angular(i, width, BASE)).collect()
}

fn encode_with(p: f32, frequencies: &[f64], width: usize) -> Array1<f32> {
    Array1::from_shape_fn(width, |c| {
        let angle = f64::from(p) * frequencies[c / 2];
        (if c % 2 == 0 {
            double::sin(angle)
        } else {
            double::cos(angle)
        }) as f32
    })
}

/// The encodings of positions 0 to `tokens` − 1, one a row.
pub fn table(tokens: usize, width: usize) -> Array2<f32> {
    // -> [T, C]
    let positions: Vec<f32> = (0..tokens).map(|p| p as f32).collect();
    encode_all(&positions, width)
}

/// The encodings of any positions, also negative or fractional ones, one a row.
pub fn encode_all(positions: &[f32], width: usize) -> Array2<f32> {
    // positions [T] -> [T, C]
    let mut rows = Array2::zeros((positions.len(), width));
    let frequencies = frequencies(width);
    // The sequences of a batch share most of their positions.
    for (i, &p) in positions.iter().enumerate() {
        let known = positions[..i]
            .iter()
            .position(|q| q.to_bits() == p.to_bits());
        let encoded = match known {
            Some(row) => rows.row(row).to_owned(),
            None => encode_with(p, &frequencies, width),
        };
        rows.row_mut(i).assign(&encoded);
    }
    rows
}

/// M_k with PE(p + k) = M_k · PE(p) for every p: rotations by k · ωᵢ on the diagonal.
///
/// # Errors
/// When the width is odd: the last sine then has no cosine for a rotation.
pub fn shift_matrix(k: f32, width: usize) -> Result<Array2<f32>> {
    // -> [C, C]
    if !width.is_multiple_of(2) {
        return Err(EngineError::value("shift_matrix", "width", "even", width));
    }
    let mut shift = Array2::zeros((width, width));
    for i in 0..width / 2 {
        let angle = f64::from(k) * plain_angular(i, width, BASE);
        let (sin, cos) = (double::sin(angle) as f32, double::cos(angle) as f32);
        let (s, c) = (2 * i, 2 * i + 1);
        // sin(a + b) = sin a cos b + cos a sin b;  cos(a + b) = cos a cos b − sin a sin b.
        shift[[s, s]] = cos;
        shift[[s, c]] = sin;
        shift[[c, s]] = -sin;
        shift[[c, c]] = cos;
    }
    Ok(shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifting_is_linear_to_the_curriculums_precision() {
        let width = 64;
        for k in [1.0, 7.0, -3.0, 50.0] {
            let shift = shift_matrix(k, width).unwrap();
            for p in 0..200 {
                let error = &shift.dot(&encode(p as f32, width)) - &encode(p as f32 + k, width);
                assert!(error.iter().all(|e| e.abs() < 1e-5), "k {k}, p {p}");
            }
        }
        assert!(shift_matrix(1.0, 5).is_err());
    }

    #[test]
    fn any_positions_give_the_rows_of_the_table() {
        assert_eq!(encode_all(&[0.0, 1.0, 2.0], 6), table(3, 6));
        assert_eq!(encode_all(&[-2.5], 6).row(0), encode(-2.5, 6));
    }

    #[test]
    fn an_odd_width_ends_on_a_sine() {
        assert_eq!(table(2, 3).row(0).to_vec(), [0.0, 1.0, 0.0]);
    }
}
