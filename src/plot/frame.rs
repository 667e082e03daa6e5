//! The layout of a chart: margins, scales, axes, legend.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::chart::{Chart, Kind};
use super::theme::Theme;
use super::ticks::{Axis, tick_text};

/// Size of the axis numbers and labels in CSS pixels.
pub(crate) const TEXT: f64 = 12.5;
/// Width of a letter as a share of the font size: enough for the widest common faces.
const LETTER: f64 = 0.58;
/// Height of a line of the legend in CSS pixels.
pub(crate) const LEGEND_ROW: f64 = 20.0;

/// A failed drawing; the backend says why.
pub(crate) type Failed<DB> = DrawingAreaErrorKind<<DB as DrawingBackend>::ErrorType>;

/// Colour of a theme for plotters.
pub(crate) fn rgb([r, g, b]: [u8; 3]) -> RGBColor {
    RGBColor(r, g, b)
}

/// The plotting rectangle and both axes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    /// Pixels per CSS pixel.
    pub(crate) scale: f64,
}

impl Frame {
    /// Lays a chart out in `width` x `height` pixels.
    pub(crate) fn new(chart: &Chart, theme: &Theme, (width, height): (u32, u32)) -> Self {
        let s = theme.scale;
        let (x, y) = axes(chart);
        let rows = legend_places(chart, theme, width)
            .last()
            .map_or(0, |last| last.1 + 1);
        let legend = if rows > 0 {
            f64::from(rows) * LEGEND_ROW
        } else {
            4.0
        };
        let widest = y_ticks(y, f64::from(height) / s)
            .iter()
            .map(|t| t.1.chars().count())
            .max()
            .unwrap_or(1);
        let left = (10.0 + widest as f64 * TEXT * LETTER) * s;
        Self {
            left,
            top: (legend + if chart.y_label.is_empty() { 6.0 } else { 22.0 }) * s,
            right: f64::from(width) - 14.0 * s,
            bottom: f64::from(height) - (if chart.x_label.is_empty() { 24.0 } else { 42.0 }) * s,
            x,
            y,
            scale: s,
        }
    }

    /// Pixel of a point, kept within the plotting rectangle.
    pub(crate) fn at(&self, x: f64, y: f64) -> (i32, i32) {
        let across = self.x.share(x).clamp(0.0, 1.0);
        let up = self.y.share(y).clamp(0.0, 1.0);
        let px = self.left + across * (self.right - self.left);
        let py = self.bottom - up * (self.bottom - self.top);
        (px.round() as i32, py.round() as i32)
    }

    fn x_ticks(&self) -> Vec<(f64, String)> {
        let room = (self.right - self.left) / self.scale;
        labelled(self.x, ((room / 70.0) as usize).clamp(2, 8))
    }
}

fn y_ticks(axis: Axis, height: f64) -> Vec<(f64, String)> {
    labelled(axis, ((height / 45.0) as usize).clamp(2, 6))
}

fn labelled(axis: Axis, most: usize) -> Vec<(f64, String)> {
    let ticks = axis.ticks(most);
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
    let usable = |v: &f64, log: bool| !log || *v > 0.0;
    let xs = chart.series.iter().flat_map(|s| {
        let half = if s.kind == Kind::Bars {
            half_bar(&s.xs)
        } else {
            0.0
        };
        s.points().flat_map(move |(x, _)| [x - half, x + half])
    });
    let (x_low, x_high) = ends(xs.filter(|v| usable(v, chart.x_log))).unwrap_or((0.0, 1.0));
    // A curve of one point begins there: steps, lengths and counts are not drawn below 0.
    let x_high = if x_low == x_high && x_low >= 0.0 && !chart.x_log {
        x_low + 1.0
    } else {
        x_high
    };
    let ys = chart.series.iter().flat_map(|s| s.points().map(|(_, y)| y));
    let (mut y_low, mut y_high) = ends(ys.filter(|v| usable(v, chart.y_log))).unwrap_or((0.0, 1.0));
    if let Some((low, high)) = chart.y_range {
        return (
            Axis::new(x_low, x_high, chart.x_log),
            Axis::new(low, high, chart.y_log),
        );
    }
    if !chart.y_log {
        let bars = chart.series.iter().any(|s| s.kind == Kind::Bars);
        // Bars grow from zero; curves get a little air, but not below a zero that they do not
        // cross.
        let air = 0.05 * (y_high - y_low);
        let floor = if bars || y_low >= 0.0 && y_low < 0.35 * y_high {
            y_low.min(0.0)
        } else {
            y_low - air
        };
        y_low = floor;
        y_high = if bars { y_high.max(0.0) } else { y_high } + air;
    }
    (
        Axis::new(x_low, x_high, chart.x_log),
        Axis::new(y_low, y_high, chart.y_log),
    )
}

/// Text in the theme's font, anchored at a point.
pub(crate) fn text<'a, DB: DrawingBackend>(
    root: &DrawingArea<DB, Shift>,
    theme: &'a Theme,
    words: &str,
    at: (i32, i32),
    (h, v): (HPos, VPos),
    colour: [u8; 3],
) -> Result<(), Failed<DB>> {
    let size = TEXT * theme.scale * theme.text;
    let style: TextStyle<'a> = (theme.font.as_str(), size)
        .into_font()
        .color(&rgb(colour))
        .pos(Pos::new(h, v));
    root.draw(&Text::new(words.to_owned(), at, style))
}

