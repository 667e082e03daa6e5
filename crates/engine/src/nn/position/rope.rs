//! The rotary positions of a model: the planes, their angular speeds, and the scaling for longer
//! texts.
//!
//! ```text
//! θᵢ = base^(−2i/D), then scaled                                           i = 0 … D/2 − 1
//! (a, b) -> (a cos mθᵢ − b sin mθᵢ,  a sin mθᵢ + b cos mθᵢ)                in each head of q and k [T, H·D], m the token's position
//! linear:  θ / factor
//! Llama 3: λ = 2π/θ;  λ < L/high: θ;  λ > L/low: θ / factor;  between: (1 − s) θ/factor + s θ,  s = (L/λ − low) / (high − low)
//! YaRN:    (1 − s) θ + s θ/factor,  s = (i − a) / (b − a) from 0 to 1,  a, b: the planes that turn β_fast, β_slow times in L
//! LongRoPE: θ / shortᵢ, or θ / longᵢ while a text of more than L tokens is read
//! ```
//! With YaRN and LongRoPE the rotated numbers are also multiplied by a factor, so scores by its
//! square.
//!
//! Sines and cosines are computed once for all heads and layers; the crate `explain` has the
//! same rotation of one matrix, for lessons.
//!
//! ```
//! use engine::nn::position::rope::{Pairing, Rope, Scaling};
//! use ndarray::array;
//! let rope = Rope { width: 2, base: 10_000.0, pairing: Pairing::Neighbours, scaling: Scaling::None };
//! let mut q = array![[1.0_f32, 0.0, 0.0, 1.0]]; // Two heads of one plane each.
//! rope.table(&[5])?.apply(&mut q, 2)?;
//! let (sin, cos) = (5.0_f64.sin(), 5.0_f64.cos()); // θ₀ = 1, so position 5 rotates by 5 radians.
//! let expected = [cos, sin, -sin, cos];
//! assert!(q.iter().zip(expected).all(|(&a, b)| (f64::from(a) - b).abs() < 1e-6));
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Su et al. 2021, "RoFormer", equation 34; Chen et al. 2023, "Extending context window of
//! large language models via positional interpolation", equation 4; Peng et al. 2023, "YaRN",
//! equations 17 to 22; Ding et al. 2024, "LongRoPE", equation 1. Hugging Face transformers'
//! `modeling_rope_utils.py` for `rope_type: llama3`; for YaRN's ramp, which is even over the numbers
//! of the planes, where the paper's equation 18 has one over their turns, for its bounds and their
//! rounding to whole planes; and for the text's length that LongRoPE goes by.

use crate::error::{EngineError, Result};
use crate::math::double;
use crate::shape::expect;
use ndarray::Array2;
use std::f64::consts::TAU;

/// The pairs of numbers of a row that are planes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairing {
    /// (x_{2i}, x_{2i+1}): the paper, llama2.c, and Llama in GGUF files.
    Neighbours,
    /// (x_i, x_{i+D/2}): Llama in the Hugging Face format, Qwen2 in GGUF files too.
    Halves,
}

impl Pairing {
    /// The two elements of plane `i`.
    fn elements(self, i: usize, planes: usize) -> (usize, usize) {
        match self {
            Self::Neighbours => (2 * i, 2 * i + 1),
            Self::Halves => (i, i + planes),
        }
    }
}

