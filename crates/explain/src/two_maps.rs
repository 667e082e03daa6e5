//! A search for another attention map with the same output.
//!
//! ```text
//! w = softmax(e)      y = w · V                                   e [T], V [T, 2] -> w [T], y [2]
//! u = softmax(z), z = e at first
//! each step:   z ← z + a step along ∂|u − w|²/∂z, less its part along ∂y₁/∂z and ∂y₂/∂z
//!              z ← z − Jᵀ (J Jᵀ)⁻¹ (u · V − y), J [2, T] the two gradients: back to the output
//! ```
//! The first step goes in a random direction, since |u − w|² has no slope at u = w. Gradients are the
//! tape's. Where there are more tokens than numbers in the output plus one, such a direction is there
//! as long as enough weights are above zero.
//!
//! ```
//! use explain::two_maps::search;
//! use ndarray::array;
//! let values = array![[0.9, 0.6], [-0.8, 0.7], [0.2, -0.9], [-0.6, -0.5], [0.5, 0.1]];
//! let found = search(array![1.0, 0.2, 0.4, -0.5, 0.8].view(), values.view(), 1, 20)?;
//! assert!(found.distances[20] > 0.1 && found.differences[20] < 1e-5);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Jain and Wallace 2019, "Attention is not explanation", section 4.2 (adversarial
//! attention); Rosen 1960, "The gradient projection method for nonlinear programming"; Brunner et al.
//! 2020, "On identifiability in Transformers", section 3.

use engine::error::Result;
use engine::grad::{Gradients, Settings, Tape, Var, gradients};
use engine::math::double;
use engine::nn::attention::mix_values;
use engine::nn::compute::Compute;
use engine::nn::softmax::softmax;
use engine::rng::normal_matrix;
use engine::shape::expect;
use engine::trainable::{self, Kind, Trainable, Visit};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};

/// Length of a step, in scores.
const STEP: f32 = 0.15;

/// Times that a step is brought back to the output.
const RETURNS: usize = 3;

/// The smallest share of a direction that is worth a step.
const LEAST_FREE: f64 = 1e-3;

/// The longest way back.
const LONGEST_RETURN: f64 = 1.0;

/// The way from the given map to another one.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    /// `[T]`: w.
    pub given: Array1<f32>,
    /// `[2]`: y.
    pub output: Array1<f32>,
    /// `[N + 1, T]`: u after each step.
    pub maps: Array2<f32>,
    /// `[N + 1, 2]`: u · V after each step.
    pub outputs: Array2<f32>,
    /// `[N + 1]`: the share of the weight that u puts elsewhere, half the sum of |u − w|.
    pub distances: Vec<f32>,
    /// `[N + 1]`: the largest difference between u · V and y.
    pub differences: Vec<f32>,
}

/// The map that is moved.
struct Map {
    /// `[1, T]`: z.
    scores: Array2<f32>,
    /// `[1, T]`: −w.
    minus_given: Array2<f32>,
    /// `[T, 2]`.
    values: Array2<f32>,
}

impl Trainable for Map {
    fn parameters(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        trainable::array(&mut self.scores, "scores", Kind::Bias, visit)
    }
}

impl Map {
    fn weights(&self) -> Array1<f32> {
        softmax(self.scores.row(0))
    }

    /// ∂|u − w|²/∂z.
    fn away(&mut self) -> Result<Array1<f32>> {
        self.slope(|map, tape, weights| {
            let minus = tape.constant(map.minus_given.view());
            let moved = tape.add(weights, &minus)?;
            let squares = tape.multiply(moved, &moved)?;
            tape.weighted_sum(&squares, &vec![1.0; map.values.nrows()])
        })
    }

    /// ∂y_k/∂z.
    fn of_output(&mut self, k: usize) -> Result<Array1<f32>> {
        self.slope(|map, tape, weights| {
            let values = tape.constant(map.values.view());
            let output = tape.product(&weights, &values)?;
            let picked = [0, 1].map(|n| if n == k { 1.0 } else { 0.0 });
            tape.weighted_sum(&output, &picked)
        })
    }