/// Grid lines, axis numbers and axis labels.
pub(crate) fn draw_axes<DB: DrawingBackend>(
    root: &DrawingArea<DB, Shift>,
    frame: &Frame,
    chart: &Chart,
    theme: &Theme,
) -> Result<(), Failed<DB>> {
    let s = frame.scale;
    let gap = (6.0 * s).round() as i32;
    let pen = |colour: [u8; 3]| ShapeStyle {
        color: rgb(colour).to_rgba(),
        filled: false,
        stroke_width: s.round().max(1.0) as u32,
    };
    let line = |points: [(i32, i32); 2], colour| root.draw(&PathElement::new(points, pen(colour)));
    let (left, right) = (frame.left.round() as i32, frame.right.round() as i32);
    let bottom = frame.bottom.round() as i32;
    let height = (frame.bottom - frame.top) / s + 46.0;
    for (value, words) in y_ticks(frame.y, height) {
        let y = frame.at(frame.x.low, value).1;
        line([(left, y), (right, y)], theme.rule)?;
        let side = (HPos::Right, VPos::Center);
        text(root, theme, &words, (left - gap, y), side, theme.soft)?;
    }
    for (value, words) in frame.x_ticks() {
        let x = frame.at(value, frame.y.low).0;
        line([(x, bottom), (x, bottom + gap / 2)], theme.soft)?;
        let below = (HPos::Center, VPos::Top);
        text(root, theme, &words, (x, bottom + gap), below, theme.soft)?;
    }
    line([(left, bottom), (right, bottom)], theme.soft)?;
    label_axes(root, frame, chart, theme)
}

/// Names of the axes: one below the numbers, one above the other axis, where it reads without
/// turning the head.
fn label_axes<DB: DrawingBackend>(
    root: &DrawingArea<DB, Shift>,
    frame: &Frame,
    chart: &Chart,
    theme: &Theme,
) -> Result<(), Failed<DB>> {
    let s = frame.scale;
    if !chart.x_label.is_empty() {
        let middle = ((frame.left + frame.right) / 2.0) as i32;
        let at = (middle, (frame.bottom + 24.0 * s) as i32);
        text(
            root,
            theme,
            &chart.x_label,
            at,
            (HPos::Center, VPos::Top),
            theme.ink,
        )?;
    }
    if !chart.y_label.is_empty() {
        let at = ((4.0 * s) as i32, (frame.top - 10.0 * s) as i32);
        text(
            root,
            theme,
            &chart.y_label,
            at,
            (HPos::Left, VPos::Bottom),
            theme.ink,
        )?;
    }
    Ok(())
}

/// Pixels that a name takes up in the legend.
fn legend_width(name: &str, theme: &Theme) -> i32 {
    ((34.0 + name.chars().count() as f64 * TEXT * LETTER) * theme.scale) as i32
}

/// Position of each series in the legend of a chart `width` pixels wide: pixels from the left, and
/// row. Only several series need one.
pub(crate) fn legend_places(chart: &Chart, theme: &Theme, width: u32) -> Vec<(i32, i32)> {
    if chart.series.len() < 2 {
        return Vec::new();
    }
    let start = (4.0 * theme.scale) as i32;
    let (mut x, mut row) = (start, 0);
    let mut places = Vec::new();
    for series in &chart.series {
        let wide = legend_width(&series.name, theme);
        if x > start && i64::from(x + wide) > i64::from(width) {
            (x, row) = (start, row + 1);
        }
        places.push((x, row));
        x += wide;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::chart::Series;

    #[test]
    fn a_legend_goes_on_in_the_next_row_where_the_chart_is_narrow() {
        let mut chart = chart(Kind::Line, vec![0.0, 1.0]);
        assert!(legend_places(&chart, &Theme::default(), 300).is_empty());
        let series = chart.series[0].clone();
        chart.series = ["as trained", "positions squeezed", "a larger base"]
            .map(|name| Series {
                name: name.to_owned(),
                ..series.clone()
            })
            .into();
        let rows = |width| {
            legend_places(&chart, &Theme::default(), width)
                .iter()
                .map(|p| p.1)
                .collect::<Vec<_>>()
        };
        assert_eq!(rows(900), [0, 0, 0]);
        assert_eq!(rows(300), [0, 0, 1]);
        // Too narrow for even one: each has a row of its own and none is lost.
        assert_eq!(rows(60), [0, 1, 2]);
    }

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
        let (x, y) = axes(&chart(Kind::Line, vec![]));
        assert_eq!((x.low, x.high, y.low), (0.0, 1.0, 0.0));
    }

    #[test]
    fn points_outside_stay_on_the_frame() {
        let chart = Chart {
            y_range: Some((0.0, 1.0)),
            ..chart(Kind::Line, vec![0.0, 9.0])
        };
        let frame = Frame::new(&chart, &Theme::default(), (400, 200));
        assert_eq!(frame.at(0.0, 9.0).1, frame.top.round() as i32);
        assert!(frame.left > 0.0 && frame.right < 400.0 && frame.bottom < 200.0);
    }
}