/// A scaling of the angles for longer texts than the model was trained on.
#[derive(Debug, Clone, PartialEq)]
pub enum Scaling {
    /// No scaling.
    None,
    /// Every plane rotates `factor` times slower.
    Linear {
        /// Above 0.
        factor: f32,
    },
    /// Slow planes rotate `factor` times slower, fast ones as before.
    Llama3 {
        /// Above 0.
        factor: f32,
        /// Waves longer than `original_context` / `low` are slow.
        low: f32,
        /// Waves shorter than `original_context` / `high` are fast.
        high: f32,
        /// L, the length of the texts before stretching.
        original_context: usize,
    },
    /// Planes that turn less than `slow` times in L rotate `factor` times slower, those that turn
    /// more than `fast` times as before, and those between by an even ramp over the planes.
    Yarn {
        /// Above 0.
        factor: f32,
        /// β_fast, turns; 32 in the paper.
        fast: f32,
        /// β_slow, turns; 1 in the paper.
        slow: f32,
        /// L, the length of the texts before stretching.
        original_context: usize,
        /// True where the ramp begins and ends at whole planes.
        truncate: bool,
        /// Factor of queries and keys after rotation, √(1/t) in the paper: 0.1 ln(factor) + 1.
        attention: f32,
    },
    /// Divisors for short texts and for long ones. All tokens that are read at once go by the last
    /// position among them, as in transformers: keys that are cached when a text grows past L stay
    /// as they are.
    LongRope {
        /// One for each plane, while a text has at most L tokens.
        short: Vec<f32>,
        /// One for each plane, while it has more.
        long: Vec<f32>,
        /// L, the length of the texts before stretching.
        original_context: usize,
        /// Factor of queries and keys after rotation.
        attention: f32,
    },
    /// Plane i rotates `divisors[i]` times slower (GGUF's `rope_freqs.weight`).
    Divisors(Vec<f32>),
}

impl Scaling {
    /// The factor of queries and keys after rotation.
    fn attention(&self) -> f32 {
        match self {
            Self::Yarn { attention, .. } | Self::LongRope { attention, .. } => *attention,
            _ => 1.0,
        }
    }
}

/// The rotary positions of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Rope {
    /// Numbers of each head that are rotated, from the first on; even.
    pub width: usize,
    /// Above 0; 10,000 in the paper.
    pub base: f32,
    /// The pairs of numbers that make a plane.
    pub pairing: Pairing,
    /// Scaling of the angles.
    pub scaling: Scaling,
}

/// Cosine and sine of each token's angle in each plane, times the factor of the scaling.
#[derive(Debug, Clone, PartialEq)]
pub struct RotaryTable {
    /// `[T, D/2]`.
    pub cos: Array2<f32>,
    /// `[T, D/2]`.
    pub sin: Array2<f32>,
    pairing: Pairing,
}