    /// The gradient of a number that is computed from the weights.
    fn slope(
        &mut self,
        number: impl FnOnce(&Self, &mut Tape, Var) -> Result<Var>,
    ) -> Result<Array1<f32>> {
        let settings = Settings::same_bits();
        let (_, found): (f32, Gradients) = gradients(self, &settings, |map, tape: &mut Tape| {
            let scores = tape.lookup(&map.scores, &[0])?;
            let weights = tape.softmax(&scores);
            number(map, tape, weights)
        })?;
        Ok(found.get("scores").unwrap_or_default().to_vec().into())
    }

    /// J: the gradients of both numbers of the output.
    fn jacobian(&mut self) -> Result<[Array1<f32>; 2]> {
        Ok([self.of_output(0)?, self.of_output(1)?])
    }

    /// Moves the scores along a direction as far as it leaves the output alone.
    fn move_along(&mut self, direction: Array1<f32>) -> Result<()> {
        let wished = dot(&direction, &direction);
        let rows = self.jacobian()?;
        let along = [&rows[0], &rows[1]].map(|row| dot(row, &direction));
        let part = combined(&rows, solve(&rows, along));
        let free = direction - part;
        let length = double::sqrt(dot(&free, &free));
        // What is left of a direction that cannot be taken is rounding.
        if length > LEAST_FREE * double::sqrt(wished) {
            let factor = STEP / length as f32;
            self.scores.row_mut(0).scaled_add(factor, &free);
        }
        Ok(())
    }

    /// Moves the scores back to where the output is `output`.
    fn return_to(&mut self, output: &Array1<f32>) -> Result<()> {
        let rows = self.jacobian()?;
        let now = output_of(&self.weights(), self.values.view())?;
        let missing = [0, 1].map(|k| f64::from(now[k]) - f64::from(output[k]));
        let way = combined(&rows, solve(&rows, missing));
        let length = double::sqrt(dot(&way, &way));
        let factor = (LONGEST_RETURN / length.max(1e-12)).min(1.0) as f32;
        self.scores.row_mut(0).scaled_add(-factor, &way);
        Ok(())
    }
}

fn dot(a: &Array1<f32>, b: &Array1<f32>) -> f64 {
    let products = a.iter().zip(b).map(|(&x, &y)| f64::from(x) * f64::from(y));
    products.sum()
}

/// (J Jᵀ)⁻¹ b. A tiny number on the diagonal keeps it finite where the two gradients are parallel.
fn solve(rows: &[Array1<f32>; 2], b: [f64; 2]) -> [f64; 2] {
    let (p, q, r) = (
        dot(&rows[0], &rows[0]),
        dot(&rows[0], &rows[1]),
        dot(&rows[1], &rows[1]),
    );
    let ridge = 1e-9 * (p + r) + 1e-20;
    let (p, r) = (p + ridge, r + ridge);
    let determinant = p * r - q * q;
    [
        (r * b[0] - q * b[1]) / determinant,
        (p * b[1] - q * b[0]) / determinant,
    ]
}

/// Jᵀ · c.
fn combined(rows: &[Array1<f32>; 2], c: [f64; 2]) -> Array1<f32> {
    let [first, second] = c.map(|x| x as f32);
    &rows[0] * first + &rows[1] * second
}

/// w · V.
fn output_of(weights: &Array1<f32>, values: ArrayView2<'_, f32>) -> Result<Array1<f32>> {
    let row = weights.view().insert_axis(Axis(0));
    Ok(mix_values(row, values)?.index_axis_move(Axis(0), 0))
}

