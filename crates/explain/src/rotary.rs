//! Rotary positions of one matrix: pairs of numbers are planes, and position m rotates plane i by m
//! · θᵢ. The functions are the models' own ([`engine::nn::position::rope`]), here with positions
//! between whole numbers too.
//!
//! ```text
//! θᵢ = base^(−2i/D), i = 0 … D/2 − 1                                   frequencies(D, base) [D/2]
//! (a, b) -> (a cos mθᵢ − b sin mθᵢ,  a sin mθᵢ + b cos mθᵢ)            x [T, D] -> [T, D]
//! rotate:       planes are neighbours   (x_{2i}, x_{2i+1})             as in the paper
//! rotate_pairs: or planes are halves    (x_i, x_{i+D/2})               as Llama's parameters in the Hugging Face format expect
//! score(q, k, m, n) = rotate(q, m) · rotate(k, n) depends on q, k and m − n only
//! interpolate: m -> m · L/L'        ntk_base: base -> base · scale^(D/(D−2))
//! ```
//!
//! ```
//! use explain::rotary::score;
//! use ndarray::array;
//! let (q, k) = (array![0.3, -1.2, 0.5, 2.0], array![1.0, 0.4, -0.7, 0.1]);
//! let near = score(q.view(), k.view(), 5.0, 3.0, 10_000.0)?;
//! let far = score(q.view(), k.view(), 105.0, 103.0, 10_000.0)?;
//! assert!((near - far).abs() < 1e-5);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Angles are computed in f64, so far positions keep their digits.
//!
//! Source: Su et al. 2021, "RoFormer", equations 13 to 16 and 34; Chen et al. 2023, "Extending
//! context window of large language models via positional interpolation", equation 4; Peng et al.
//! 2023, "YaRN", section 3.1 (the NTK-aware base).

use engine::error::Result;
use engine::kernel;
use engine::math::double;
use engine::nn::position::rope::{Pairing, Rope, Scaling, plain_angular};
use engine::shape::mismatch;
use ndarray::{Array2, ArrayView1, ArrayView2, Axis};

/// θᵢ = base^(−2i/D) of each plane, in radians a position.
pub fn frequencies(width: usize, base: f32) -> Vec<f32> {
    // -> [D / 2]
    let plain = (0..width / 2).map(|i| plain_angular(i, width, f64::from(base)));
    plain.map(|theta| theta as f32).collect()
}

/// Each row rotated by its position; planes are neighbouring pairs.
///
/// # Errors
/// When D is odd, the base is not above 0, or there is not one position for each row.
pub fn rotate(x: ArrayView2<'_, f32>, positions: &[f32], base: f32) -> Result<Array2<f32>> {
    // x [T, D], positions [T] -> [T, D]
    rotate_pairs(x, positions, base, Pairing::Neighbours)
}

/// As [`rotate`], with planes of this pairing.
///
/// # Errors
/// As [`rotate`].
pub fn rotate_pairs(
    x: ArrayView2<'_, f32>,
    positions: &[f32],
    base: f32,
    pairing: Pairing,
) -> Result<Array2<f32>> {
    let rope = Rope {
        width: x.ncols(),
        base,
        pairing,
        scaling: Scaling::None,
    };
    let mut rotated = x.to_owned();
    rope.table_at(positions)?.apply(&mut rotated, x.ncols())?;
    Ok(rotated)
}

/// The product of query `q` at position `m` with key `k` at position `n`, neighbouring pairs,
/// unscaled.
///
/// # Errors
/// When the widths differ or are odd, or the base is not above 0.
pub fn score(
    q: ArrayView1<'_, f32>,
    k: ArrayView1<'_, f32>,
    m: f32,
    n: f32,
    base: f32,
) -> Result<f32> {
    // q [D], k [D] -> scalar
    if q.len() != k.len() {
        let expected = "query [D] and key [D]";
        return Err(mismatch("rotary score", expected, q.shape(), k.shape()));
    }
    let q = rotate(q.insert_axis(Axis(0)), &[m], base)?;
    let k = rotate(k.insert_axis(Axis(0)), &[n], base)?;
    Ok(kernel::dot(
        &q.into_raw_vec_and_offset().0,
        &k.into_raw_vec_and_offset().0,
    ))
}

