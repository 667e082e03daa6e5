//! Drawing a chart, over any backend of plotters.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::chart::{Chart, Kind, Series};
use super::frame::{Failed, Frame, LEGEND_ROW, draw_axes, half_bar, legend_places, rgb, text};
use super::theme::Theme;

/// Lengths of strokes and gaps in CSS pixels that tell curves apart without colour: the first is
/// solid.
const DASHES: [&[f64]; 4] = [&[], &[7.0, 4.0], &[2.0, 3.0], &[9.0, 3.0, 2.0, 3.0]];

/// Draws the whole chart but its title.
///
/// # Errors
/// An error of the backend.
pub fn draw<DB: DrawingBackend>(
    root: &DrawingArea<DB, Shift>,
    chart: &Chart,
    theme: &Theme,
) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
    root.fill(&rgb(theme.sheet))?;
    let frame = Frame::new(chart, theme, root.dim_in_pixel());
    draw_axes(root, &frame, chart, theme)?;
    for (n, series) in chart.series.iter().enumerate() {
        match series.kind {
            Kind::Bars => bars(root, &frame, series, theme)?,
            Kind::Line => line(root, &frame, series, theme, n)?,
            Kind::Points => dots(root, &frame, series, theme)?,
        }
    }
    marks(root, &frame, chart, theme)?;
    legend(root, chart, theme)?;
    root.present()
}

fn pen(colour: [u8; 3], width: f64, theme: &Theme) -> ShapeStyle {
    let stroke_width = (width * theme.scale).round().max(1.0) as u32;
    ShapeStyle {
        color: rgb(colour).to_rgba(),
        filled: false,
        stroke_width,
    }
}

fn line<DB: DrawingBackend>(
    root: &DrawingArea<DB, Shift>,
    frame: &Frame,
    series: &Series,
    theme: &Theme,
    n: usize,
) -> Result<(), Failed<DB>> {
    let style = pen(theme.concept(series.concept), 2.0, theme);
    // A point that is not finite breaks the curve instead of being bridged.
    for run in runs(frame, series) {
        path(root, &run, DASHES[n % DASHES.len()], theme.scale, style)?;
    }
    Ok(())
}

/// Stretches of consecutive finite points, in pixels.
fn runs(frame: &Frame, series: &Series) -> Vec<Vec<(i32, i32)>> {
    let mut runs = vec![Vec::new()];
    for (&x, &y) in series.xs.iter().zip(&series.ys) {
        if x.is_finite() && y.is_finite() {
            if let Some(run) = runs.last_mut() {
                run.push(frame.at(x, y));
            }
        } else {
            runs.push(Vec::new());
        }
    }
    runs.retain(|run| !run.is_empty());
    runs
}

/// A polyline, solid or in dashes.
fn path<DB: DrawingBackend>(
    root: &DrawingArea<DB, Shift>,
    points: &[(i32, i32)],
    dashes: &[f64],
    scale: f64,
    style: ShapeStyle,
) -> Result<(), Failed<DB>> {
    if dashes.is_empty() {
        return root.draw(&PathElement::new(points.to_vec(), style));
    }
    for piece in dashed(points, dashes, scale) {
        root.draw(&PathElement::new(piece, style))?;
    }
    Ok(())
}

/// The strokes of a dashed polyline.
fn dashed(points: &[(i32, i32)], dashes: &[f64], scale: f64) -> Vec<Vec<(i32, i32)>> {
    let mut pieces: Vec<Vec<(i32, i32)>> = Vec::new();
    let (mut which, mut left) = (0, dashes[0] * scale);
    let mut piece = Vec::new();
    for pair in points.windows(2) {
        let (a, b) = (
            (f64::from(pair[0].0), f64::from(pair[0].1)),
            (f64::from(pair[1].0), f64::from(pair[1].1)),
        );
        let length = (b.0 - a.0).hypot(b.1 - a.1);
        let at = |t: f64| {
            (
                (a.0 + (b.0 - a.0) * t).round() as i32,
                (a.1 + (b.1 - a.1) * t).round() as i32,
            )
        };
        let mut done = 0.0;
        while length - done > left {
            if which % 2 == 0 {
                piece.push(at(done / length));
                piece.push(at((done + left) / length));
                pieces.push(std::mem::take(&mut piece));
            }
            done += left;
            which = (which + 1) % dashes.len();
            left = dashes[which] * scale;
        }
        left -= length - done;
        if which % 2 == 0 {
            piece.push(at(if length > 0.0 { done / length } else { 0.0 }));
            piece.push(pair[1]);
        }
    }
    if !piece.is_empty() {
        pieces.push(piece);
    }
    pieces
}