/// The map of the scores, and `steps` steps away from it whose output stays the same. Another seed
/// takes another first step.
///
/// # Errors
/// When there is not one score for each value, or a value has not two numbers.
pub fn search(
    scores: ArrayView1<'_, f32>,
    values: ArrayView2<'_, f32>,
    seed: u64,
    steps: usize,
) -> Result<Search> {
    // scores [T], values [T, 2] -> maps [N + 1, T]
    let count = scores.len();
    expect("search", "values", &[count, 2], values.shape())?;
    let given = softmax(scores);
    let output = output_of(&given, values)?;
    let mut map = Map {
        scores: scores.to_owned().insert_axis(Axis(0)),
        minus_given: given.mapv(|w| -w).insert_axis(Axis(0)),
        values: values.to_owned(),
    };
    let mut way = Search {
        maps: Array2::zeros((steps + 1, count)),
        outputs: Array2::zeros((steps + 1, 2)),
        distances: Vec::new(),
        differences: Vec::new(),
        given,
        output,
    };
    for n in 0..=steps {
        if n > 0 {
            let direction = match n {
                1 => first_direction(seed, count),
                _ => map.away()?,
            };
            map.move_along(direction)?;
            for _ in 0..RETURNS {
                map.return_to(&way.output)?;
            }
        }
        way.note(n, &map.weights(), values)?;
    }
    Ok(way)
}

/// A random direction in which the scores do not all grow by the same, which would change no weight.
fn first_direction(seed: u64, count: usize) -> Array1<f32> {
    let drawn = normal_matrix(seed, "direction", 1, count, 1.0);
    let mean = drawn.sum() / count.max(1) as f32;
    drawn.row(0).mapv(|x| x - mean)
}

impl Search {
    /// Keeps the map after step `n`.
    fn note(&mut self, n: usize, map: &Array1<f32>, values: ArrayView2<'_, f32>) -> Result<()> {
        let output = output_of(map, values)?;
        let moved: f32 = (map - &self.given).mapv(f32::abs).sum();
        self.distances.push(moved / 2.0);
        let away = (&output - &self.output).mapv(f32::abs);
        self.differences
            .push(away.fold(0.0, |most: f32, &d| most.max(d)));
        self.maps.row_mut(n).assign(map);
        self.outputs.row_mut(n).assign(&output);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Slice, arr1, arr2};

    fn values() -> Array2<f32> {
        arr2(&[
            [0.9, 0.6],
            [-0.8, 0.7],
            [0.2, -0.9],
            [-0.6, -0.5],
            [0.5, 0.1],
            [-0.1, 0.3],
        ])
    }

    fn scores() -> Array1<f32> {
        arr1(&[1.5, 0.2, 0.4, -0.5, 0.8, 0.0])
    }

    /// The maps move apart, and the output stays.
    #[test]
    fn another_map_has_the_same_output() {
        for seed in 0..10 {
            let found = search(scores().view(), values().view(), seed, 60).unwrap();
            assert_eq!((found.distances[0], found.differences[0]), (0.0, 0.0));
            let last = found.distances[60];
            assert!(last > 0.2, "{seed}: {last}");
            let most = found.differences.iter().fold(0.0, |m: f32, &d| m.max(d));
            assert!(most < 1e-5, "{seed}: {most}");
            for row in found.maps.outer_iter() {
                assert!((row.sum() - 1.0).abs() < 1e-5 && row.iter().all(|&w| w >= 0.0));
            }
        }
    }

    /// Three values that are not in one line: the weights follow from the output.
    #[test]
    fn three_tokens_have_only_one_map() {
        let three = Slice::from(..3);
        let (scores, values) = (scores(), values());
        let first = (
            scores.slice_axis(Axis(0), three),
            values.slice_axis(Axis(0), three),
        );
        let found = search(first.0, first.1, 1, 40).unwrap();
        let most = found.distances.iter().fold(0.0, |m: f32, &d| m.max(d));
        assert!(most < 1e-3, "{most}");
    }

    /// Values in one line, and values that are all equal, give finite numbers too.
    #[test]
    fn values_in_a_line_do_not_divide_by_zero() {
        for step in [0.0, 0.3] {
            let values = Array2::from_shape_fn((6, 2), |(t, _)| step * t as f32);
            let found = search(scores().view(), values.view(), 3, 30).unwrap();
            assert!(found.maps.iter().all(|w| w.is_finite()));
        }
    }
}
