//! Parameters and pictures that a formula gives, so that two programs can build the same full-size
//! model without its weights.
//!
//! ```text
//! z_i = mix(fnv1a64(name) + seed + i + 0x9E3779B97F4A7C15)       i counts the elements row by row, all modulo 2⁶⁴
//! u_i = (z_i >> 40) / 2²³ − 1                                    in [−1, 1), a multiple of 2⁻²³
//! two axes or more: 0.08 u     one axis, name ends in `weight` or `lambda1`: 1 + 0.1 u     any other: 0.05 u
//! image_c(x, y) = sin(2π((c+1) x + (c+2) y) + 0.7 c + 0.1 seed) · cos(3π (x − y)(c+1)),  x and y from 0 to 1
//! ```
//! `mix` and `fnv1a64` are those of [`crate::rng`]. Everything but the picture is f32, with one
//! rounding for each operation.
//!
//! ```
//! use engine::formula::Formula;
//! use engine::parameters::{Parameters, vector};
//! let mut source = Formula::new(0, [("norm.weight".to_owned(), vec![3]), ("wte.weight".to_owned(), vec![4, 2])]);
//! assert_eq!(source.shape("wte.weight"), Some(vec![4, 2]));
//! assert!(vector(&mut source, "norm.weight", 3)?.iter().all(|w| (w - 1.0).abs() <= 0.1));
//! # Ok::<(), engine::EngineError>(())
//! ```

use crate::error::{EngineError, Result};
use crate::math::double;
use crate::parameters::Parameters;
use crate::rng::{Rng, fnv1a64};
use ndarray::{Array3, ArrayD, IxDyn};
use std::collections::BTreeMap;
use std::f64::consts::PI;

/// Parameters filled by the formula: names with shapes, and a seed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Formula {
    seed: u64,
    shapes: BTreeMap<String, Vec<usize>>,
}

impl Formula {
    /// A source of the parameters in `shapes`, each rows first.
    pub fn new(seed: u64, shapes: impl IntoIterator<Item = (String, Vec<usize>)>) -> Self {
        Self {
            seed,
            shapes: shapes.into_iter().collect(),
        }
    }
}

impl Parameters for Formula {
    fn names(&self) -> Vec<String> {
        self.shapes.keys().cloned().collect()
    }

    fn shape(&self, name: &str) -> Option<Vec<usize>> {
        self.shapes.get(name).cloned()
    }

    fn read(&mut self, name: &str) -> Result<ArrayD<f32>> {
        let error = |expected: &str, found: String| EngineError::Parameter {
            name: name.to_owned(),
            expected: expected.to_owned(),
            found,
        };
        let shape = self.shapes.get(name);
        let shape = shape.ok_or_else(|| error("a tensor", "none".to_owned()))?;
        let count = shape
            .iter()
            .try_fold(1usize, |n, &axis| n.checked_mul(axis));
        let count = count.filter(|&n| n <= isize::MAX as usize / size_of::<f32>());
        let count =
            count.ok_or_else(|| error("a tensor that memory can hold", format!("{shape:?}")))?;
        let data = fill(name, shape.len(), count, self.seed);
        ArrayD::from_shape_vec(IxDyn(shape), data)
            .map_err(|_| error("a shape", format!("{shape:?}")))
    }
}

/// The first `count` elements of the parameter `name`, which has `axes` axes.
pub fn fill(name: &str, axes: usize, count: usize, seed: u64) -> Vec<f32> {
    // -> [count]
    let start = fnv1a64(name).wrapping_add(seed);
    let scale = name.ends_with("weight") || name.ends_with("lambda1");
    let draws = (0..count as u64).map(|i| {
        // The first draw of a stream adds the step and mixes.
        let z = Rng::new(start.wrapping_add(i)).next_u64();
        (z >> 40) as f32 / 8_388_608.0 - 1.0
    });
    match axes {
        2.. => draws.map(|u| 0.08 * u).collect(),
        1 if scale => draws.map(|u| 1.0 + 0.1 * u).collect(),
        _ => draws.map(|u| 0.05 * u).collect(),
    }
}

/// A smooth square picture, already normalised.
pub fn image(size: usize, seed: u64) -> Array3<f32> {
    // -> [3, size, size]: channel, row, column
    Array3::from_shape_fn((3, size, size), |(c, row, column)| {
        let (x, y) = (column as f64 / size as f64, row as f64 / size as f64);
        let c = c as f64;
        let wave = 2.0 * PI * ((c + 1.0) * x + (c + 2.0) * y) + 0.7 * c + 0.1 * seed as f64;
        (double::sin(wave) * double::cos(3.0 * PI * (x - y) * (c + 1.0))) as f32
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WTE: [f32; 3] = [-0.041529693, 0.05503313, 0.02884365];
    const LN_F: [f32; 3] = [1.0334241, 0.9781713, 1.0224773];
    const LAMBDA: [f32; 2] = [1.0726708, 0.9284397];
    const BIAS: [f32; 3] = [0.03324607, 0.044348557, 0.0052461564];
    const IMAGE: [f32; 3] = [0.29552022, -0.075548284, 0.15999869];

    /// Values that `make_reference.py`'s `fill` gives.
    #[test]
    fn the_fill_is_that_of_the_reference_script() {
        assert_eq!(fill("transformer.wte.weight", 2, 3, 0), WTE);
        assert_eq!(fill("transformer.ln_f.weight", 1, 3, 5), LN_F);
        assert_eq!(fill("layer.lambda1", 1, 2, 0), LAMBDA);
        assert_eq!(fill("transformer.ln_f.bias", 1, 3, u64::MAX), BIAS);
    }

    #[test]
    fn the_picture_is_that_of_the_reference_script() {
        let picture = image(7, 3);
        let found = [picture[[0, 0, 0]], picture[[1, 2, 5]], picture[[2, 6, 1]]];
        assert!(
            found.iter().zip(IMAGE).all(|(a, b)| (a - b).abs() < 1e-7),
            "{found:?}"
        );
    }

    #[test]
    fn absurd_shapes_and_unknown_names_are_refused() {
        let mut source = Formula::new(0, [("big".to_owned(), vec![usize::MAX, 8])]);
        let error = source.read("big").unwrap_err().to_string();
        assert!(error.starts_with("parameter big: expected a tensor that memory can hold"));
        let error = source.read("x").unwrap_err().to_string();
        assert_eq!(error, "parameter x: expected a tensor, found none");
    }
}
