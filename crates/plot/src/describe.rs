//! A chart in a sentence, for readers who do not see it.

use cells::format::{Format, number};
use cells::symbols::spoken;

use crate::axis::tick_text;
use crate::chart::{Chart, Series};

/// What a chart shows: its axes with the range of the horizontal one, and the first and last value
/// of each series. `label` names the chart, `format` prints the values.
pub fn describe(chart: &Chart, label: &str, format: Format) -> String {
    let mut text = format!("{label}: {} by {}", chart.y_label, chart.x_label);
    let xs = || chart.shown().flat_map(Series::points).map(|point| point.0);
    let (low, high) = xs().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
        (low.min(x), high.max(x))
    });
    if low > high {
        return spoken(&(text + ". No values yet."));
    }
    let end = |x: f64| {
        let spread = (high - low) / 100.0;
        tick_text(x, if x.fract() == 0.0 { 1.0 } else { spread })
    };
    let (low, high) = (end(low), end(high));
    text += &format!(" from {low} to {high}.");
    for series in chart.shown() {
        let (Some(first), Some(last)) = (series.points().next(), series.points().last()) else {
            continue;
        };
        let [first, last] = [first, last].map(|point| number(point.1, format));
        text += &format!(" {}: first {first}, last {last}.", chart.name_of(series));
    }
    spoken(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_is_told_with_its_range_and_its_ends() {
        let chart = Chart {
            x_label: "step".to_owned(),
            y_label: "loss".to_owned(),
            series: vec![Series {
                name: "held out".to_owned(),
                xs: vec![0.0, 25.0, 63.0],
                ys: vec![3.91, f64::NAN, 0.12],
                ..Series::default()
            }],
            ..Chart::default()
        };
        assert_eq!(
            describe(&chart, "Loss", Format::Fixed(2)),
            "Loss: loss by step from 0 to 63. held out: first 3.91, last 0.12."
        );
        let empty = Chart {
            series: Vec::new(),
            ..chart
        };
        assert_eq!(
            describe(&empty, "Loss", Format::Fixed(2)),
            "Loss: loss by step. No values yet."
        );
    }
}