/// Positions of a sequence of `new_len` squeezed into the `trained_len` that the model knows;
/// unchanged when it is not longer.
pub fn interpolate(positions: &[f32], trained_len: usize, new_len: usize) -> Vec<f32> {
    // positions [T] -> [T]
    if new_len <= trained_len {
        return positions.to_vec();
    }
    let squeeze = trained_len as f64 / new_len as f64;
    positions
        .iter()
        .map(|&p| (f64::from(p) * squeeze) as f32)
        .collect()
}

/// The base that stretches the slowest wave by `scale` and leaves the fastest as it is; with one
/// plane (D = 2) there is only the fastest, and the base stays.
pub fn ntk_base(base: f32, width: usize, scale: f32) -> f32 {
    if width <= 2 {
        return base;
    }
    let exponent = width as f64 / (width - 2) as f64;
    (f64::from(base) * double::pow(f64::from(scale), exponent)) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::rng::normal_matrix;
    use ndarray::Slice;

    #[test]
    fn the_score_depends_on_the_offset_only_over_100_shifts() {
        let vectors = normal_matrix(5, "pair", 2, 64, 1.0);
        let at = |shift: usize| {
            let (m, n) = (9.0 + shift as f32, 4.0 + shift as f32);
            score(vectors.row(0), vectors.row(1), m, n, 10_000.0).unwrap()
        };
        let largest = (1..=100)
            .map(|shift| (at(shift) - at(0)).abs())
            .fold(0.0, f32::max);
        assert!(largest < 1e-4, "{largest}");
    }

    #[test]
    fn both_pairings_are_the_same_up_to_the_order_of_columns() {
        let x = normal_matrix(5, "x", 3, 6, 1.0);
        let shuffled = x.select(Axis(1), &[0, 2, 4, 1, 3, 5]);
        let positions = [0.0, 1.0, 2.5];
        let neighbours = rotate(x.view(), &positions, 100.0)
            .unwrap()
            .select(Axis(1), &[0, 2, 4, 1, 3, 5]);
        assert_eq!(
            rotate_pairs(shuffled.view(), &positions, 100.0, Pairing::Halves).unwrap(),
            neighbours
        );
        assert_eq!(neighbours.row(0), shuffled.row(0));
    }

    #[test]
    fn every_head_turns_as_the_plain_function_says_and_the_rest_stays() {
        let x = normal_matrix(3, "x", 2, 20, 1.0);
        let mut turned = x.clone();
        let rope = Rope {
            width: 8,
            base: 500_000.0,
            pairing: Pairing::Halves,
            scaling: Scaling::None,
        };
        rope.table(&[4, 9]).unwrap().apply(&mut turned, 10).unwrap();
        for head in [0, 10] {
            let part = |all: &Array2<f32>, from: usize, to: usize| {
                let columns = Slice::from(from..to);
                all.slice_axis(Axis(1), columns).to_owned()
            };
            let (own, positions) = (part(&x, head, head + 8), [4.0, 9.0]);
            let plain = rotate_pairs(own.view(), &positions, 500_000.0, Pairing::Halves).unwrap();
            assert_eq!(part(&turned, head, head + 8), plain);
            let rest = [head + 8, head + 10];
            assert_eq!(part(&turned, rest[0], rest[1]), part(&x, rest[0], rest[1]));
        }
    }

    #[test]
    fn interpolation_and_base() {
        assert_eq!(interpolate(&[0.0, 4.0, 8.0], 4, 8), [0.0, 2.0, 4.0]);
        assert_eq!(interpolate(&[0.0, 3.0], 8, 4), [0.0, 3.0]);
        let (width, base) = (8, ntk_base(10_000.0, 8, 4.0));
        let (old, new) = (frequencies(width, 10_000.0), frequencies(width, base));
        assert_eq!(new[0], old[0]);
        assert!((old[3] / new[3] - 4.0).abs() < 1e-5);
        assert_eq!(ntk_base(10_000.0, 2, 4.0), 10_000.0);
    }

    #[test]
    fn refuses_what_does_not_fit() {
        let odd = Array2::zeros((1, 3));
        assert!(rotate(odd.view(), &[0.0], 10.0).is_err());
        let x = Array2::zeros((2, 4));
        assert!(rotate(x.view(), &[0.0], 10.0).is_err());
        assert!(rotate(x.view(), &[0.0, 1.0], 0.0).is_err());
        assert!(score(x.row(0), odd.row(0), 0.0, 0.0, 10.0).is_err());
    }
}
