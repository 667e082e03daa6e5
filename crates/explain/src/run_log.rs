//! The log of training runs that a lesson draws: the rows of one scheme, one run a row, and what
//! they have in common.
//!
//! ```text
//! setting  NAME  VALUE              KIND  SCHEME  SEED  number …      fields separated by tabs; - for no number, at the end
//! rows(log, kind, scheme)           the numbers of these lines                                 -> [seeds, N]
//! spread(rows)                      mean, lowest and highest of each column                    rows [seeds, N] -> [3, N]
//! means_within(rows, ranges)        the mean of each row over each range of columns            -> [seeds, ranges]
//! ```
//!
//! ```
//! use explain::run_log::{means_within, rows, setting, spread};
//! use ndarray::array;
//! let log = "setting\tsteps\t9\nposition\tsines\t1\t2.5\t3.5\t-\nposition\tsines\t2\t1.5\t2.5\t-\n";
//! assert_eq!(setting(log, "steps")?, "9");
//! let found = rows(log, "position", "sines")?;
//! assert_eq!(found, array![[2.5, 3.5], [1.5, 2.5]]);
//! assert_eq!(spread(found.view())?, array![[2.0, 3.0], [1.5, 2.5], [2.5, 3.5]]);
//! assert_eq!(means_within(found.view(), &[0..2])?, array![[3.0], [2.0]]);
//! # Ok::<(), engine::EngineError>(())
//! ```

use engine::error::{EngineError, Result};
use engine::shape;
use ndarray::{Array2, ArrayView2, Axis, Slice};
use std::ops::Range;

/// The value of a setting.
///
/// # Errors
/// When the log has no such setting.
pub fn setting<'a>(log: &'a str, name: &str) -> Result<&'a str> {
    let mut all = log
        .lines()
        .filter_map(|line| line.strip_prefix("setting\t"));
    let found = all.find_map(|line| line.strip_prefix(name)?.strip_prefix('\t'));
    found.ok_or_else(|| EngineError::shape("run_log", format!("the setting {name}"), "none"))
}

/// The numbers of the lines of a kind and a scheme, a line each; a line ends before the first `-`.
///
/// # Errors
/// When there is no such line, a field is no number, or lines have different lengths.
pub fn rows(log: &str, kind: &str, scheme: &str) -> Result<Array2<f32>> {
    // -> [seeds, N]
    let (mut all, mut count, mut width) = (Vec::new(), 0, 0);
    for line in log.lines() {
        let mut fields = line.split('\t');
        if (fields.next(), fields.next()) != (Some(kind), Some(scheme)) {
            continue;
        }
        let before = all.len();
        for field in fields.skip(1).take_while(|&field| field != "-") {
            let number = field.parse::<f32>().ok().filter(|x| x.is_finite());
            let wrong = || EngineError::shape("run_log", "a number", format!("{field:?}"));
            all.push(number.ok_or_else(wrong)?);
        }
        let found = all.len() - before;
        if count > 0 {
            shape::expect("run_log", "numbers of a run", &[width], &[found])?;
        }
        (count, width) = (count + 1, found);
    }
    if count == 0 {
        let expected = format!("lines of {kind} for {scheme}");
        return Err(EngineError::shape("run_log", expected, "none"));
    }
    shape::matrix("run_log", count, width, all)
}

/// Mean, lowest and highest number of each column.
///
/// # Errors
/// When there is no row.
pub fn spread(rows: ArrayView2<'_, f32>) -> Result<Array2<f32>> {
    // rows [seeds, N] -> [3, N]
    if rows.nrows() == 0 {
        return Err(EngineError::value("spread", "rows", "at least 1", 0));
    }
    let mut out = Array2::zeros((3, rows.ncols()));
    for (column, mut to) in rows.axis_iter(Axis(1)).zip(out.axis_iter_mut(Axis(1))) {
        to[0] = column.sum() / column.len() as f32;
        to[1] = column.iter().copied().fold(f32::INFINITY, f32::min);
        to[2] = column.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    }
    Ok(out)
}

/// The mean of each row over each range of columns; ranges that the rows do not reach the end of are
/// left out.
///
/// # Errors
/// When a range is empty.
pub fn means_within(rows: ArrayView2<'_, f32>, ranges: &[Range<usize>]) -> Result<Array2<f32>> {
    // rows [seeds, N] -> [seeds, ranges]
    if let Some(empty) = ranges.iter().find(|range| range.is_empty()) {
        let found = format!("{empty:?}");
        return Err(EngineError::value(
            "means_within",
            "range",
            "at least 1 column",
            found,
        ));
    }
    let reached = ranges.iter().filter(|range| range.end <= rows.ncols());
    let reached: Vec<&Range<usize>> = reached.collect();
    Ok(Array2::from_shape_fn(
        (rows.nrows(), reached.len()),
        |(seed, n)| {
            let range = reached[n].clone();
            let count = range.len() as f32;
            let columns = Slice::from(range);
            rows.row(seed).slice_axis(Axis(0), columns).sum() / count
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_is_not_one_is_refused() {
        for log in [
            "",
            "position\tsines\t1\t2.5\tx",
            "position\tsines\t1\tNaN",
            "position\tsines\t1\t2.5\nposition\tsines\t2\t2.5\t3.5",
            "training\tsines\t1\t2.5",
        ] {
            assert!(rows(log, "position", "sines").is_err(), "{log}");
            assert!(setting(log, "steps").is_err());
        }
        assert!(setting("setting\tsteps of warm-up\t3", "steps").is_err());
    }

    #[test]
    fn ranges_beyond_the_end_have_no_mean() {
        let rows = ndarray::array![[1.0, 2.0, 4.0]];
        let found = means_within(rows.view(), &[0..2, 2..3, 1..4]).unwrap();
        assert_eq!(found, ndarray::array![[1.5, 4.0]]);
        assert!(means_within(rows.view(), &[Range { start: 1, end: 1 }]).is_err());
        assert!(spread(Array2::zeros((0, 3)).view()).is_err());
    }
}
