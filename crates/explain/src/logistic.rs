//! A logistic head: two classes told apart by one weighted sum of the features, trained by gradient
//! descent.
//!
//! ```text
//! p = σ(w · x + b)                       x [C] -> the probability of class 1
//! loss = mean of −ln of what the right class got
//! w −= rate · mean((p − y) x)            y is 1 or 0
//! b −= rate · mean(p − y)
//! ```
//!
//! ```
//! use explain::logistic::LogisticHead;
//! use ndarray::array;
//! let (x, y) = (array![[1.0, 0.0], [-1.0, 0.5]], [1.0, 0.0]);
//! let mut head = LogisticHead::new(2);
//! let before = head.step(x.view(), &y, 0.5)?;
//! assert!(head.step(x.view(), &y, 0.5)? < before);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Bishop 2006, "Pattern recognition and machine learning", section 4.3.2.

use engine::error::Result;
use engine::nn::softmax::softmax;
use engine::shape::mismatch;
use engine::{kernel, math};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, array};

/// The head.
#[derive(Debug, Clone, PartialEq)]
pub struct LogisticHead {
    /// `[C]`: the weights of the features.
    pub weights: Array1<f32>,
    /// The bias.
    pub bias: f32,
}

impl LogisticHead {
    /// A head of zeros, which gives both classes one half.
    pub fn new(features: usize) -> Self {
        Self {
            weights: Array1::zeros(features),
            bias: 0.0,
        }
    }

    /// The probability of class 1 for each row.
    ///
    /// # Errors
    /// When the rows have another length than the weights.
    pub fn probabilities(&self, x: ArrayView2<'_, f32>) -> Result<Array1<f32>> {
        // x [N, C] -> [N]
        if x.ncols() != self.weights.len() {
            let expected = "a feature for each weight";
            return Err(mismatch(
                "logistic",
                expected,
                x.shape(),
                self.weights.shape(),
            ));
        }
        let weights = self.weights.to_vec();
        let logit = |row: ArrayView1<'_, f32>| kernel::dot(&row.to_vec(), &weights) + self.bias;
        Ok(x.rows().into_iter().map(|row| sigma(logit(row))).collect())
    }

    /// One step of gradient descent on the mean loss of the rows, whose classes `y` are 1 or 0.
    /// Returns the loss before it, in nats.
    ///
    /// # Errors
    /// As [`Self::probabilities`], and when there is not one class for each row.
    pub fn step(&mut self, x: ArrayView2<'_, f32>, y: &[f32], rate: f32) -> Result<f32> {
        // x [N, C], y [N] -> scalar
        let p = self.probabilities(x)?;
        if y.len() != p.len() {
            return Err(mismatch(
                "logistic",
                "a class for each row",
                x.shape(),
                &[y.len()],
            ));
        }
        let (count, mut loss) = (y.len().max(1) as f32, 0.0);
        for (row, (&p, &y)) in x.rows().into_iter().zip(p.iter().zip(y)) {
            let slope = (p - y) / count;
            self.weights.scaled_add(-rate * slope, &row);
            self.bias -= rate * slope;
            loss -= math::ln((1.0 - (p - y).abs()).max(f32::MIN_POSITIVE)) / count;
        }
        Ok(loss)
    }
}

/// Centres every column by its mean over the first `rows` rows and divides it by its standard
/// deviation there. A column that is constant there becomes 0, and stays out.
pub fn standardised(x: ArrayView2<'_, f32>, rows: usize) -> Array2<f32> {
    // x [N, C] -> [N, C]
    let mut out = x.to_owned();
    for mut column in out.axis_iter_mut(Axis(1)) {
        let count = rows.clamp(1, column.len().max(1)) as f32;
        let known = || column.iter().take(rows);
        let mean = known().sum::<f32>() / count;
        let variance = known().map(|v| (v - mean) * (v - mean)).sum::<f32>() / count;
        let deviation = math::sqrt(variance);
        // What is left of a constant by rounding is no spread.
        let scale = if deviation > 1e-5 {
            1.0 / deviation
        } else {
            0.0
        };
        column.mapv_inplace(|v| (v - mean) * scale);
    }
    out
}

/// `1 / (1 + exp(−z))`, the first weight of the softmax of z and 0.
fn sigma(z: f32) -> f32 {
    softmax(array![z, 0.0].view())[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The steps follow the gradient of the loss: compared with central differences.
    #[test]
    fn a_step_follows_the_gradient() {
        let x = engine::rng::normal_matrix(1, "x", 6, 3, 1.0);
        let y = [1.0, 0.0, 0.0, 1.0, 1.0, 0.0];
        let start = LogisticHead {
            weights: array![0.3, -0.2, 0.5],
            bias: 0.1,
        };
        let mut moved = start.clone();
        moved.step(x.view(), &y, 1.0).unwrap();
        for n in 0..4 {
            let loss = |by: f32| {
                let mut head = start.clone();
                match head.weights.get_mut(n) {
                    Some(weight) => *weight += by,
                    None => head.bias += by,
                }
                head.step(x.view(), &y, 0.0).unwrap()
            };
            let slope = (loss(1e-2) - loss(-1e-2)) / 2e-2;
            let step = match n {
                3 => start.bias - moved.bias,
                n => start.weights[n] - moved.weights[n],
            };
            assert!((slope - step).abs() < 1e-3, "{n}: {slope} {step}");
        }
    }

    #[test]
    fn before_training_both_classes_get_one_half() {
        let mut head = LogisticHead::new(2);
        let x = array![[1.0, 2.0], [3.0, -4.0]];
        assert_eq!(head.probabilities(x.view()), Ok(array![0.5, 0.5]));
        let loss = head.step(x.view(), &[1.0, 0.0], 0.1).unwrap();
        assert!((loss - std::f32::consts::LN_2).abs() < 1e-6);
        assert!(head.step(x.view(), &[1.0], 0.1).is_err());
        assert!(head.probabilities(array![[1.0]].view()).is_err());
    }

    #[test]
    fn columns_are_centred_on_the_first_rows() {
        let x = array![[1.0, 5.0], [3.0, 5.0], [9.0, 7.0]];
        let found = standardised(x.view(), 2);
        assert_eq!(found.column(0), array![-1.0, 1.0, 7.0]);
        assert_eq!(found.column(1), array![0.0, 0.0, 0.0]);
    }
}
