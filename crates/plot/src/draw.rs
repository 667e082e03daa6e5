//! Drawing a chart, over any backend of plotters.

use plotters::prelude::DrawingBackend;
use plotters::style::text_anchor::{HPos, VPos};

use crate::chart::{Chart, Kind, Series};
use crate::dash::{DASHES, dashed};
use crate::labels::{GAP, Names, ROW, SAMPLE};
use crate::layout::{DOT, Layout, half_bar};
use crate::pen::{Failed, Pen, TEXT, text_width};
use crate::svg::{FINE, write};
use crate::theme::{Role, Theme};

/// Width of a curve.
const CURVE: f64 = 2.0;
/// Shown in place of values.
const NOTHING_YET: &str = "no values yet";
/// Opacity of bars.
const BAR: f64 = 0.62;
/// Width of the line from a curve to its name: no other line has it.
const LEADER: f64 = 0.75;
/// Radius of a dot that marks a point of a curve.
const POINT: f64 = 2.5;

/// A chart as the text of an `<svg>` of these CSS pixels, without title and background. Its colours
/// are classes ([`Role`]), which a style sheet gives their values. `data-inside` is the plotting
/// rectangle, as a `viewBox` would name it.
pub fn svg(chart: &Chart, size: (u32, u32)) -> String {
    let (width, height) = size;
    let layout = Layout::new(chart, size);
    let (left, top) = (layout.left, layout.top);
    let (across, down) = (layout.right - left, layout.bottom - top);
    let mut out = format!(
        "<svg class=\"plot\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         data-inside=\"{left} {top} {across} {down}\">"
    );
    write(&mut out, size, |root| {
        let theme = Theme::of_codes();
        // The backend writes to memory, which does not fail.
        draw(&Pen::new(root, &theme, f64::from(FINE)), chart, &layout).ok();
    });
    out.push_str("</svg>");
    out
}

/// Draws a chart, all but its title and its background.
///
/// # Errors
/// An error of the backend.
pub fn draw<DB: DrawingBackend>(
    pen: &Pen<'_, DB>,
    chart: &Chart,
    layout: &Layout,
) -> Result<(), Failed<DB>> {
    axes(pen, chart, layout)?;
    // The first series is on top: it is what the chart is about.
    for (n, series) in chart.series.iter().enumerate().rev() {
        match series.kind {
            Kind::Bars => bars(pen, layout, series)?,
            Kind::Line => curve(pen, layout, series, dashes(chart, n))?,
            Kind::Points => dots(pen, layout, series, layout.dot_radius(series.xs.len()))?,
        }
    }
    marks(pen, chart, layout)?;
    match &layout.names {
        Names::Nowhere => Ok(()),
        Names::Ends(_) => names_at_ends(pen, chart, layout),
        Names::Legend(places) => legend(pen, chart, places),
    }
}

/// The middle of the pixel that holds a coordinate: a line of one pixel there is sharp.
fn crisp(at: f64) -> f64 {
    at.floor() + 0.5
}

/// Grid lines, axis numbers and names of the axes.
fn axes<DB: DrawingBackend>(
    pen: &Pen<'_, DB>,
    chart: &Chart,
    layout: &Layout,
) -> Result<(), Failed<DB>> {
    let Layout {
        left,
        top,
        right,
        bottom,
        ..
    } = *layout;
    for (value, _) in &layout.y_ticks {
        let y = crisp(layout.at(layout.x.low, *value).1);
        pen.line([(left, y), (right, y)], 1.0, Role::Rule)?;
    }
    let floor = crisp(bottom);
    pen.line([(left, floor), (right, floor)], 1.0, Role::Soft)?;
    for (value, _) in &layout.x_ticks {
        let x = crisp(layout.at(*value, layout.y.low).0);
        pen.line([(x, floor), (x, floor + 4.0)], 1.0, Role::Soft)?;
    }
    for (value, words) in &layout.y_ticks {
        let y = layout.at(layout.x.low, *value).1;
        pen.text(
            words,
            (left - 6.0, y),
            (HPos::Right, VPos::Center),
            Role::Soft,
        )?;
    }
    for (value, words) in &layout.x_ticks {
        let x = layout.at(*value, layout.y.low).0;
        pen.text(
            words,
            (x, bottom + 8.0),
            (HPos::Center, VPos::Top),
            Role::Soft,
        )?;
    }
    let middle = (left + right) / 2.0;
    if layout.x_ticks.is_empty() {
        let centre = (middle, (top + bottom) / 2.0);
        pen.text(
            NOTHING_YET,
            centre,
            (HPos::Center, VPos::Center),
            Role::Soft,
        )?;
    }
    if !chart.x_label.is_empty() {
        pen.text(
            &chart.x_label,
            (middle, bottom + 26.0),
            (HPos::Center, VPos::Top),
            Role::Soft,
        )?;
    }
    if !chart.y_label.is_empty() {
        pen.text(
            &y_name(chart),
            (0.0, top - 12.0),
            (HPos::Left, VPos::Bottom),
            Role::Soft,
        )?;
    }
    Ok(())
}

