//! Perceptually uniform colour maps, and the ink that is readable on them.

use std::sync::OnceLock;

use super::Grid;

/// Red, green and blue.
pub(crate) type Rgb = [u8; 3];

/// Entries of a colour table.
const ENTRIES: usize = 256;

/// A colour map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Palette {
    /// From little to much: Viridis (Smith and van der Walt 2015), uniform in lightness and safe
    /// for colour-blind readers.
    #[default]
    Sequential,
    /// Two hues around zero, straight lines in Oklab (Ottosson 2020) of equal length: equal steps
    /// look equal.
    Diverging,
}

impl Palette {
    /// The colour at `t` from 0 to 1 (outside, the nearer end).
    pub fn colour(self, t: f64) -> [u8; 3] {
        self.table()[entry(t)]
    }

    /// The colour of `value` on a scale from `low` to `high`; a scale without length gives the
    /// middle.
    pub fn of(self, value: f64, ends: (f64, f64)) -> [u8; 3] {
        self.colour(share(value, ends))
    }

    /// The colour of `value` as CSS of a background, with the ink that is readable on it.
    pub(crate) fn css(self, value: f64, ends: (f64, f64)) -> &'static str {
        static SEQUENTIAL: OnceLock<Vec<String>> = OnceLock::new();
        static DIVERGING: OnceLock<Vec<String>> = OnceLock::new();
        let texts = match self {
            Self::Sequential => &SEQUENTIAL,
            Self::Diverging => &DIVERGING,
        };
        let texts = texts.get_or_init(|| {
            let text = |&c: &Rgb| format!("background:{};color:{}", hex(c), ink_on(c));
            self.table().iter().map(text).collect()
        });
        &texts[entry(share(value, ends))]
    }

    fn table(self) -> &'static [Rgb; ENTRIES] {
        static SEQUENTIAL: OnceLock<[Rgb; ENTRIES]> = OnceLock::new();
        static DIVERGING: OnceLock<[Rgb; ENTRIES]> = OnceLock::new();
        match self {
            Self::Sequential => SEQUENTIAL.get_or_init(|| {
                std::array::from_fn(|i| {
                    let c = colorous::VIRIDIS.eval_rational(i, ENTRIES);
                    [c.r, c.g, c.b]
                })
            }),
            Self::Diverging => DIVERGING.get_or_init(|| {
                std::array::from_fn(|i| diverging(i as f64 / (ENTRIES - 1) as f64))
            }),
        }
    }
}

/// Position of `value` between the ends, from 0 to 1; a scale without length has its middle
/// everywhere.
fn share(value: f64, (low, high): (f64, f64)) -> f64 {
    if high > low {
        (value - low) / (high - low)
    } else {
        0.5
    }
}

/// The entry of a colour table at `t` from 0 to 1 (outside, the nearer end).
fn entry(t: f64) -> usize {
    let index = (t.clamp(0.0, 1.0) * (ENTRIES - 1) as f64).round() as usize;
    index.min(ENTRIES - 1)
}

/// Blue at 0, near white in the middle, orange at 1.
fn diverging(t: f64) -> Rgb {
    /// Lightness, and the two colour axes, of the ends and of the middle.
    const LOW: [f64; 3] = [0.48, -0.035, -0.135];
    const HIGH: [f64; 3] = [0.55, 0.105, 0.095];
    const MIDDLE: [f64; 3] = [0.965, 0.0, 0.004];
    let away = (2.0 * t - 1.0).abs();
    let end = if t < 0.5 { LOW } else { HIGH };
    oklab(std::array::from_fn(|i| {
        MIDDLE[i] + (end[i] - MIDDLE[i]) * away
    }))
}

/// Oklab to sRGB (Ottosson 2020, "A perceptual color space for image processing").
fn oklab([l, a, b]: [f64; 3]) -> Rgb {
    let cube = |x: f64| x * x * x;
    let l_ = cube(l + 0.396_337_777_4 * a + 0.215_803_757_3 * b);
    let m_ = cube(l - 0.105_561_345_8 * a - 0.063_854_172_8 * b);
    let s_ = cube(l - 0.089_484_177_5 * a - 1.291_485_548_0 * b);
    let linear = [
        4.076_741_662_1 * l_ - 3.307_711_591_3 * m_ + 0.230_969_929_2 * s_,
        -1.268_438_004_6 * l_ + 2.609_757_401_1 * m_ - 0.341_319_396_5 * s_,
        -0.004_196_086_3 * l_ - 0.703_418_614_7 * m_ + 1.707_614_701_0 * s_,
    ];
    linear.map(|x| {
        let x = x.clamp(0.0, 1.0);
        let coded = if x <= 0.003_130_8 {
            12.92 * x
        } else {
            1.055 * x.powf(1.0 / 2.4) - 0.055
        };
        (255.0 * coded).round() as u8
    })
}

/// Relative luminance of a colour (WCAG 2.2).
fn luminance(colour: Rgb) -> f64 {
    let [r, g, b] = colour.map(|byte| {
        let x = f64::from(byte) / 255.0;
        if x <= 0.040_45 {
            x / 12.92
        } else {
            ((x + 0.055) / 1.055).powf(2.4)
        }
    });
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

/// Black or white, whichever stands out more on `colour`: always a contrast of at least 4.58 to 1.
pub fn ink_on(colour: [u8; 3]) -> &'static str {
    let light = luminance(colour);
    if (light + 0.05) / 0.05 >= 1.05 / (light + 0.05) {
        "#000"
    } else {
        "#fff"
    }
}

/// `#rrggbb`.
pub(crate) fn hex([r, g, b]: Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Values at the ends of a colour map.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Domain {
    /// Smallest to largest value shown.
    #[default]
    Auto,
    /// Always these.
    Fixed(f64, f64),
    /// The largest magnitude shown, both ways, so that zero is in the middle.
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
                (-reach, reach)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ink_is_readable_on_every_colour_of_both_maps() {
        for palette in [Palette::Sequential, Palette::Diverging] {
            for i in 0..=255 {
                let colour = palette.colour(f64::from(i) / 255.0);
                let light = luminance(colour);
                let ink = if ink_on(colour) == "#000" { 0.0 } else { 1.0 };
                let (a, b) = if ink > light {
                    (ink, light)
                } else {
                    (light, ink)
                };
                assert!((a + 0.05) / (b + 0.05) >= 4.5, "{palette:?} {i}");
            }
        }
    }

    #[test]
    fn viridis_gets_lighter_all_the_way_and_the_other_is_lightest_at_zero() {
        let light = |p: Palette, i: i32| luminance(p.colour(f64::from(i) / 64.0));
        assert!((0..64).all(|i| light(Palette::Sequential, i) < light(Palette::Sequential, i + 1)));
        assert!((0..32).all(|i| light(Palette::Diverging, i) < light(Palette::Diverging, i + 1)));
        assert!((32..64).all(|i| light(Palette::Diverging, i) > light(Palette::Diverging, i + 1)));
    }

    #[test]
    fn a_flat_grid_has_a_colour() {
        assert_eq!(
            Palette::Sequential.of(3.0, (3.0, 3.0)),
            Palette::Sequential.colour(0.5)
        );
        assert_eq!(
            Palette::Sequential.of(9.0, (0.0, 1.0)),
            Palette::Sequential.colour(1.0)
        );
    }
}
