//! Training digits, each time a little different: turned, scaled, slanted, and moved by less than a
//! pixel.
//!
//! ```text
//! out(p) = in(M · (p − c − t) + c),    M = (1/s) · [cos α  −sin α; sin α  cos α] · [1  k; 0  1],    c the middle of the picture
//! ```
//! Between pixels values are mixed bilinearly; outside is paper. Digits stay where they are but for
//! t, so that a test of how models stand digits that are moved means something.
//!
//! Source: LeCun et al. 1998, "Gradient-based learning applied to document recognition", section
//! III.C (distortions).

use engine::math;
use engine::ndarray::{Array2, ArrayView2};
use engine::rng::Rng;

/// Largest change of a digit, to either side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Augment {
    /// α, in radians.
    pub turn: f32,
    /// s is from 1 − this to 1 + this.
    pub scale: f32,
    /// k.
    pub shear: f32,
    /// Each part of t, in pixels.
    pub shift: f32,
}

impl Augment {
    /// The changes for the training of the digit models.
    pub const USUAL: Self = Self {
        turn: 0.26,
        scale: 0.15,
        shear: 0.2,
        shift: 1.0,
    };

    /// A digit with changes drawn from `rng`.
    pub fn apply(&self, digit: ArrayView2<'_, f32>, rng: &mut Rng) -> Array2<f32> {
        // digit [H, W] -> [H, W]
        let mut draw = |most: f32| rng.uniform_in(-most, most);
        let (turn, scale, shear) = (draw(self.turn), 1.0 + draw(self.scale), draw(self.shear));
        let (down, right) = (draw(self.shift), draw(self.shift));
        let (sin, cos) = (math::sin(turn) / scale, math::cos(turn) / scale);
        let (height, width) = digit.dim();
        let middle = [height, width].map(|side| (side as f32 - 1.0) / 2.0);
        Array2::from_shape_fn((height, width), |(row, col)| {
            let y = row as f32 - middle[0] - down;
            let x = col as f32 - middle[1] - right;
            let slanted = x + shear * y;
            let from = [sin * slanted + cos * y, cos * slanted - sin * y];
            mixed(digit, from[0] + middle[0], from[1] + middle[1])
        })
    }
}

/// The value between pixels.
fn mixed(picture: ArrayView2<'_, f32>, y: f32, x: f32) -> f32 {
    let (top, left) = (y.floor(), x.floor());
    let (down, right) = (y - top, x - left);
    let at = |row: f32, col: f32| {
        let inside = row >= 0.0 && col >= 0.0;
        let found = inside.then(|| picture.get((row as usize, col as usize)));
        found.flatten().copied().unwrap_or(0.0)
    };
    let above = (1.0 - right) * at(top, left) + right * at(top, left + 1.0);
    let below = (1.0 - right) * at(top + 1.0, left) + right * at(top + 1.0, left + 1.0);
    (1.0 - down) * above + down * below
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_changes_without_changes_and_ink_stays_near_its_place() {
        let digit = Array2::from_shape_fn((9, 9), |(row, col)| {
            f32::from(u8::from((3..6).contains(&row) && (2..7).contains(&col)))
        });
        let none = Augment {
            turn: 0.0,
            scale: 0.0,
            shear: 0.0,
            shift: 0.0,
        };
        let mut rng = Rng::new(1);
        assert_eq!(none.apply(digit.view(), &mut rng), digit);
        for _ in 0..100 {
            let changed = Augment::USUAL.apply(digit.view(), &mut rng);
            let total = changed.sum();
            let mean = |of: fn((usize, usize)) -> usize| {
                let all = changed.indexed_iter();
                all.map(|(at, ink)| of(at) as f32 * ink).sum::<f32>() / total
            };
            for place in [mean(|at| at.0), mean(|at| at.1)] {
                assert!((place - 4.0).abs() < 1.1, "{place}");
            }
            assert!((0.7..1.4).contains(&(total / digit.sum())), "{total}");
        }
    }

    #[test]
    fn between_pixels_values_are_mixed_and_outside_is_paper() {
        let digit = Array2::from_shape_fn((3, 3), |(row, col)| (3 * row + col) as f32);
        assert_eq!(mixed(digit.view(), 0.5, 1.0), 2.5);
        assert_eq!(mixed(digit.view(), -0.5, 0.0), 0.0);
        assert_eq!(mixed(digit.view(), 2.0, 2.5), 4.0);
        assert_eq!(mixed(digit.view(), 7.0, 1.0), 0.0);
    }
}
