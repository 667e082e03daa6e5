//! Colour maps: which share of a colour a value gets. `style/widgets.css` mixes the same colours
//! for squares that are elements.

use ::plot::{Concept, Role, Theme};

use super::Grid;

/// A colour map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Palette {
    /// From the page's background, at the smallest value, to the colour of the concept.
    #[default]
    Sequential,
    /// The page's background at zero, in the middle of the scale, the colour of the concept above,
    /// and a hue far from it below.
    Diverging,
    /// Brightness in a picture, from black to white in every theme.
    Brightness,
    /// Which pairs may look at each other: one is plain, zero is hatched.
    Mask,
}

impl Palette {
    /// Classes of a map or legend, for the style sheet.
    pub(crate) const fn classes(self) -> &'static str {
        match self {
            Self::Sequential => "ramp",
            Self::Diverging => "ramp is-signed",
            Self::Brightness => "ramp is-brightness",
            Self::Mask => "ramp is-mask may-hide",
        }
    }

    /// How much of its colour `value` gets on a scale: from 0 to 1, and below 0 for values on the
    /// lower side of a diverging scale. Values outside get that of the nearer end; on a scale
    /// without length, all get that of its middle.
    pub(crate) fn share(self, value: f64, (low, high): (f64, f64)) -> f64 {
        let share = if high > low {
            ((value - low) / (high - low)).clamp(0.0, 1.0)
        } else {
            0.5
        };
        match self {
            // Zero is plain also where all values are on one side of it.
            Self::Diverging => {
                let reach = low.abs().max(high.abs());
                if reach > 0.0 {
                    (value / reach).clamp(-1.0, 1.0)
                } else {
                    0.0
                }
            }
            Self::Mask => 0.0,
            _ => share,
        }
    }

    /// True where the map has no colour for a value but the hatching of what may not be seen.
    pub(crate) fn hides(self, value: f64) -> bool {
        value == f64::NEG_INFINITY || self == Self::Mask && value == 0.0
    }

    /// The colour of a [`share`](Self::share) in a theme: a mix of two sRGB colours, as
    /// `color-mix(in srgb, ...)` makes it.
    pub(crate) fn colour(self, share: f64, concept: Concept, theme: &Theme) -> [u8; 3] {
        let (zero, full) = match self {
            Self::Brightness => ([0; 3], [255; 3]),
            Self::Diverging if share < 0.0 => (theme.mark(Role::Sheet), theme.mark(minus(concept))),
            _ => (theme.mark(Role::Sheet), theme.mark(Role::Of(concept))),
        };
        let mix = |i: usize| {
            let (zero, full) = (f64::from(zero[i]), f64::from(full[i]));
            (zero + (full - zero) * share.abs()).round() as u8
        };
        [mix(0), mix(1), mix(2)]
    }
}

/// The colour of negative values: warm for a concept with a cool hue, else cool (`--c-minus`).
const fn minus(concept: Concept) -> Role {
    match concept {
        Concept::Query | Concept::Value | Concept::Position => Role::Warm,
        _ => Role::Cool,
    }
}

/// Values at the ends of a colour map.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Domain {
    /// Smallest to largest value shown.
    #[default]
    Auto,
    /// Always these.
    Fixed(f64, f64),
    /// The largest magnitude shown, both ways, so that zero is in the middle; one way where all
    /// values have one sign.
    Symmetric,
}

impl Domain {
    /// The values of both ends for a grid.
    pub fn resolve(self, grid: &Grid) -> (f64, f64) {
        let (low, high) = grid.range().unwrap_or((0.0, 0.0));
        match self {
            Self::Auto => (low, high),
            Self::Fixed(low, high) => (low, high),
            Self::Symmetric => {
                let reach = low.abs().max(high.abs());
                match (low < 0.0, high > 0.0) {
                    (true, false) => (low, 0.0),
                    (false, true) => (0.0, high),
                    _ => (-reach, reach),
                }
            }
        }
    }
}

