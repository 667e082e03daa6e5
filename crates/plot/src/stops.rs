//! Where a chart can be read: the horizontal positions that have values.

use crate::chart::{Chart, Series};

/// A value of a chart.
#[derive(Debug, Clone, Copy)]
pub struct Reading<'a> {
    /// The series that it belongs to.
    pub series: &'a Series,
    /// Its index in the series.
    pub index: usize,
    /// The value.
    pub value: f64,
}

/// The horizontal positions that have values, in ascending order and each once.
pub fn stops(chart: &Chart) -> Vec<f64> {
    let mut stops: Vec<f64> = chart
        .shown()
        .flat_map(Series::points)
        .map(|p| p.0)
        .collect();
    stops.sort_by(f64::total_cmp);
    stops.dedup();
    stops
}

/// The values at one of the [`stops`].
pub fn readings(chart: &Chart, stop: f64) -> Vec<Reading<'_>> {
    let at = |series| reading(series, stop);
    chart.shown().filter_map(at).collect()
}

fn reading(series: &Series, stop: f64) -> Option<Reading<'_>> {
    let mut points = series.xs.iter().zip(&series.ys).enumerate();
    let (index, (_, &value)) = points.find(|(_, (x, y))| **x == stop && y.is_finite())?;
    Some(Reading {
        series,
        index,
        value,
    })
}

/// The index of the stop nearest to a position on the axis of a chart, as a share of its length.
pub fn nearest(stops: &[f64], share_of: impl Fn(f64) -> f64, share: f64) -> Option<usize> {
    let distance = |i: &usize| (share_of(stops[*i]) - share).abs();
    (0..stops.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, Kind};

    fn series(name: &str, xs: &[f64]) -> Series {
        Series {
            name: name.to_owned(),
            xs: xs.to_vec(),
            ys: xs.iter().map(|x| 10.0 * x).collect(),
            ..Series::default()
        }
    }

    #[test]
    fn a_chart_is_read_where_any_series_has_a_value() {
        let mut chart = Chart {
            series: vec![series("a", &[0.0, 2.0, 4.0]), series("b", &[2.0, 1.0])],
            ..Chart::default()
        };
        chart.series[0].ys[2] = f64::NAN;
        assert_eq!(stops(&chart), [0.0, 1.0, 2.0]);
        let at = |x| {
            readings(&chart, x)
                .iter()
                .map(|r| (r.series.name.as_str(), r.index, r.value))
                .collect::<Vec<_>>()
        };
        assert_eq!(at(2.0), [("a", 1, 20.0), ("b", 0, 20.0)]);
        assert_eq!(at(1.0), [("b", 1, 10.0)]);
    }

    #[test]
    fn the_curve_between_points_is_not_read() {
        let points = Series {
            kind: Kind::Points,
            ..series("", &[0.0, 1.0])
        };
        let chart = Chart {
            series: vec![series("", &[0.0, 0.5, 1.0]), points],
            ..Chart::default()
        };
        assert_eq!(stops(&chart), [0.0, 1.0]);
        assert_eq!(readings(&chart, 1.0).len(), 1);
    }

    #[test]
    fn the_nearest_stop_is_the_nearest_on_the_axis() {
        let axis = Axis::new(1.0, 100.0, true);
        let share = |x| axis.share(x);
        assert_eq!(nearest(&[1.0, 10.0, 100.0], share, 0.3), Some(1));
        assert_eq!(nearest(&[1.0, 10.0, 100.0], share, 9.0), Some(2));
        assert_eq!(nearest(&[], share, 0.3), None);
    }
}