impl Rope {
    /// Checks the sizes, without the memory that the speeds of all planes take.
    ///
    /// # Errors
    /// When the width is odd, the base or a factor is not above 0, or there is not one divisor for
    /// each plane.
    pub fn check(&self) -> Result<()> {
        let positive = |argument: &'static str, value: f32| match value > 0.0 && value.is_finite() {
            true => Ok(()),
            false => Err(EngineError::value(
                "rope",
                argument,
                "above 0 and finite",
                value,
            )),
        };
        let all_positive = |divisors: &[f32]| {
            let planes = self.width / 2;
            expect("rope", "divisors", &[planes], &[divisors.len()])?;
            let mut all = divisors.iter();
            all.try_for_each(|&divisor| positive("divisor", divisor))
        };
        if !self.width.is_multiple_of(2) {
            return Err(EngineError::value("rope", "width", "even", self.width));
        }
        positive("base", self.base)?;
        positive("attention", self.scaling.attention())?;
        match &self.scaling {
            Scaling::None => Ok(()),
            Scaling::Linear { factor } => positive("factor", *factor),
            Scaling::Llama3 {
                factor, low, high, ..
            } => {
                positive("factor", *factor)?;
                positive("low", *low)?;
                positive("high", *high)
            }
            Scaling::Yarn {
                factor, fast, slow, ..
            } => {
                positive("factor", *factor)?;
                positive("fast", *fast)?;
                positive("slow", *slow)
            }
            Scaling::LongRope { short, long, .. } => {
                all_positive(short)?;
                all_positive(long)
            }
            Scaling::Divisors(divisors) => all_positive(divisors),
        }
    }

    /// θᵢ of each plane after scaling, in radians a position, in a text of `length` tokens; only
    /// LongRoPE goes by the length.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub fn angular(&self, length: usize) -> Result<Vec<f64>> {
        // -> [D / 2]
        self.check()?;
        let base = f64::from(self.base);
        let plain = (0..self.width / 2).map(|i| plain_angular(i, self.width, base));
        let divided = |divisors: &[f32]| {
            let all = plain.clone().zip(divisors);
            all.map(|(theta, &divisor)| theta / f64::from(divisor))
                .collect()
        };
        Ok(match &self.scaling {
            Scaling::None => plain.collect(),
            Scaling::Linear { factor } => {
                let factor = f64::from(*factor);
                plain.map(|theta| theta / factor).collect()
            }
            Scaling::Llama3 {
                factor,
                low,
                high,
                original_context,
            } => {
                let [factor, low, high] = [factor, low, high].map(|&value| f64::from(value));
                let length = *original_context as f64;
                let scaled = plain.map(|theta| {
                    let waves = length * theta / TAU;
                    if waves > high {
                        theta
                    } else if waves < low {
                        theta / factor
                    } else {
                        let smooth = (waves - low) / (high - low);
                        (1.0 - smooth) * theta / factor + smooth * theta
                    }
                });
                scaled.collect()
            }
            Scaling::Yarn {
                factor,
                fast,
                slow,
                original_context,
                truncate,
                ..
            } => {
                let [factor, fast, slow] = [factor, fast, slow].map(|&value| f64::from(value));
                // The plane that turns so many times in L, as a fraction.
                let plane = |turns: f64| {
                    let (length, width) = (*original_context as f64, self.width as f64);
                    width * double::ln(length / (turns * TAU)) / (2.0 * double::ln(base))
                };
                let (mut first, mut last) = (plane(fast), plane(slow));
                if *truncate {
                    (first, last) = (first.floor(), last.ceil());
                }
                (first, last) = (first.max(0.0), last.min(self.width as f64 - 1.0));
                if first == last {
                    last += 0.001;
                }
                let scaled = plain.enumerate().map(|(i, theta)| {
                    let ramp = ((i as f64 - first) / (last - first)).clamp(0.0, 1.0);
                    (1.0 - ramp) * theta + ramp * theta / factor
                });
                scaled.collect()
            }
            Scaling::LongRope {
                short,
                long,
                original_context,
                ..
            } => divided(match length > *original_context {
                true => long,
                false => short,
            }),
            Scaling::Divisors(divisors) => divided(divisors),
        })
    }

    /// Cosines and sines of tokens at these positions.
    ///
    /// # Errors
    /// As [`Self::angular`].
    pub fn table(&self, positions: &[usize]) -> Result<RotaryTable> {
        // positions [T] -> cos, sin [T, D/2]
        let length = positions.iter().max().map_or(0, |last| last + 1);
        self.at(positions.len(), length, |t| positions[t] as f64)
    }

    /// As [`Self::table`], at positions that need not be whole numbers, such as interpolated ones.
    ///
    /// # Errors
    /// As [`Self::angular`].
    pub fn table_at(&self, positions: &[f32]) -> Result<RotaryTable> {
        // positions [T] -> cos, sin [T, D/2]
        let last = positions.iter().fold(-1.0_f32, |a, &b| a.max(b));
        self.at(positions.len(), (last + 1.0) as usize, |t| {
            f64::from(positions[t])
        })
    }

    fn at(
        &self,
        tokens: usize,
        length: usize,
        position: impl Fn(usize) -> f64,
    ) -> Result<RotaryTable> {
        let angular = self.angular(length)?;
        let angle = |(t, i): (usize, usize)| position(t) * angular[i];
        let dim = (tokens, angular.len());
        // A factor of 1 changes no bit.
        let factor = self.scaling.attention();
        Ok(RotaryTable {
            cos: Array2::from_shape_fn(dim, |at| factor * double::cos(angle(at)) as f32),
            sin: Array2::from_shape_fn(dim, |at| factor * double::sin(angle(at)) as f32),
            pairing: self.pairing,
        })
    }
}

