//! Digits that the code draws itself, as a hand would: strokes between a few control points, varied by
//! seeded random numbers, in the form of MNIST's digits.
//!
//! ```text
//! wobbled:  (u, v) = (x, y) / 100 − ½ + wobble · (n₁, n₂)              x to the right, y down, n₁ and n₂ normal draws
//! placed:   a = wide · u − slant · tall · v,  b = tall · v             [a, b] turned by `turn`, times 34, plus 28: pixels
//! curve:    the spline of Catmull and Rom through the points of a stroke, 8 straight lines from each to the next
//! ink:      clamp(pen + ½ − distance of the pixel's centre to the nearest line, 0, 1)                           [56, 56]
//! image:    drawing::centred(ink)                                                                           [1, 28, 28]
//! ```
//! Digit n has the label n mod 10. Its random numbers are those of the stream `digit.n` under seed 1, in
//! this order: which of the two shapes of its label, slant, turn, wide, tall, pen, and two for each control
//! point. A point that is given twice in a row is a corner, and wobbles as one. The ink has the same bits
//! natively and in wasm.
//!
//! ```
//! use explain::drawn_digits::digit;
//! let seven = digit(17)?;
//! assert_eq!((seven.label, seven.image.dim()), (7, (1, 28, 28)));
//! assert_eq!(seven, digit(17)?);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Sources: Catmull and Rom 1974, "A class of local interpolating splines"; LeCun et al. 1998,
//! "Gradient-based learning applied to document recognition", section III.A, for the form of the images.

use engine::drawing::centred;
use engine::error::Result;
use engine::math::double;
use engine::rng::Rng;
use ndarray::{Array2, Array3};

use crate::pen::{Point, SIDE as CANVAS, line};

/// A digit.
#[derive(Debug, Clone, PartialEq)]
pub struct Digit {
    /// What it is, 0 to 9.
    pub label: usize,
    /// `[1, 28, 28]`: 0 paper to 1 ink.
    pub image: Array3<f32>,
}

/// The strokes of a shape: x and y of each control point in turn, in hundredths of the unit square.
type Shape = &'static [&'static [u8]];

/// Two shapes for each label.
const SHAPES: [[Shape; 2]; 10] = [
    [
        &[&[
            50, 4, 24, 16, 12, 48, 20, 84, 46, 97, 76, 84, 88, 50, 78, 18, 50, 4, 40, 7,
        ]],
        &[&[
            62, 6, 36, 8, 20, 34, 20, 70, 38, 95, 62, 90, 78, 62, 78, 28, 62, 6, 56, 2,
        ]],
    ],
    [
        &[&[52, 2, 51, 35, 50, 66, 49, 98]],
        &[&[36, 20, 52, 4, 53, 4, 52, 35, 51, 66, 50, 98]],
    ],
    [
        &[&[
            18, 24, 34, 6, 60, 4, 76, 20, 70, 44, 46, 70, 18, 95, 18, 95, 50, 93, 86, 92,
        ]],
        &[&[
            20, 20, 44, 3, 72, 12, 72, 38, 48, 68, 24, 90, 14, 84, 26, 76, 50, 88, 86, 94,
        ]],
    ],
    [
        &[&[
            20, 14, 44, 3, 70, 12, 68, 34, 42, 47, 42, 47, 72, 56, 78, 78, 52, 97, 18, 88,
        ]],
        &[&[
            18, 8, 48, 4, 72, 10, 66, 30, 44, 46, 66, 52, 80, 72, 66, 92, 40, 97, 16, 86,
        ]],
    ],
    [
        &[
            &[30, 6, 24, 30, 18, 52, 18, 52, 48, 54, 84, 50],
            &[70, 8, 68, 40, 66, 70, 64, 98],
        ],
        &[
            &[64, 4, 42, 26, 14, 60, 14, 60, 48, 62, 88, 58],
            &[64, 4, 63, 36, 62, 68, 61, 98],
        ],
    ],
    [
        &[
            &[
                34, 8, 30, 26, 26, 44, 26, 44, 52, 38, 78, 54, 76, 82, 48, 97, 18, 88,
            ],
            &[34, 8, 56, 7, 82, 4],
        ],
        &[&[
            80, 6, 56, 7, 32, 10, 32, 10, 30, 26, 26, 44, 26, 44, 54, 42, 74, 62, 68, 88, 42, 97,
            16, 86,
        ]],
    ],
    [
        &[&[
            66, 3, 40, 24, 22, 56, 24, 84, 46, 97, 70, 88, 74, 66, 56, 54, 34, 64, 26, 78,
        ]],
        &[&[
            56, 3, 34, 30, 24, 64, 34, 92, 60, 96, 76, 78, 66, 58, 44, 58, 28, 74,
        ]],
    ],
    [
        &[&[14, 12, 48, 10, 82, 8, 82, 8, 64, 36, 50, 66, 42, 98]],
        &[
            &[16, 14, 46, 9, 80, 10, 80, 10, 66, 38, 54, 68, 46, 98],
            &[34, 54, 54, 52, 78, 50],
        ],
    ],
    [
        &[&[
            74, 16, 52, 3, 28, 14, 32, 36, 54, 50, 76, 68, 70, 92, 46, 98, 24, 86, 30, 64, 52, 48,
            72, 32, 74, 16, 68, 8,
        ]],
        &[&[
            50, 50, 28, 32, 34, 8, 62, 4, 74, 22, 52, 48, 28, 66, 26, 88, 50, 98, 74, 86, 70, 64,
            50, 50, 46, 46,
        ]],
    ],
    [
        &[&[
            76, 18, 52, 4, 26, 20, 26, 44, 48, 52, 70, 38, 76, 18, 76, 18, 74, 46, 70, 72, 66, 98,
        ]],
        &[&[
            74, 22, 56, 5, 30, 14, 24, 38, 44, 50, 66, 40, 74, 20, 74, 20, 76, 50, 70, 80, 46, 97,
            24, 88,
        ]],
    ],
];