fn bars<DB: DrawingBackend>(
    root: &DrawingArea<DB, Shift>,
    frame: &Frame,
    series: &Series,
    theme: &Theme,
) -> Result<(), Failed<DB>> {
    let half = half_bar(&series.xs);
    let base = if frame.y.log {
        frame.y.low
    } else {
        0.0_f64.max(frame.y.low)
    };
    let colour = rgb(theme.concept(series.concept)).mix(0.62).filled();
    let gap = theme.scale.round() as i32;
    for (x, y) in series.points() {
        let ((x0, y0), (x1, y1)) = (frame.at(x - half, y), frame.at(x + half, base));
        // A gap parts neighbours where there is room for one.
        let x1 = if x1 - x0 > 3 * gap {
            x1 - gap
        } else {
            x1.max(x0 + 1)
        };
        root.draw(&Rectangle::new(
            [(x0, y0.min(y1)), (x1, y0.max(y1))],
            colour,
        ))?;
    }
    Ok(())
}

fn dots<DB: DrawingBackend>(
    root: &DrawingArea<DB, Shift>,
    frame: &Frame,
    series: &Series,
    theme: &Theme,
) -> Result<(), Failed<DB>> {
    let colour = rgb(theme.concept(series.concept)).filled();
    let radius = (3.5 * theme.scale).round() as i32;
    for (x, y) in series.points() {
        root.draw(&Circle::new(frame.at(x, y), radius, colour))?;
    }
    Ok(())
}

fn marks<DB: DrawingBackend>(
    root: &DrawingArea<DB, Shift>,
    frame: &Frame,
    chart: &Chart,
    theme: &Theme,
) -> Result<(), Failed<DB>> {
    let style = pen(theme.ink, 1.0, theme);
    let (top, bottom) = (frame.top.round() as i32, frame.bottom.round() as i32);
    let inside = chart
        .marks
        .iter()
        .filter(|(x, _)| (0.0..=1.0).contains(&frame.x.share(*x)));
    for (x, words) in inside {
        let at = frame.at(*x, frame.y.low).0;
        path(
            root,
            &[(at, top), (at, bottom)],
            &[4.0, 4.0],
            theme.scale,
            style,
        )?;
        // The word is on the side that has room.
        let right = frame.x.share(*x) < 0.6;
        let gap = (5.0 * theme.scale) as i32;
        let (side, x) = if right {
            (HPos::Left, at + gap)
        } else {
            (HPos::Right, at - gap)
        };
        text(root, theme, words, (x, top), (side, VPos::Top), theme.ink)?;
    }
    Ok(())
}

/// Names of the series along the top, each with a sample of its line.
fn legend<DB: DrawingBackend>(
    root: &DrawingArea<DB, Shift>,
    chart: &Chart,
    theme: &Theme,
) -> Result<(), Failed<DB>> {
    let s = theme.scale;
    let places = legend_places(chart, theme, root.dim_in_pixel().0);
    for (n, (series, (x, row))) in chart.series.iter().zip(places).enumerate() {
        let y = ((10.0 + f64::from(row) * LEGEND_ROW) * s) as i32;
        let end = x + (20.0 * s) as i32;
        let colour = theme.concept(series.concept);
        match series.kind {
            Kind::Line => {
                path(
                    root,
                    &[(x, y), (end, y)],
                    DASHES[n % DASHES.len()],
                    s,
                    pen(colour, 2.5, theme),
                )?;
            }
            Kind::Bars => {
                let tall = (5.0 * s) as i32;
                let fill = rgb(colour).mix(0.62).filled();
                root.draw(&Rectangle::new([(x, y - tall), (end, y + tall)], fill))?;
            }
            Kind::Points => {
                root.draw(&Circle::new(
                    ((x + end) / 2, y),
                    (3.5 * s) as i32,
                    rgb(colour).filled(),
                ))?;
            }
        }
        text(
            root,
            theme,
            &series.name,
            (end + (5.0 * s) as i32, y),
            (HPos::Left, VPos::Center),
            theme.ink,
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::dashed;

    #[test]
    fn dashes_go_round_corners_and_leave_gaps() {
        let pieces = dashed(&[(0, 0), (10, 0), (10, 10)], &[6.0, 2.0], 1.0);
        assert_eq!(pieces[0], [(0, 0), (6, 0)]);
        assert_eq!(pieces[1].first(), Some(&(8, 0)));
        assert_eq!(pieces[1].last(), Some(&(10, 4)));
        assert!(dashed(&[(3, 3)], &[6.0, 2.0], 1.0).is_empty());
        assert!(dashed(&[(3, 3), (3, 3)], &[6.0, 2.0], 1.0).len() <= 1);
    }
}
