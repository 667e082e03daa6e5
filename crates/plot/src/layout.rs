//! The layout of a chart: margins, axes and their numbers, places of the names.

use crate::axis::{Axis, tick_text};
use crate::chart::{Chart, Kind, Series};
use crate::labels::{Names, ROW, at_ends, legend, room_at_ends};
use crate::pen::text_width;

/// Least distance between neighbouring points of a curve at which each has a dot.
const DOTTED: f64 = 20.0;

/// Largest radius of a dot that is a series' form.
pub(crate) const DOT: f64 = 3.5;

/// Where a chart has what.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    /// Left end of the plotting rectangle.
    pub left: f64,
    /// Its upper end.
    pub top: f64,
    /// Its right end.
    pub right: f64,
    /// Its lower end.
    pub bottom: f64,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// Numbers of the horizontal axis; none while there are no points.
    pub(crate) x_ticks: Vec<(f64, String)>,
    /// Numbers of the vertical axis.
    pub(crate) y_ticks: Vec<(f64, String)>,
    /// Where the names of the series are.
    pub(crate) names: Names,
}

impl Layout {
    /// Lays a chart out in a width and height.
    pub fn new(chart: &Chart, (width, height): (u32, u32)) -> Self {
        let (width, height) = (f64::from(width), f64::from(height));
        let (x, y) = axes(chart);
        let at_right = room_at_ends(chart, x, (width, height));
        let names = if at_right.is_some() {
            Names::Nowhere
        } else {
            legend(chart, width)
        };
        let rows = match &names {
            Names::Legend(places) => places.last().map_or(0, |place| place.2 + 1),
            _ => 0,
        };
        let points = || chart.series.iter().flat_map(Series::points);
        let numbers = |axis, most, whole| {
            if points().next().is_some() {
                labelled(axis, most, whole)
            } else {
                Vec::new()
            }
        };
        let y_ticks = numbers(y, ((height / 42.0) as usize).clamp(3, 7), false);
        let widest = y_ticks
            .iter()
            .map(|tick| text_width(&tick.1))
            .fold(0.0, f64::max);
        let left = (widest + 10.0).ceil().max(chart.margins.0);
        let mut right = width - at_right.unwrap_or(0.0).max(chart.margins.1);
        // Between tokens, steps and layers there is nothing to number.
        let whole = points().all(|point| point.0.fract() == 0.0);
        let x_ticks = numbers(x, (((right - left) / 75.0) as usize).clamp(3, 8), whole);
        // The last number of the axis is centred below its tick.
        let last = x_ticks.last().map_or(0.0, |tick| {
            let beyond = (right - left) * (1.0 - x.share(tick.0));
            text_width(&tick.1) / 2.0 - beyond
        });
        if at_right.is_none() {
            right = right.min(width - last.max(6.0));
        }
        let mut layout = Self {
            left,
            top: rows as f64 * ROW + if chart.y_label.is_empty() { 8.0 } else { 26.0 },
            right: right.floor(),
            bottom: height - if chart.x_label.is_empty() { 24.0 } else { 42.0 },
            x,
            y,
            x_ticks,
            y_ticks,
            names,
        };
        if at_right.is_some() {
            layout.names = at_ends(chart, &layout);
        }
        layout
    }

    /// Room at the left and at the right of the plotting rectangle of a chart of this width.
    pub fn margins(&self, width: u32) -> (f64, f64) {
        (self.left, f64::from(width) - self.right)
    }

    /// The place of a point, kept within the plotting rectangle.
    pub fn at(&self, x: f64, y: f64) -> (f64, f64) {
        let across = self.x.share(x).clamp(0.0, 1.0);
        let up = self.y.share(y).clamp(0.0, 1.0);
        (
            self.left + across * (self.right - self.left),
            self.bottom - up * (self.bottom - self.top),
        )
    }

    /// Radius of the dots of `count` points: smaller where they would run into each other.
    pub(crate) fn dot_radius(&self, count: usize) -> f64 {
        (0.3 * (self.right - self.left) / count.max(1) as f64).clamp(2.25, DOT)
    }

    /// Whether the points of a curve of `count` points are far enough apart for a dot at each.
    pub(crate) fn has_dots(&self, count: usize) -> bool {
        count > 0 && (self.right - self.left) >= DOTTED * (count - 1) as f64
    }
}

/// Values of an axis with their texts, about `most`; only whole ones where `whole`.
fn labelled(axis: Axis, most: usize, whole: bool) -> Vec<(f64, String)> {
    let mut ticks = axis.ticks(most);
    ticks.retain(|tick| !whole || (tick - tick.round()).abs() < 1e-9);
    let step = match ticks[..] {
        [a, b, ..] => b - a,
        _ => axis.high - axis.low,
    };
    ticks
        .into_iter()
        .map(|t| (t, tick_text(t, if axis.log { t } else { step })))
        .collect()
}

/// Smallest and largest of some numbers.
fn ends(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |ends, v| match ends {
        None => Some((v, v)),
        Some((low, high)) => Some((v.min(low), v.max(high))),
    })
}

/// Half the width of a bar: half the smallest distance between neighbouring bars.
pub(crate) fn half_bar(xs: &[f64]) -> f64 {
    let gap = xs
        .windows(2)
        .map(|w| (w[1] - w[0]).abs())
        .filter(|g| *g > 0.0)
        .fold(f64::INFINITY, f64::min);
    if gap.is_finite() { gap / 2.0 } else { 0.5 }
}