/// The seed of all digits.
const SEED: u64 = 1;

/// The side of the unit square on the canvas, in pixels.
const UNIT: f64 = 34.0;

/// Straight lines from a control point to the next.
const LINES: u32 = 8;

/// Mean and standard deviation of the slant, in columns for each row.
const SLANT: (f64, f64) = (0.12, 0.17);

/// The standard deviation of the turn, in radians.
const TURN: f64 = 0.08;

/// The standard deviation by which a control point moves in each direction, in unit squares.
const WOBBLE: f64 = 0.025;

/// Lowest and highest factors of width and height.
const WIDE: (f32, f32) = (0.68, 1.06);
const TALL: (f32, f32) = (0.92, 1.08);

/// Least and greatest radius of the pen, in pixels of the canvas.
const PEN: (f32, f32) = (1.4, 2.6);

/// Digit `n`.
///
/// # Errors
/// None for the digits of this module, which all have ink.
pub fn digit(n: usize) -> Result<Digit> {
    // -> [1, 28, 28]
    let image = centred(ink(n).view())?;
    Ok(Digit {
        label: n % SHAPES.len(),
        image,
    })
}

/// The strokes of digit `n` on a canvas of [`crate::pen::SIDE`] pixels: points, x to the right and y down,
/// close enough together to be joined by straight lines.
pub fn strokes(n: usize) -> Vec<Vec<[f64; 2]>> {
    written(n).1
}

/// The radius of the pen of digit `n`, and its strokes.
fn written(n: usize) -> (f64, Vec<Vec<Point>>) {
    let mut rng = Rng::named(SEED, &format!("digit.{n}"));
    let shapes = &SHAPES[n % SHAPES.len()];
    let shape = shapes[rng.below(shapes.len())];
    let hand = Hand::drawn(&mut rng);
    let strokes = shape.iter();
    let strokes = strokes.map(|stroke| curve(&hand.points(stroke, &mut rng)));
    (hand.pen, strokes.collect())
}

/// The canvas of digit `n`, 0 paper to 1 ink.
fn ink(n: usize) -> Array2<f32> {
    // -> [CANVAS, CANVAS]
    let (pen, strokes) = written(n);
    let mut canvas = Array2::zeros((CANVAS, CANVAS));
    for stroke in strokes {
        for ends in stroke.windows(2) {
            line(&mut canvas, ends[0], ends[1], pen);
        }
    }
    canvas
}

/// How a digit is written.
struct Hand {
    slant: f64,
    /// Cosine and sine of the turn.
    turn: (f64, f64),
    wide: f64,
    tall: f64,
    /// The radius of the pen, in pixels of the canvas.
    pen: f64,
}

