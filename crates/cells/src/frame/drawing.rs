//! A drawing as an input: the strokes of a pen on a square pad, in the order in which they were drawn.
//!
//! As text, in links and lessons, a point is three characters of the URL-safe alphabet of base64: nine
//! bits of x, then nine of y. A full stop separates strokes.

use serde::{Deserialize, Serialize};

/// The side of the pad: coordinates are below it.
pub const SIDE: u16 = 512;

/// Most points of a drawing, so that it fits into a link.
pub const MOST_POINTS: usize = 600;

/// The distance that the pen moves before a stroke gets its next point.
pub const SPACING: u16 = 12;

/// The radius of the pen.
pub const PEN: u16 = 20;

/// The characters of a point, each for six bits.
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// A point: x to the right, y down.
pub type Point = [u16; 2];

/// The strokes, each with at least one point; a stroke of one point is a dot.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Drawing(pub Vec<Vec<Point>>);

impl Drawing {
    /// The number of points of all strokes.
    pub fn points(&self) -> usize {
        self.0.iter().map(Vec::len).sum()
    }

    /// The drawing as it was after its first `points`.
    #[must_use]
    pub fn first(&self, points: usize) -> Self {
        let mut left = points;
        let strokes = self.0.iter().map(|stroke| {
            let taken = stroke.len().min(left);
            left -= taken;
            stroke[..taken].to_vec()
        });
        Self(strokes.filter(|stroke| !stroke.is_empty()).collect())
    }

    /// The number of points that both drawings begin with, in the same strokes.
    pub fn common(&self, other: &Self) -> usize {
        let mut common = 0;
        for (own, others) in self.0.iter().zip(&other.0) {
            let same = own.iter().zip(others).take_while(|(a, b)| a == b).count();
            common += same;
            if same < own.len() || same < others.len() {
                break;
            }
        }
        common
    }

    /// Adds a point to the last stroke, or begins a stroke with it; a point nearer to the last one than
    /// [`SPACING`] is left out, and so is one too many. Returns whether it was added.
    pub fn add(&mut self, point: Point, begins: bool) -> bool {
        if self.points() >= MOST_POINTS {
            return false;
        }
        let last = self.0.last().and_then(|stroke| stroke.last());
        match (last, begins) {
            (Some(&last), false) if distance_squared(last, point) < u32::from(SPACING).pow(2) => {
                false
            }
            (Some(_), false) => {
                if let Some(stroke) = self.0.last_mut() {
                    stroke.push(point);
                }
                true
            }
            _ => {
                self.0.push(vec![point]);
                true
            }
        }
    }

    /// The strokes of given points in pixels of a canvas of so many, thinned to [`SPACING`].
    pub fn thinned(strokes: &[Vec<[f64; 2]>], canvas: usize) -> Self {
        let scale = f64::from(SIDE) / canvas as f64;
        let on_pad = |at: &f64| (at * scale).round().clamp(0.0, f64::from(SIDE - 1)) as u16;
        let mut all = Self::default();
        for stroke in strokes {
            let points: Vec<Point> = stroke.iter().map(|[x, y]| [on_pad(x), on_pad(y)]).collect();
            for (n, &point) in points.iter().enumerate() {
                all.add(point, n == 0);
            }
            // The end of a stroke matters more than the distance before it.
            if let (Some(&end), Some(kept)) = (points.last(), all.0.last_mut())
                && kept.last() != Some(&end)
            {
                kept.push(end);
            }
        }
        all
    }