/// The name of the vertical axis, above the axis: the arrow says that it is no series.
fn y_name(chart: &Chart) -> String {
    format!("\u{2191} {}", chart.y_label)
}

/// Strokes and gaps of a curve: solid, unless an earlier curve has the same colour.
fn dashes(chart: &Chart, n: usize) -> &'static [f64] {
    let series = &chart.series[n];
    let same = |s: &&Series| s.kind == Kind::Line && s.concept == series.concept;
    DASHES[chart.series[..n].iter().filter(same).count() % DASHES.len()]
}

fn curve<DB: DrawingBackend>(
    pen: &Pen<'_, DB>,
    layout: &Layout,
    series: &Series,
    dashes: &[f64],
) -> Result<(), Failed<DB>> {
    let role = Role::Of(series.concept);
    for run in runs(layout, series) {
        for piece in dashed(&run, dashes) {
            pen.line(piece, CURVE, role)?;
        }
    }
    if layout.has_dots(series.xs.len()) {
        dots(pen, layout, series, POINT)?;
    }
    Ok(())
}

/// Places of consecutive finite points: a point that is not finite breaks the curve instead of
/// being bridged.
fn runs(layout: &Layout, series: &Series) -> Vec<Vec<(f64, f64)>> {
    let mut runs = vec![Vec::new()];
    for (&x, &y) in series.xs.iter().zip(&series.ys) {
        if x.is_finite() && y.is_finite() {
            if let Some(run) = runs.last_mut() {
                run.push(layout.at(x, y));
            }
        } else {
            runs.push(Vec::new());
        }
    }
    runs.retain(|run| run.len() > 1);
    runs
}

fn bars<DB: DrawingBackend>(
    pen: &Pen<'_, DB>,
    layout: &Layout,
    series: &Series,
) -> Result<(), Failed<DB>> {
    let half = half_bar(&series.xs);
    let base = if layout.y.log {
        layout.y.low
    } else {
        0.0_f64.max(layout.y.low)
    };
    for (x, y) in series.points() {
        let ((x0, y0), (x1, y1)) = (layout.at(x - half, y), layout.at(x + half, base));
        // A gap parts neighbours where there is room for one.
        let x1 = if x1 - x0 > 3.0 {
            x1 - 1.0
        } else {
            x1.max(x0 + 0.5)
        };
        let corners = [(x0, y0.min(y1)), (x1, y0.max(y1))];
        pen.rectangle(corners, Role::Of(series.concept), BAR)?;
    }
    Ok(())
}

fn dots<DB: DrawingBackend>(
    pen: &Pen<'_, DB>,
    layout: &Layout,
    series: &Series,
    radius: f64,
) -> Result<(), Failed<DB>> {
    for (x, y) in series.points() {
        pen.dot(layout.at(x, y), radius, Role::Of(series.concept))?;
    }
    Ok(())
}

/// Vertical lines with their words: above the plotting rectangle, or in it where the name of the
/// axis is in the way.
fn marks<DB: DrawingBackend>(
    pen: &Pen<'_, DB>,
    chart: &Chart,
    layout: &Layout,
) -> Result<(), Failed<DB>> {
    let Layout {
        left,
        top,
        right,
        bottom,
        ..
    } = *layout;
    let taken = text_width(&y_name(chart)) + 6.0;
    let inside = |at: &&(f64, String)| (0.0..=1.0).contains(&layout.x.share(at.0));
    for (value, words) in chart.marks.iter().filter(inside) {
        let x = crisp(layout.at(*value, layout.y.low).0);
        let half = text_width(words) / 2.0;
        let middle = x.min(right - half).max(left + half);
        let is_free = chart.y_label.is_empty() || middle - half > taken;
        let high = if is_free { top - 8.0 } else { top };
        pen.line([(x, high), (x, bottom)], 1.0, Role::Ink)?;
        if is_free {
            pen.text(
                words,
                (middle, top - 12.0),
                (HPos::Center, VPos::Bottom),
                Role::Ink,
            )?;
        } else {
            pen.text(words, (x + 5.0, top), (HPos::Left, VPos::Top), Role::Ink)?;
        }
    }
    Ok(())
}

/// The name of each series beside its end, with a thin line to it where it was moved.
fn names_at_ends<DB: DrawingBackend>(
    pen: &Pen<'_, DB>,
    chart: &Chart,
    layout: &Layout,
) -> Result<(), Failed<DB>> {
    let Names::Ends(names) = &layout.names else {
        return Ok(());
    };
    let x = layout.right + GAP;
    for name in names {
        let series = &chart.series[name.series];
        let role = Role::Of(series.concept);
        if (name.y - name.end.1).abs() > TEXT / 2.0 || layout.right - name.end.0 > GAP {
            pen.line([name.end, (x - 2.0, name.y)], LEADER, role)?;
        }
        pen.text(&series.name, (x, name.y), (HPos::Left, VPos::Center), role)?;
    }
    Ok(())
}

