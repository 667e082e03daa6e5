//! Sample pictures. Those that our own code draws need no download; photographs are files of the
//! site.

use std::sync::Arc;

use crate::input::{InputKind, InputSpec, InputValue, Inputs, Picture, Pixels};

/// Names of all samples, in the order in which the page offers them.
pub const SAMPLES: &[&str] = &["harbour", "cat", "coffee", "seven"];

/// A picture input that starts with the first sample.
pub(crate) fn input(name: &'static str, label: &'static str) -> InputSpec {
    let first = SAMPLES.first().copied().unwrap_or_default().to_owned();
    let default = InputValue::Picture(Picture {
        name: first,
        pixels: None,
    });
    InputSpec {
        name,
        label,
        kind: InputKind::Picture(SAMPLES),
        default,
    }
}

/// File of a sample below `pictures/`, `None` for one that [`draw`] draws.
pub fn file(name: &str) -> Option<&'static str> {
    match name {
        "cat" => Some("cat.png"),
        "coffee" => Some("coffee.png"),
        _ => None,
    }
}

/// Side of the drawn samples in pixels.
const SIDE: usize = 224;

/// Draws a sample; `None` for one that is a file.
pub fn draw(name: &str) -> Option<Pixels> {
    match name {
        "harbour" => Some(harbour()),
        "seven" => Some(seven()),
        _ => None,
    }
}

/// A sailing boat on calm water under a low sun: large plain areas, one sharp triangle, fine
/// ripples, so that patches differ in what they hold.
fn harbour() -> Pixels {
    let mut rgb = Vec::with_capacity(3 * SIDE * SIDE);
    for row in 0..SIDE {
        for col in 0..SIDE {
            let (x, y) = (col as f32 / SIDE as f32, row as f32 / SIDE as f32);
            rgb.extend(harbour_at(x, y).map(|v| (v * 255.0).clamp(0.0, 255.0) as u8));
        }
    }
    Pixels {
        width: SIDE,
        height: SIDE,
        rgb,
    }
}

/// Colour of the picture at `x`, `y` in [0, 1), red, green and blue in [0, 1].
fn harbour_at(x: f32, y: f32) -> [f32; 3] {
    const HORIZON: f32 = 0.62;
    let mix = |a: [f32; 3], b: [f32; 3], t: f32| {
        [0, 1, 2].map(|i| a[i] + (b[i] - a[i]) * t.clamp(0.0, 1.0))
    };
    let sky = mix([0.22, 0.42, 0.72], [0.98, 0.82, 0.62], y / HORIZON);
    let sun = (x - 0.74).hypot(y - 0.42);
    let mut colour = mix(sky, [1.0, 0.95, 0.78], (0.085 - sun) * 60.0);
    let hill = HORIZON
        - 0.07
        - 0.06 * engine::math::sin(5.0 * x + 0.6)
        - 0.02 * engine::math::sin(17.0 * x);
    if y > hill && x < 0.6 {
        colour = mix([0.25, 0.36, 0.30], [0.36, 0.46, 0.36], (y - hill) * 8.0);
    }
    if y > HORIZON {
        let ripple = engine::math::sin(160.0 * y + 6.0 * engine::math::sin(9.0 * x + 30.0 * y));
        let water = mix([0.24, 0.46, 0.58], [0.08, 0.22, 0.36], (y - HORIZON) * 2.6);
        let glitter = (0.10 - (x - 0.74).abs()).max(0.0) * (1.0 + ripple) * 3.0;
        colour = mix(
            mix(water, [0.5, 0.66, 0.72], 0.08 * (1.0 + ripple)),
            [1.0, 0.9, 0.7],
            glitter,
        );
    }
    let hull = y > 0.66 && y < 0.72 && (x - 0.36).abs() < 0.15 - (y - 0.66) * 0.9;
    let main_sail = y > 0.24 && y < 0.64 && x > 0.365 && x < 0.365 + (y - 0.24) * 0.36;
    let jib = y > 0.32 && y < 0.64 && x < 0.35 && x > 0.35 - (y - 0.32) * 0.36;
    match (hull, main_sail, jib) {
        (true, _, _) => [0.55, 0.16, 0.13],
        (_, true, _) => [0.97, 0.95, 0.90],
        (_, _, true) => [0.90, 0.86, 0.76],
        _ => colour,
    }
}

/// The digit seven on 8 x 8 grey pixels, small enough to write every patch down: a digit of this
/// table is the brightness in ninths.
const SEVEN: [&str; 8] = [
    "00000000", "06999960", "02444990", "00001940", "00006900", "00029300", "00079000", "00049000",
];

fn seven() -> Pixels {
    let brightness = |c: u8| (u32::from(c - b'0') * 255 / 9) as u8;
    let rgb = SEVEN
        .iter()
        .flat_map(|row| row.bytes())
        .flat_map(|c| [brightness(c); 3])
        .collect();
    Pixels {
        width: 8,
        height: 8,
        rgb,
    }
}

/// Fills in the pixels of every sample that our own code draws.
#[must_use]
pub fn with_drawn_samples(mut inputs: Inputs) -> Inputs {
    for (_, value) in inputs.0.iter_mut() {
        if let InputValue::Picture(Picture {
            name,
            pixels: pixels @ None,
        }) = value
        {
            *pixels = draw(name).map(Arc::new);
        }
    }
    inputs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_is_drawn_or_a_file() {
        for name in SAMPLES {
            assert!(draw(name).is_some() != file(name).is_some(), "{name}");
            if let Some(p) = draw(name) {
                assert_eq!(p.rgb.len(), 3 * p.width * p.height, "{name}");
            }
        }
        assert!(draw("nothing").is_none());
    }
}
