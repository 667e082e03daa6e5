//! Names of the series: at the ends of their lines, or in a legend.

use crate::axis::Axis;
use crate::chart::{Chart, Kind, Series};
use crate::layout::Layout;
use crate::pen::text_width;

/// Height of a row of the legend, and least distance between two names at the ends of lines.
pub(crate) const ROW: f64 = 18.0;
/// Least distance between names one below the other.
const LINE: f64 = 15.0;
/// From the end of the plotting rectangle to a name.
pub(crate) const GAP: f64 = 8.0;
/// Length of the sample of a line in the legend.
pub(crate) const SAMPLE: f64 = 18.0;

/// Where the names of the series are.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) enum Names {
    /// Nowhere: one series needs no name beside the axis.
    #[default]
    Nowhere,
    /// At the ends of the lines: for each name its series, the end of the line, and the height of
    /// the name.
    Ends(Vec<EndName>),
    /// Above the chart: for each name its series, its distance from the left, and its row.
    Legend(Vec<(usize, f64, usize)>),
}

/// The name of a series beside the end of its line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EndName {
    pub(crate) series: usize,
    /// The point of the series farthest to the right.
    pub(crate) end: (f64, f64),
    /// Middle of the name.
    pub(crate) y: f64,
}

/// The series that have a name to show, with their numbers.
fn named(chart: &Chart) -> Vec<(usize, &Series)> {
    let is_named = |s: &Series| !s.name.is_empty() && !chart.is_guide(s);
    let named: Vec<_> = chart
        .series
        .iter()
        .enumerate()
        .filter(|(_, s)| is_named(s))
        .collect();
    if named.len() < 2 { Vec::new() } else { named }
}

/// Room to the right of the plotting rectangle for names at the ends of lines; `None` where the
/// chart has none, is too narrow or too low for them, or where its series do not end at the right.
pub(crate) fn room_at_ends(chart: &Chart, x: Axis, (width, height): (f64, f64)) -> Option<f64> {
    let named = named(chart);
    let widest = named
        .iter()
        .map(|(_, s)| text_width(&s.name))
        .fold(0.0, f64::max);
    let room = GAP + widest;
    let fits = room <= 0.34 * width && named.len() as f64 * LINE <= 0.7 * height;
    let ends_at_right =
        |s: &Series| s.kind != Kind::Bars && end(s).is_some_and(|end| x.share(end.0) >= 0.65);
    let wanted = fits && !named.is_empty() && named.iter().all(|(_, s)| ends_at_right(s));
    wanted.then_some(room)
}

/// The point farthest to the right.
fn end(series: &Series) -> Option<(f64, f64)> {
    series.points().max_by(|a, b| a.0.total_cmp(&b.0))
}

/// Names at the ends of the lines, moved apart where they would overlap.
pub(crate) fn at_ends(chart: &Chart, layout: &Layout) -> Names {
    let mut names: Vec<EndName> = named(chart)
        .into_iter()
        .filter_map(|(series, s)| {
            let (x, y) = end(s)?;
            let end = layout.at(x, y);
            Some(EndName {
                series,
                end,
                y: end.1,
            })
        })
        .collect();
    names.sort_by(|a, b| a.y.total_cmp(&b.y));
    let wanted: Vec<f64> = names.iter().map(|name| name.y).collect();
    for (name, y) in names
        .iter_mut()
        .zip(moved_apart(&wanted, LINE, (layout.top, layout.bottom)))
    {
        name.y = y;
    }
    Names::Ends(names)
}

/// The heights nearest to those wanted (ascending) that are `gap` apart and between the ends, as
/// far as there is room: neighbours that are too near move away from their common middle.
fn moved_apart(wanted: &[f64], gap: f64, (low, high): (f64, f64)) -> Vec<f64> {
    // Without the gaps before it, each height must be at least the one before: the best such
    // sequence has the mean of its members in each group that was out of order.
    let mut groups: Vec<(f64, usize)> = Vec::new();
    for (i, y) in wanted.iter().enumerate() {
        let (mut sum, mut count) = (y - i as f64 * gap, 1);
        while let Some(&(before, members)) = groups.last() {
            if before / members as f64 <= sum / count as f64 {
                break;
            }
            (sum, count) = (sum + before, count + members);
            groups.pop();
        }
        groups.push((sum, count));
    }
    let last = high - gap * wanted.len().saturating_sub(1) as f64;
    groups
        .iter()
        .flat_map(|&(sum, count)| std::iter::repeat_n(sum / count as f64, count))
        .enumerate()
        .map(|(i, y)| y.min(last).max(low) + i as f64 * gap)
        .collect()
}