fn axes(chart: &Chart) -> (Axis, Axis) {
    (x_axis(chart), y_axis(chart))
}

fn x_axis(chart: &Chart) -> Axis {
    let values = chart.series.iter().flat_map(|s| {
        let half = if s.kind == Kind::Bars {
            half_bar(&s.xs)
        } else {
            0.0
        };
        s.points().flat_map(move |(x, _)| [x - half, x + half])
    });
    let usable = values.filter(|v| !chart.x_log || *v > 0.0);
    let (low, high) = ends(usable).unwrap_or((0.0, 1.0));
    // A curve of one point begins there: steps, lengths and counts are not drawn below 0.
    let high = if low == high && low >= 0.0 && !chart.x_log {
        low + 1.0
    } else {
        high
    };
    Axis::new(low, high, chart.x_log)
}

fn y_axis(chart: &Chart) -> Axis {
    if let Some((low, high)) = chart.y_range {
        return Axis::new(low, high, chart.y_log);
    }
    let values = chart.series.iter().flat_map(|s| s.points().map(|p| p.1));
    let usable = values.filter(|v| !chart.y_log || *v > 0.0);
    let (low, high) = ends(usable).unwrap_or((0.0, 1.0));
    if chart.y_log {
        let axis = Axis::new(low, high, true);
        // A curve at an end of the axis can be told from the frame.
        let air = (axis.high / axis.low).powf(0.04);
        return Axis::new(axis.low / air, axis.high * air, true);
    }
    let bars = chart.series.iter().any(|s| s.kind == Kind::Bars);
    // Bars grow from zero; curves get a little air, but not below a zero that they do not cross.
    let air = 0.05 * (high - low);
    let floor = if bars || low >= 0.0 && low < 0.35 * high {
        low.min(0.0)
    } else {
        low - air
    };
    let ceiling = if bars { high.max(0.0) } else { high } + air;
    Axis::new(floor, ceiling, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(kind: Kind, ys: Vec<f64>) -> Chart {
        let xs = (0..ys.len()).map(|i| i as f64).collect();
        Chart {
            series: vec![Series {
                kind,
                xs,
                ys,
                ..Series::default()
            }],
            ..Chart::default()
        }
    }

    #[test]
    fn bars_start_at_zero_and_have_room_at_the_sides() {
        let (x, y) = axes(&chart(Kind::Bars, vec![3.0, 5.0, 4.0]));
        assert_eq!((x.low, x.high), (-0.5, 2.5));
        assert_eq!(y.low, 0.0);
        assert!(y.high > 5.0);
    }

    #[test]
    fn what_is_not_finite_has_no_part_in_the_axes() {
        let (_, y) = axes(&chart(
            Kind::Line,
            vec![-1.0, f64::NAN, f64::NEG_INFINITY, 1.0],
        ));
        assert!(y.low < -1.0 && y.low > -1.2 && y.high < 1.2);
        let empty = chart(Kind::Line, vec![]);
        let (x, y) = axes(&empty);
        assert_eq!((x.low, x.high, y.low), (0.0, 1.0, 0.0));
        assert!(
            Layout::new(&empty, (400, 200)).x_ticks.is_empty(),
            "no numbers of nothing"
        );
    }

    #[test]
    fn points_outside_stay_on_the_frame() {
        let chart = Chart {
            y_range: Some((0.0, 1.0)),
            ..chart(Kind::Line, vec![0.0, 9.0])
        };
        let layout = Layout::new(&chart, (400, 200));
        assert_eq!(layout.at(0.0, 9.0), (layout.left, layout.top));
        assert!(layout.left > 0.0 && layout.right < 400.0 && layout.bottom < 200.0);
    }

    #[test]
    fn charts_that_are_compared_have_equal_plotting_rectangles() {
        for size in [(320, 160), (600, 160)] {
            let narrow = chart(Kind::Bars, vec![3.0, 5.0, 4.0]);
            let wide = chart(Kind::Bars, vec![3000.0, 5000.0, 4000.0]);
            let alone = [&narrow, &wide].map(|chart| Layout::new(chart, size));
            assert!(alone[0].left < alone[1].left);
            let beside = Chart {
                margins: alone[1].margins(size.0),
                ..narrow
            };
            let beside = Layout::new(&beside, size);
            assert_eq!((beside.left, beside.right), (alone[1].left, alone[1].right));
        }
    }

    #[test]
    fn names_at_the_ends_take_their_room_from_the_plotting_rectangle() {
        let mut two = chart(Kind::Line, vec![0.0, 1.0]);
        two.series.push(two.series[0].clone());
        let alone = Layout::new(&two, (600, 200));
        for (series, name) in two.series.iter_mut().zip(["in training", "held out"]) {
            series.name = name.to_owned();
        }
        let named = Layout::new(&two, (600, 200));
        assert!(named.right <= 600.0 - text_width("in training"));
        assert!(named.right < alone.right && named.top == alone.top);
        let Names::Ends(names) = &named.names else {
            panic!("a legend")
        };
        assert!(names[1].y - names[0].y >= 14.9, "{names:?}");
        let narrow = Layout::new(&two, (200, 200));
        assert!(matches!(narrow.names, Names::Legend(_)) && narrow.top > alone.top);
    }
}
