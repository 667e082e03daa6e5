//! A query and a key turned by their places: the score depends on their offset only.

use ndarray::{Array2, ArrayView2, Axis, Slice, concatenate};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::parts::measure::largest;
use crate::spec::{CellSpec, Run};

/// Width of query and key: two planes.
const WIDTH: usize = 4;

/// Shifts of both places over which the score is followed.
const SHIFTS: usize = 100;

/// Largest offset of the key from the query on the curve of scores by offset.
const REACH: usize = 32;

/// Points of that curve for each whole offset: between whole offsets the score may turn more than
/// once, which a line from one to the next would hide.
const BETWEEN: usize = 8;

/// The cell `rotary`.
pub const SPEC: CellSpec = CellSpec {
    name: "rotary",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    let (query, key) = (
        ndarray::arr2(&[[1.0, 0.2, 0.6, 0.8]]),
        ndarray::arr2(&[[0.9, 0.5, 0.9, 0.1]]),
    );
    vec![
        InputSpec::matrix("q", "Query $q$", (1, 1), (WIDTH, WIDTH), query),
        InputSpec::matrix("k", "Key $k$", (1, 1), (WIDTH, WIDTH), key),
        InputSpec::number("m", "Query position $m$", (0.0, 100.0, 1.0), 6.0),
        InputSpec::number("n", "Key position $n$", (0.0, 100.0, 1.0), 4.0),
        InputSpec::number("shift", "Move both by", (0.0, SHIFTS as f64, 1.0), 0.0),
        InputSpec::number("power", "Base, as a power of ten", (0.5, 6.0, 0.1), 4.0),
    ]
}

/// The same row `count` times.
fn repeat(row: ArrayView2<'_, f32>, count: usize) -> Result<Array2<f32>, CellError> {
    concatenate(Axis(0), &vec![row; count]).map_err(|e| CellError::Mismatch(e.to_string()))
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let (q, k) = (inputs.matrix("q")?, inputs.matrix("k")?);
    let (m, n) = (inputs.count("m")? as f32, inputs.count("n")? as f32);
    let shift = inputs.count("shift")?.min(SHIFTS);
    let exponent = inputs.number("power")? as f32;
    let mut record = Record::new();
    let base = shown!(record, engine::math::pow, 10.0_f32, exponent);
    let queries: Vec<f32> = (0..=SHIFTS).map(|s| m + s as f32).collect();
    let keys: Vec<f32> = (0..=SHIFTS).map(|s| n + s as f32).collect();
    let copies = (repeat(q.view(), SHIFTS + 1)?, repeat(k.view(), SHIFTS + 1)?);
    let turned_q = shown!(
        record,
        explain::rotary::rotate,
        copies.0.view(),
        &queries[..],
        base
    )?;
    let turned_k = shown!(
        record,
        explain::rotary::rotate,
        copies.1.view(),
        &keys[..],
        base
    )?;
    // Entry [s, s] is the score after moving both by s.
    let scores = shown!(
        record,
        engine::nn::attention::scores,
        turned_q.view(),
        turned_k.view(),
        1.0_f32
    )?;
    let by_shift = scores.diag().to_owned();
    let (here_q, here_k) = (turned_q.row(shift), turned_k.row(shift));
    record.tensor("turned_q", &here_q);
    record.tensor("turned_k", &here_k);
    record.number("score", f64::from(by_shift[shift]));
    record.number("score_at_start", f64::from(by_shift[0]));
    let changes: Vec<f64> = by_shift
        .iter()
        .map(|&s| (f64::from(s) - f64::from(by_shift[0])).abs())
        .collect();
    record.number("largest_change", largest(&changes));
    record.tensor("by_shift", &by_shift);
    record.number("base", f64::from(base));
    record.number("place_q", f64::from(queries[shift]));
    record.number("place_k", f64::from(keys[shift]));
    record.number("offset", f64::from(n - m));
    lengths(&mut record, q, k, &turned_q, &turned_k, shift)?;
    clocks(&mut record, &[queries[shift], keys[shift]], base);
    by_offset(&mut record, q, k, base)?;
    Ok(record.finish())
}

/// Squared lengths of query and key before and after turning.
fn lengths(
    record: &mut Record,
    q: &Array2<f32>,
    k: &Array2<f32>,
    turned_q: &Array2<f32>,
    turned_k: &Array2<f32>,
    shift: usize,
) -> Result<(), CellError> {
    let (q, k, turned_q, turned_k) = (q.row(0), k.row(0), turned_q.row(shift), turned_k.row(shift));
    let before = [
        shown!(record, explain::similarity::dot, q, q)?,
        shown!(record, explain::similarity::dot, k, k)?,
    ];
    let after = [
        shown!(record, explain::similarity::dot, turned_q, turned_q)?,
        shown!(record, explain::similarity::dot, turned_k, turned_k)?,
    ];
    let unturned = shown!(record, explain::similarity::dot, q, k)?;
    record.tensor("squared_length", &ndarray::aview1(&before));
    record.tensor("squared_length_turned", &ndarray::aview1(&after));
    record.number("unturned_score", f64::from(unturned));
    Ok(())
}