/// base^(−2i/D), the speed of plane i before any scaling.
pub fn plain_angular(i: usize, width: usize, base: f64) -> f64 {
    double::pow(base, -2.0 * i as f64 / width as f64)
}

impl RotaryTable {
    /// Rotates the first numbers of each head of each token.
    ///
    /// # Errors
    /// When there is not one row for each token, or heads of `head_width` do not fill it or are
    /// narrower than the rotated part.
    pub fn apply(&self, x: &mut Array2<f32>, head_width: usize) -> Result<()> {
        // x [T, H·D]
        let (tokens, planes) = self.cos.dim();
        expect("rope", "rows", &[tokens, x.ncols()], x.shape())?;
        if head_width < 2 * planes || head_width == 0 || !x.ncols().is_multiple_of(head_width) {
            let expected = format!("heads of {head_width}, at least {}", 2 * planes);
            let found = format!("{:?}", x.shape());
            return Err(EngineError::shape("rope", expected, found));
        }
        for (t, mut row) in x.rows_mut().into_iter().enumerate() {
            for head in (0..row.len()).step_by(head_width) {
                for i in 0..planes {
                    let (first, second) = self.pairing.elements(i, planes);
                    let (first, second) = (head + first, head + second);
                    let (cos, sin) = (self.cos[[t, i]], self.sin[[t, i]]);
                    let (a, b) = (row[first], row[second]);
                    row[first] = a * cos - b * sin;
                    row[second] = a * sin + b * cos;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rope(scaling: Scaling) -> Rope {
        Rope {
            width: 8,
            base: 500_000.0,
            pairing: Pairing::Halves,
            scaling,
        }
    }

    /// The formula of transformers' `_compute_llama3_parameters` in Python, with Llama 3.2's
    /// settings at head width 8.
    const LLAMA3: [f64; 4] = [
        1.0,
        0.037_606_030_930_863_93,
        0.000_429_556_796_559_368_15,
        1.661_967_467_795_309e-6,
    ];

    #[test]
    fn scalings_are_those_of_the_published_models() {
        let plain = rope(Scaling::None).angular(0).unwrap();
        let half = rope(Scaling::Linear { factor: 2.0 }).angular(0).unwrap();
        assert!(plain.iter().zip(&half).all(|(a, b)| a / 2.0 == *b));
        let llama3 = Scaling::Llama3 {
            factor: 32.0,
            low: 1.0,
            high: 4.0,
            original_context: 8192,
        };
        let found = rope(llama3).angular(0).unwrap();
        for (found, expected) in found.iter().zip(LLAMA3) {
            assert!((found / expected - 1.0).abs() < 1e-6, "{found}, {expected}");
        }
        let divisors = Scaling::Divisors(vec![1.0, 1.0, 2.0, 4.0]);
        let found = rope(divisors).angular(0).unwrap();
        assert_eq!(found, [plain[0], plain[1], plain[2] / 2.0, plain[3] / 4.0]);
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(rope(Scaling::Linear { factor: 0.0 }).angular(0).is_err());
        assert!(rope(Scaling::Divisors(vec![1.0])).angular(0).is_err());
        assert!(
            Rope {
                width: 7,
                ..rope(Scaling::None)
            }
            .angular(0)
            .is_err()
        );
        assert!(
            Rope {
                base: f32::NAN,
                ..rope(Scaling::None)
            }
            .angular(0)
            .is_err()
        );
        let rotary = rope(Scaling::None).table(&[0]).unwrap();
        assert!(rotary.apply(&mut Array2::zeros((1, 12)), 6).is_err());
        assert!(rotary.apply(&mut Array2::zeros((1, 20)), 8).is_err());
        assert!(rotary.apply(&mut Array2::zeros((2, 8)), 8).is_err());
    }
}