/// Positions of the names in a legend of this width.
pub(crate) fn legend(chart: &Chart, width: f64) -> Names {
    let (mut x, mut row) = (0.0, 0);
    let mut places = Vec::new();
    for (series, s) in named(chart) {
        let wide = SAMPLE + 5.0 + text_width(&s.name);
        if x > 0.0 && x + wide > width {
            (x, row) = (0.0, row + 1);
        }
        places.push((series, x, row));
        x += wide + 16.0;
    }
    if places.is_empty() {
        Names::Nowhere
    } else {
        Names::Legend(places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AXIS: Axis = Axis {
        low: 0.0,
        high: 1.0,
        log: false,
    };

    fn chart(names: &[&str], kind: Kind) -> Chart {
        let series = names.iter().map(|name| Series {
            name: (*name).to_owned(),
            kind,
            xs: vec![0.0, 1.0],
            ys: vec![0.0, 1.0],
            ..Series::default()
        });
        Chart {
            series: series.collect(),
            ..Chart::default()
        }
    }

    #[test]
    fn names_that_would_overlap_move_apart_around_their_middle() {
        assert_eq!(moved_apart(&[10.0, 50.0], 15.0, (0.0, 100.0)), [10.0, 50.0]);
        assert_eq!(
            moved_apart(&[50.0, 50.0, 50.0], 15.0, (0.0, 100.0)),
            [35.0, 50.0, 65.0]
        );
        assert_eq!(moved_apart(&[0.0, 0.0], 15.0, (0.0, 100.0)), [0.0, 15.0]);
        assert_eq!(
            moved_apart(&[99.0, 100.0], 15.0, (0.0, 100.0)),
            [85.0, 100.0]
        );
        assert_eq!(
            moved_apart(&[40.0, 44.0, 60.0], 15.0, (0.0, 100.0)),
            [33.0, 48.0, 63.0]
        );
        assert!(moved_apart(&[], 15.0, (0.0, 100.0)).is_empty());
    }

    #[test]
    fn names_are_at_the_ends_of_lines_where_there_is_room() {
        let lines = chart(&["as trained", "a larger base"], Kind::Line);
        assert!(room_at_ends(&lines, AXIS, (600.0, 200.0)).is_some());
        assert_eq!(
            room_at_ends(&lines, AXIS, (200.0, 200.0)),
            None,
            "too narrow"
        );
        let bars = chart(&["as trained", "a larger base"], Kind::Bars);
        assert_eq!(
            room_at_ends(&bars, AXIS, (600.0, 200.0)),
            None,
            "bars have no ends"
        );
        let one = chart(&["as trained"], Kind::Line);
        assert_eq!(
            room_at_ends(&one, AXIS, (600.0, 200.0)),
            None,
            "one needs no name"
        );
        assert_eq!(legend(&one, 600.0), Names::Nowhere);
    }

    #[test]
    fn a_series_that_ends_early_is_named_in_the_legend() {
        let mut early = chart(&["a", "b"], Kind::Line);
        early.series[1].xs = vec![1.0, 0.0];
        assert!(
            room_at_ends(&early, AXIS, (600.0, 200.0)).is_some(),
            "the order of the points does not matter"
        );
        early.series[1].xs = vec![0.0, 0.2];
        assert_eq!(room_at_ends(&early, AXIS, (600.0, 200.0)), None);
    }

    #[test]
    fn a_legend_continues_in_the_next_row_where_the_chart_is_narrow() {
        let chart = chart(
            &["as trained", "positions squeezed", "a larger base"],
            Kind::Bars,
        );
        let rows = |width| match legend(&chart, width) {
            Names::Legend(places) => places.iter().map(|place| place.2).collect(),
            _ => Vec::new(),
        };
        assert_eq!(rows(900.0), [0, 0, 0]);
        assert_eq!(rows(290.0), [0, 0, 1]);
        // Too narrow for even one: each has a row of its own and none is lost.
        assert_eq!(rows(60.0), [0, 1, 2]);
    }
}