/// Frequencies, wavelengths and the angles that query (row 0) and key (row 1) have turned by.
fn clocks(record: &mut Record, places: &[f32], base: f32) {
    let omega = shown!(record, explain::rotary::frequencies, WIDTH, base);
    let angles = shown!(record, explain::angle::angles, places, &omega[..]);
    let waves = shown!(record, explain::angle::wavelengths, &omega[..]);
    record.tensor("frequencies", &ndarray::aview1(&omega));
    record.tensor("angles", &angles);
    record.tensor("wavelengths", &waves);
}

/// The score with the query at place 0 and the key at each offset from it, and between the offsets.
fn by_offset(
    record: &mut Record,
    q: &Array2<f32>,
    k: &Array2<f32>,
    base: f32,
) -> Result<(), CellError> {
    let offset = |i: usize| i as f32 / BETWEEN as f32 - REACH as f32;
    let offsets: Vec<f32> = (0..=2 * REACH * BETWEEN).map(offset).collect();
    let copies = repeat(k.view(), offsets.len())?;
    let turned = shown!(
        record,
        explain::rotary::rotate,
        copies.view(),
        &offsets[..],
        base
    )?;
    let scores = shown!(
        record,
        engine::nn::attention::scores,
        q.view(),
        turned.view(),
        1.0_f32
    )?;
    let (scores, offsets) = (scores.row(0), ndarray::aview1(&offsets));
    record.tensor("curve", &scores);
    record.tensor("curve.offsets", &offsets);
    let whole = Slice::new(0, None, BETWEEN as isize);
    record.tensor("by_offset", &scores.slice_axis(Axis(0), whole));
    record.tensor("offsets", &offsets.slice_axis(Axis(0), whole));
    Ok(())
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

    /// The curriculum's check: over 100 shifts the score changes by less than 1e-4, whatever the
    /// base.
    #[test]
    fn the_score_depends_on_the_offset_only() {
        for power in [0.5, 2.0, 4.0, 6.0] {
            for (m, n) in [(6.0, 4.0), (0.0, 100.0), (100.0, 3.0)] {
                let c = with(&[("power", power), ("m", m), ("n", n)]);
                assert_eq!(c.tensor("by_shift").unwrap().shape(), [101]);
                let change = c.at("largest_change", &[]).unwrap();
                assert!(
                    change < 1e-4,
                    "base 10^{power}, places {m} and {n}: {change}"
                );
            }
        }
    }

    #[test]
    fn the_offset_does_change_the_score_and_lengths_stay() {
        let (near, far) = (with(&[("n", 6.0)]), with(&[("n", 9.0)]));
        let (a, b) = (
            near.at("score", &[]).unwrap(),
            far.at("score", &[]).unwrap(),
        );
        assert!((a - b).abs() > 0.1);
        // At offset 0 nothing has turned against anything.
        assert!((a - near.at("unturned_score", &[]).unwrap()).abs() < 1e-5);
        for i in 0..2 {
            let before = far.at("squared_length", &[i]).unwrap();
            assert!((far.at("squared_length_turned", &[i]).unwrap() - before).abs() < 1e-5);
        }
    }

    /// What the exercise `before-or-after` says of plane 0, which turns by one radian a position.
    #[test]
    fn the_key_of_plane_0_starts_ahead_of_the_query() {
        let given = Inputs::defaults(&inputs());
        let angle = |name: &str| {
            let row = given.matrix(name).unwrap();
            f64::from(row[[0, 1]]).atan2(f64::from(row[[0, 0]]))
        };
        let ahead = angle("k") - angle("q");
        assert!((ahead - 0.3).abs() < 0.02, "{ahead}");
    }

    #[test]
    fn the_curve_by_offset_agrees_with_the_score() {
        let c = with(&[("m", 10.0), ("n", 3.0), ("shift", 40.0)]);
        let on_curve = c.at("by_offset", &[REACH - 7]).unwrap();
        assert!((c.at("score", &[]).unwrap() - on_curve).abs() < 1e-5);
        assert_eq!(c.at("offset", &[]), Some(-7.0));
        assert_eq!(c.at("place_q", &[]), Some(50.0));
    }
}
