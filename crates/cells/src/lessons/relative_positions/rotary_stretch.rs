//! Rotary angles beyond the trained length: as they are, squeezed by interpolation, and slowed by a
//! larger base.

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::parts::measure::even;
use crate::spec::{CellSpec, Run};

/// The base of the trained model.
const BASE: f32 = 10_000.0;

/// The cell `rotary-stretch`.
pub const SPEC: CellSpec = CellSpec {
    name: "rotary-stretch",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::number("trained", "Trained length $L$", (8.0, 512.0, 1.0), 64.0),
        InputSpec::number(
            "length",
            "New length $L\u{2032}$",
            (8.0, 1024.0, 1.0),
            192.0,
        ),
        InputSpec::number("width", "Head width $d_k$", (4.0, 64.0, 2.0), 8.0),
        InputSpec::number("plane", "Plane", (0.0, 31.0, 1.0), 3.0),
    ]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let (trained, length) = (inputs.count("trained")?, inputs.count("length")?);
    let width = even(inputs, "width", "Head width d_k")?;
    let plane = inputs.count("plane")?.min(width / 2 - 1);
    let places: Vec<f32> = (0..length).map(|p| p as f32).collect();
    // How much longer the text is; a shorter one needs no stretching.
    let scale = (length as f32 / trained as f32).max(1.0);
    let mut record = Record::new();
    let omega = shown!(record, explain::rotary::frequencies, width, BASE);
    let squeezed = shown!(
        record,
        explain::rotary::interpolate,
        &places[..],
        trained,
        length
    );
    let new_base = shown!(record, explain::rotary::ntk_base, BASE, width, scale);
    let slowed = shown!(record, explain::rotary::frequencies, width, new_base);
    let plain = shown!(record, explain::angle::angles, &places[..], &omega[..]);
    let inside = shown!(record, explain::angle::angles, &squeezed[..], &omega[..]);
    let rebased = shown!(record, explain::angle::angles, &places[..], &slowed[..]);
    let limits = shown!(
        record,
        explain::angle::angles,
        &[trained as f32][..],
        &omega[..]
    );
    let waves = shown!(record, explain::angle::wavelengths, &omega[..]);
    let last = length - 1;
    record.number("plane", plane as f64);
    record.number("scale", f64::from(scale));
    record.number("base", f64::from(BASE));
    record.number("new_base", f64::from(new_base));
    record.number("last", last as f64);
    record.number("squeezed_last", f64::from(squeezed[last]));
    record.tensor("frequencies", &ndarray::aview1(&omega));
    record.tensor("slowed", &ndarray::aview1(&slowed));
    record.tensor("wavelengths", &waves);
    record.tensor("limits", &limits.row(0));
    // The limit of the chosen plane at every place: a level line beside the curves.
    record.numbers("limit", vec![f64::from(limits[[0, plane]]); length]);
    for (name, angles) in [
        ("plain", &plain),
        ("interpolated", &inside),
        ("rebased", &rebased),
    ] {
        record.tensor(name, &angles.column(plane));
        record.tensor(&format!("{name}.last"), &angles.row(last));
    }
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;

    fn with(pairs: &[(&str, f64)]) -> Computation {
        let given = pairs
            .iter()
            .fold(Inputs::defaults(&inputs()), |all, (name, x)| {
                all.with(name, InputValue::Number(*x))
            });
        SPEC.compute(&given).unwrap()
    }

    #[test]
    fn interpolation_stays_inside_the_trained_angles_and_plain_places_leave_them() {
        for (trained, length) in [(64.0, 192.0), (8.0, 1024.0), (500.0, 501.0)] {
            let c = with(&[("trained", trained), ("length", length)]);
            for i in 0..4 {
                let limit = c.at("limits", &[i]).unwrap();
                assert!(c.at("interpolated.last", &[i]).unwrap() < limit);
                assert!(c.at("plain.last", &[i]).unwrap() >= limit);
            }
        }
    }

    /// The larger base slows the slowest plane by the whole factor and leaves the fastest alone.
    #[test]
    fn a_larger_base_slows_the_slow_planes() {
        let c = with(&[]);
        assert_eq!(c.at("slowed", &[0]), c.at("frequencies", &[0]));
        let factor = c.at("frequencies", &[3]).unwrap() / c.at("slowed", &[3]).unwrap();
        assert!((factor - c.at("scale", &[]).unwrap()).abs() < 1e-4);
        assert!(c.at("rebased.last", &[3]).unwrap() < c.at("limits", &[3]).unwrap());
    }

    #[test]
    fn a_text_within_the_trained_length_is_left_alone() {
        let c = with(&[("length", 32.0)]);
        assert_eq!(c.at("scale", &[]), Some(1.0));
        assert_eq!(
            c.tensor("plain").unwrap(),
            c.tensor("interpolated").unwrap()
        );
        assert_eq!(c.tensor("plain").unwrap(), c.tensor("rebased").unwrap());
    }
}