impl Hand {
    fn drawn(rng: &mut Rng) -> Self {
        let slant = SLANT.0 + SLANT.1 * f64::from(rng.normal());
        let turn = TURN * f64::from(rng.normal());
        let mut between = |(low, high)| f64::from(rng.uniform_in(low, high));
        Self {
            slant,
            turn: (double::cos(turn), double::sin(turn)),
            wide: between(WIDE),
            tall: between(TALL),
            pen: between(PEN),
        }
    }

    /// The control points of a stroke on the canvas.
    fn points(&self, stroke: &[u8], rng: &mut Rng) -> Vec<Point> {
        let mut found: Vec<Point> = Vec::new();
        let mut last = None;
        for pair in stroke.chunks_exact(2) {
            let point = match found.last() {
                Some(&corner) if last == Some(pair) => corner,
                _ => self.placed(pair, [rng.normal(), rng.normal()]),
            };
            found.push(point);
            last = Some(pair);
        }
        found
    }

    /// A control point in hundredths, on the canvas.
    fn placed(&self, hundredths: &[u8], moved: [f32; 2]) -> Point {
        let mut at = moved.map(|moved| WOBBLE * f64::from(moved) - 0.5);
        for (at, &hundredths) in at.iter_mut().zip(hundredths) {
            *at += f64::from(hundredths) / 100.0;
        }
        let ([x, y], (cos, sin)) = (at, self.turn);
        let y = self.tall * y;
        let x = self.wide * x - self.slant * y;
        let middle = CANVAS as f64 / 2.0;
        [cos * x - sin * y, sin * x + cos * y].map(|at| UNIT * at + middle)
    }
}

/// The spline of Catmull and Rom through points, as a line through more of them.
fn curve(points: &[Point]) -> Vec<Point> {
    let mut found = Vec::new();
    let Some(&last) = points.last() else {
        return found;
    };
    for n in 1..points.len() {
        let after = points.get(n + 1).unwrap_or(&last);
        let (a, b, c, d) = (points[n.saturating_sub(2)], points[n - 1], points[n], after);
        for step in 0..LINES {
            let t = f64::from(step) / f64::from(LINES);
            found.push([0, 1].map(|axis| {
                let (a, b, c, d) = (a[axis], b[axis], c[axis], d[axis]);
                let (first, second) = (c - a, 2.0 * a - 5.0 * b + 4.0 * c - d);
                b + 0.5 * t * (first + t * (second + t * (3.0 * b - a - 3.0 * c + d)))
            }));
        }
    }
    found.push(last);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All ink of a digit is on the canvas.
    #[test]
    fn no_digit_reaches_the_border() {
        for n in 0..200 {
            let canvas = ink(n);
            let border = canvas.indexed_iter().filter(|((row, col), _)| {
                [row, col]
                    .into_iter()
                    .any(|at| [0, CANVAS - 1].contains(at))
            });
            assert_eq!(border.map(|(_, ink)| ink).sum::<f32>(), 0.0, "{n}");
        }
    }

    /// Digits of a label differ, and have about as much ink as MNIST's, whose mean is 0.13.
    #[test]
    fn two_hundred_digits_are_written_each_in_its_own_way() {
        let digits: Vec<Digit> = (0..200).map(|n| digit(n).unwrap()).collect();
        for (n, one) in digits.iter().enumerate() {
            assert_eq!(one.label, n % 10);
            assert!(digits[..n].iter().all(|other| other.image != one.image));
        }
        let mean = digits
            .iter()
            .map(|one| one.image.mean().unwrap())
            .sum::<f32>()
            / 200.0;
        assert!((0.09..0.17).contains(&mean), "{mean}");
    }

    /// The spline goes through its points, and a point given twice is a corner of straight lines.
    #[test]
    fn a_curve_goes_through_its_points() {
        let points = [[0.0, 0.0], [4.0, 0.0], [4.0, 0.0], [4.0, 8.0]];
        let line = curve(&points);
        assert_eq!(line.len(), 25);
        for (n, point) in points.iter().enumerate() {
            assert_eq!(line[8 * n], *point);
        }
        assert!(line[..9].iter().all(|point| point[1] == 0.0));
        assert!(line[16..].iter().all(|point| point[0] == 4.0));
        assert!(curve(&[]).is_empty());
    }

    /// Bits that every platform gives.
    #[test]
    fn the_bits_are_the_same_everywhere() {
        let bits = ink(8).iter().fold(0u64, |hash, value| {
            engine::rng::mix(hash ^ u64::from(value.to_bits()))
        });
        assert_eq!(bits, 4_575_260_931_451_729_333);
    }
}