/// Names of the series along the top, each with a sample of its form.
fn legend<DB: DrawingBackend>(
    pen: &Pen<'_, DB>,
    chart: &Chart,
    places: &[(usize, f64, usize)],
) -> Result<(), Failed<DB>> {
    for &(n, x, row) in places {
        let series = &chart.series[n];
        let role = Role::Of(series.concept);
        let y = (row as f64 + 0.5) * ROW;
        match series.kind {
            Kind::Line => {
                for piece in dashed(&[(x, y), (x + SAMPLE, y)], dashes(chart, n)) {
                    pen.line(piece, CURVE, role)?;
                }
            }
            Kind::Bars => {
                pen.rectangle([(x, y - 5.0), (x + SAMPLE, y + 5.0)], role, BAR)?;
            }
            Kind::Points => pen.dot((x + SAMPLE / 2.0, y), DOT, role)?,
        }
        let start = (x + SAMPLE + 5.0, y);
        pen.text(&series.name, start, (HPos::Left, VPos::Center), role)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Concept;

    fn line(concept: Concept, points: &[(f64, f64)]) -> Series {
        Series {
            xs: points.iter().map(|p| p.0).collect(),
            ys: points.iter().map(|p| p.1).collect(),
            concept,
            ..Series::default()
        }
    }

    fn drawn(series: Vec<Series>) -> String {
        svg(
            &Chart {
                series,
                ..Chart::default()
            },
            (611, 233),
        )
    }

    /// The points of the first curve of a concept.
    fn points(svg: &str, class: &str) -> Vec<(f64, f64)> {
        let start =
            format!("<path class=\"s {class}\" stroke-width=\"2\" stroke-linejoin=\"round\" d=\"M");
        let path = svg.split_once(&start).unwrap().1.split('"').next().unwrap();
        let numbers: Vec<f64> = path.split([' ', 'M']).map(|n| n.parse().unwrap()).collect();
        numbers.chunks(2).map(|pair| (pair[0], pair[1])).collect()
    }

    #[test]
    fn a_straight_line_stays_straight_to_an_eighth_of_a_pixel() {
        let straight: Vec<_> = (0..=97)
            .map(|i| (f64::from(i), 0.37 * f64::from(i)))
            .collect();
        let points = points(&drawn(vec![line(Concept::Query, &straight)]), "c-query");
        assert_eq!(points.len(), 98);
        let ((x0, y0), (x1, y1)) = (points[0], points[97]);
        for (x, y) in points {
            let on_line = y0 + (y1 - y0) * (x - x0) / (x1 - x0);
            assert!((y - on_line).abs() <= 0.125, "{x} {y}: {on_line}");
        }
    }

    #[test]
    fn a_point_that_is_not_finite_breaks_the_curve() {
        let broken: Vec<_> = (0..200)
            .map(|i| (f64::from(i), if i == 50 { f64::NAN } else { 1.0 }))
            .collect();
        let svg = drawn(vec![line(Concept::Key, &broken)]);
        let path = svg.split_once("class=\"s c-key\"").unwrap().1;
        assert_eq!(path.split_once("/>").unwrap().0.matches('M').count(), 2);
    }

    #[test]
    fn only_curves_of_one_colour_are_dashed() {
        let points = [(0.0, 1.0), (1.0, 2.0)];
        let [a, b] = [Concept::Key, Concept::Value].map(|concept| line(concept, &points));
        let chart = Chart {
            series: vec![a.clone(), b, a],
            ..Chart::default()
        };
        assert!(dashes(&chart, 0).is_empty() && dashes(&chart, 1).is_empty());
        assert!(!dashes(&chart, 2).is_empty());
    }

    #[test]
    fn colours_are_classes_and_the_axis_is_named_above_it() {
        let mut chart = Chart {
            x_label: "step".to_owned(),
            y_label: "a < b".to_owned(),
            series: vec![line(Concept::Score, &[(0.0, 1.0), (9.0, 2.0)])],
            marks: vec![(4.0, "now".to_owned())],
            ..Chart::default()
        };
        let text = svg(&chart, (600, 240));
        assert!(text.contains("\u{2191} a &lt; b</text>"), "{text}");
        assert!(text.contains(">now</text>") && text.contains(">step</text>"));
        let inside = Layout::new(&chart, (600, 240));
        assert!(text.contains(&format!("data-inside=\"{} {} ", inside.left, inside.top)));
        assert!(!text.contains('#') && !text.contains("c-query"), "{text}");
        chart.series.clear();
        assert!(
            svg(&chart, (600, 240)).ends_with("</svg>"),
            "nothing to draw is drawn"
        );
    }
}