    /// The drawing that a text says; `None` for a text that [`Self::to_text`] cannot have written.
    pub fn parse(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self::default());
        }
        let bits = |letter: &u8| {
            let at = ALPHABET.iter().position(|known| known == letter)?;
            u32::try_from(at).ok()
        };
        let point = |letters: &[u8]| {
            let [a, b, c] = letters else { return None };
            let both = (bits(a)? << 12) | (bits(b)? << 6) | bits(c)?;
            let half = |bits: u32| u16::try_from(bits & 511).ok();
            Some([half(both >> 9)?, half(both)?])
        };
        let stroke = |text: &str| {
            let points = text.as_bytes().chunks(3).map(point);
            points
                .collect::<Option<Vec<Point>>>()
                .filter(|points| !points.is_empty())
        };
        text.split('.').map(stroke).collect::<Option<_>>().map(Self)
    }

    /// The drawing as text.
    pub fn to_text(&self) -> String {
        let letter = |bits: u32| char::from(ALPHABET[(bits & 63) as usize]);
        let strokes = self.0.iter().map(|stroke| {
            let points = stroke.iter().flat_map(|&[x, y]| {
                let both = (u32::from(x) << 9) | u32::from(y);
                [letter(both >> 12), letter(both >> 6), letter(both)]
            });
            points.collect::<String>()
        });
        strokes.collect::<Vec<_>>().join(".")
    }

    /// Whether every stroke has points, and every point is on the pad.
    pub(super) fn is_whole(&self) -> bool {
        let is_on_pad = |point: &Point| point.iter().all(|&at| at < SIDE);
        let is_whole = |stroke: &Vec<Point>| !stroke.is_empty() && stroke.iter().all(is_on_pad);
        self.0.iter().all(is_whole)
    }
}

/// A digit that the site draws itself, on the pad: the first one of its label.
pub fn ready(label: usize) -> Drawing {
    Drawing::thinned(&explain::drawn_digits::strokes(label), explain::pen::SIDE)
}

/// The square of the distance of two points.
fn distance_squared(a: Point, b: Point) -> u32 {
    let apart = |axis: usize| u32::from(a[axis].abs_diff(b[axis]));
    apart(0).pow(2) + apart(1).pow(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> Drawing {
        Drawing(vec![vec![[0, 511], [20, 300], [40, 2]], vec![[100, 7]]])
    }

    #[test]
    fn a_text_holds_every_drawing() {
        for drawing in [Drawing::default(), two()] {
            assert_eq!(Drawing::parse(&drawing.to_text()), Some(drawing));
        }
        assert_eq!(
            two().to_text().len(),
            13,
            "three characters a point, and a full stop"
        );
        for wrong in ["AB", "A!A", "AAA..AAA", ".", "AAA.", "\u{e9}A"] {
            assert_eq!(Drawing::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_drawing_has_beginnings() {
        let all = two();
        assert_eq!((all.points(), all.first(4)), (4, all.clone()));
        assert_eq!(all.first(2), Drawing(vec![vec![[0, 511], [20, 300]]]));
        assert_eq!(all.first(0), Drawing::default());
        assert_eq!(all.common(&all.first(2)), 2);
        assert_eq!(all.common(&all), 4);
        // Lifting the pen elsewhere is another drawing from there on.
        let joined = Drawing(vec![vec![[0, 511], [20, 300], [40, 2], [100, 7]]]);
        assert_eq!(all.common(&joined), 3);
    }

    #[test]
    fn points_too_near_or_too_many_are_left_out() {
        let mut drawing = Drawing::default();
        assert!(
            drawing.add([10, 10], false),
            "the first point begins a stroke"
        );
        assert!(!drawing.add([15, 15], false));
        assert!(drawing.add([15, 15], true), "a stroke may begin anywhere");
        assert!(drawing.add([27, 15], false));
        assert_eq!(drawing.0.len(), 2);
        while drawing.points() < MOST_POINTS {
            assert!(drawing.add([0, 0], true));
        }
        assert!(!drawing.add([500, 500], true));
    }

    #[test]
    fn strokes_of_a_canvas_are_thinned() {
        let stroke = (0..=28).map(|n| [f64::from(n), 28.0]).collect();
        let found = Drawing::thinned(&[stroke], 56);
        let xs: Vec<u16> = found.0[0].iter().map(|point| point[0]).collect();
        assert_eq!((xs[0], xs[1], xs.last()), (0, 18, Some(&256)));
        assert!(found.0[0].iter().all(|point| point[1] == 256));
    }
}
