//! What attention in windows costs beside attention among all patches, for a picture, a patch and a
//! window of the reader's.

use explain::window_cost::{Sizes, Stage};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::spec::{CellSpec, Run};

/// Blocks of the stages of Swin V2-T.
pub const DEPTHS: [usize; 4] = [2, 2, 6, 2];

/// The sides of the chart in pixels: powers of two.
const SIDES: std::ops::RangeInclusive<u32> = 5..=12;

/// The cell `window-cost`.
pub const SPEC: CellSpec = CellSpec {
    name: "window-cost",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::number(
            "side",
            "Side of the picture in pixels",
            (32.0, 4096.0, 8.0),
            256.0,
        ),
        InputSpec::number("patch", "Patch $P$ in pixels", (2.0, 32.0, 1.0), 4.0),
        InputSpec::number("window", "Window $M$ in patches", (2.0, 32.0, 1.0), 8.0),
        InputSpec::number("width", "Channels $C$", (16.0, 256.0, 16.0), 96.0),
    ]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let sizes = Sizes {
        picture: inputs.count("side")?,
        patch: inputs.count("patch")?,
        window: inputs.count("window")?,
        width: inputs.count("width")?,
    };
    let mut record = Record::new();
    let mut stages = Vec::new();
    for n in 0..DEPTHS.len() as u32 {
        stages.push(shown!(record, explain::window_cost::stage, sizes, n)?);
    }
    let of = |get: fn(&Stage) -> f64| stages.iter().map(get).collect::<Vec<f64>>();
    record.numbers("depth", DEPTHS.map(|depth| depth as f64).to_vec());
    record.numbers("side", of(|s| s.side as f64));
    record.numbers("tokens", of(|s| (s.side * s.side) as f64));
    record.numbers("width", of(|s| s.width as f64));
    record.numbers("window", of(|s| s.window as f64));
    record.numbers("windows", of(|s| s.windows as f64));
    record.numbers("all", of(|s| s.all_pairs as f64));
    record.numbers("pairs", of(|s| s.pairs as f64));
    record.numbers("ratio", of(|s| s.all_pairs as f64 / s.pairs as f64));
    let total = |get: fn(&Stage) -> u64| {
        let each = stages.iter().zip(DEPTHS);
        each.map(|(s, depth)| get(s) * depth as u64).sum::<u64>() as f64
    };
    let (all, windows) = (
        total(|s| s.all_multiplications),
        total(|s| s.multiplications),
    );
    record.number("total.all", all);
    record.number("total.windows", windows);
    record.number("total.ratio", all / windows);
    curves(&mut record, sizes)?;
    Ok(record.finish())
}

/// The pairs of the first stage for pictures of 32 to 4,096 pixels.
fn curves(record: &mut Record, sizes: Sizes) -> Result<(), CellError> {
    let (mut sides, mut all, mut windows) = (Vec::new(), Vec::new(), Vec::new());
    for picture in SIDES.map(|power| 1 << power) {
        let sizes = Sizes { picture, ..sizes };
        let stage = explain::window_cost::stage(sizes, 0)?;
        sides.push(picture as f64);
        all.push(stage.all_pairs as f64);
        windows.push(stage.pairs as f64);
    }
    record.numbers("curve.side", sides);
    record.numbers("curve.all", all);
    record.numbers("curve.windows", windows);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::number;

    fn at(side: f64) -> Computation {
        SPEC.compute(&Inputs::defaults(&inputs()).with("side", number(side)))
            .unwrap()
    }

    fn all(c: &Computation, name: &str) -> Vec<f64> {
        c.tensor(name).unwrap().values.iter().copied().collect()
    }

    /// What the lesson says of Swin V2-T at 256 pixels.
    #[test]
    fn the_smallest_model_at_256_pixels() {
        let c = SPEC.compute(&Inputs::defaults(&inputs())).unwrap();
        assert_eq!(all(&c, "side"), [64.0, 32.0, 16.0, 8.0]);
        assert_eq!(all(&c, "width"), [96.0, 192.0, 384.0, 768.0]);
        assert_eq!(all(&c, "windows"), [64.0, 16.0, 4.0, 1.0]);
        assert_eq!(all(&c, "ratio"), [64.0, 16.0, 4.0, 1.0]);
        assert_eq!(c.at("all", &[0]), Some(16_777_216.0));
        assert_eq!(c.at("pairs", &[0]), Some(262_144.0));
        // N² against N M².
        for n in 0..4 {
            let tokens = c.at("tokens", &[n]).unwrap();
            assert_eq!(c.at("all", &[n]), Some(tokens * tokens));
            assert_eq!(c.at("pairs", &[n]), Some(tokens * 64.0));
        }
    }

    /// The exercise: at 512 pixels 256 times as many pairs without windows.
    #[test]
    fn at_512_pixels_windows_save_256_times() {
        assert_eq!(at(512.0).at("ratio", &[0]), Some(256.0));
        let (small, large) = (at(256.0), at(512.0));
        assert_eq!(large.at("pairs", &[0]), Some(4.0 * 262_144.0));
        assert_eq!(
            large.at("all", &[0]).unwrap() / small.at("all", &[0]).unwrap(),
            16.0
        );
    }

    /// The curves pass through the numbers of the table.
    #[test]
    fn the_curves_hold_the_table() {
        let c = at(256.0);
        let sides = all(&c, "curve.side");
        let at = sides.iter().position(|&side| side == 256.0).unwrap();
        assert_eq!(c.at("curve.all", &[at]), c.at("all", &[0]));
        assert_eq!(c.at("curve.windows", &[at]), c.at("pairs", &[0]));
        assert_eq!((sides[0], sides[7]), (32.0, 4096.0));
    }
}