/// The class of a diverging scale that has one side only.
pub(crate) fn side((low, high): (f64, f64)) -> &'static str {
    if low < 0.0 && high == 0.0 {
        " is-negative"
    } else if low == 0.0 && high > 0.0 {
        " is-positive"
    } else {
        ""
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Colours of the dark theme.
    fn dark() -> Theme {
        Theme::new(String::new(), |name| match name {
            "--sheet" => Some([0x23, 0x20, 0x1d]),
            "--c-weight" => Some([0xd2, 0x64, 0xbd]),
            "--cool" => Some([0, 0, 200]),
            "--warm" => Some([200, 0, 0]),
            _ => None,
        })
    }

    #[test]
    fn zero_is_the_background_and_the_ends_are_the_concept_and_a_hue_far_from_it() {
        let colour = |palette: Palette, value: f64, ends| {
            palette.colour(palette.share(value, ends), Concept::Weight, &dark())
        };
        let sheet = [0x23, 0x20, 0x1d];
        assert_eq!(colour(Palette::Sequential, 0.0, (0.0, 1.0)), sheet);
        assert_eq!(
            colour(Palette::Sequential, 1.0, (0.0, 1.0)),
            [0xd2, 0x64, 0xbd]
        );
        assert_eq!(colour(Palette::Diverging, 0.0, (-2.0, 2.0)), sheet);
        assert_eq!(colour(Palette::Diverging, -2.0, (-2.0, 2.0)), [0, 0, 200]);
        assert_eq!(
            colour(Palette::Diverging, 9.0, (-2.0, 2.0)),
            [0xd2, 0x64, 0xbd]
        );
        assert_eq!(
            Palette::Diverging.colour(-1.0, Concept::Query, &dark()),
            [200, 0, 0]
        );
        assert_eq!(colour(Palette::Brightness, 1.0, (0.0, 1.0)), [255; 3]);
        assert_eq!(colour(Palette::Brightness, 0.2, (0.0, 1.0)), [51; 3]);
    }

    #[test]
    fn a_mask_hides_its_zeros_and_every_map_minus_infinity() {
        assert!(Palette::Mask.hides(0.0) && !Palette::Mask.hides(1.0));
        assert!(Palette::Sequential.hides(f64::NEG_INFINITY) && !Palette::Sequential.hides(0.0));
        assert_eq!(
            Palette::Mask.colour(
                Palette::Mask.share(1.0, (0.0, 1.0)),
                Concept::Plain,
                &dark()
            ),
            [0x23, 0x20, 0x1d],
            "what may be seen is plain"
        );
    }

    #[test]
    fn values_of_one_sign_have_a_scale_of_one_side() {
        let ends = |values: &[f64]| {
            let values = ndarray::Array1::from_iter(values.iter().map(|&x| x as f32));
            let mut computation = cells::Computation::default();
            let tensor = cells::Tensor::from_f32(&values);
            computation.tensors.insert("x".into(), tensor);
            Domain::Symmetric.resolve(&Grid::from_tensor(&computation, "x", Vec::new()).unwrap())
        };
        assert_eq!(ends(&[-2.5, 0.0]), (-2.5, 0.0));
        assert_eq!(ends(&[0.5, 2.0]), (0.0, 2.0));
        assert_eq!(ends(&[-1.0, 2.0]), (-2.0, 2.0));
        assert_eq!(Palette::Diverging.share(-2.5, (-2.5, 0.0)), -1.0);
        assert_eq!(Palette::Diverging.share(0.0, (-2.5, 0.0)), 0.0);
        assert_eq!(Palette::Diverging.share(1.0, (0.0, 2.0)), 0.5);
        assert_eq!(side((-2.5, 0.0)), " is-negative");
        assert_eq!(side((0.0, 2.0)), " is-positive");
        assert_eq!(side((-2.0, 2.0)), "");
    }

    #[test]
    fn a_scale_without_length_gives_its_middle() {
        assert_eq!(Palette::Sequential.share(3.0, (3.0, 3.0)), 0.5);
        assert_eq!(Palette::Diverging.share(0.0, (0.0, 0.0)), 0.0);
    }
}
