//! Charts as SVG text.

use plotters::prelude::*;

use super::chart::Chart;
use super::draw::draw;
use super::theme::Theme;

/// Size of an exported chart in CSS pixels.
const SIZE: (u32, u32) = (720, 400);
/// Pixels of the drawing per CSS pixel: plotters rounds to whole pixels, a quarter of one is not
/// seen.
pub(crate) const FINE: u32 = 4;
/// The SVG backend divides font sizes by this.
pub(crate) const SVG_TEXT: f64 = 1.24;

/// A figure for export.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    /// A complete SVG document.
    pub svg: String,
    /// Width in CSS pixels.
    pub width: u32,
    /// Height in CSS pixels.
    pub height: u32,
}

/// The chart as an SVG document in the colours of a theme; empty in the (unheard-of) case that
/// writing to memory fails.
pub fn svg(chart: &Chart, theme: Theme) -> Drawing {
    finish(SIZE, &chart.title, theme, |root, theme| {
        draw(root, chart, theme).is_ok()
    })
}

/// Runs a drawing through the SVG backend in fine pixels, then states its size in CSS pixels and
/// its title.
pub(crate) fn finish(
    (width, height): (u32, u32),
    title: &str,
    theme: Theme,
    paint: impl FnOnce(&DrawingArea<SVGBackend<'_>, plotters::coord::Shift>, &Theme) -> bool,
) -> Drawing {
    let theme = Theme {
        scale: f64::from(FINE),
        text: SVG_TEXT,
        ..theme
    };
    let (fine_w, fine_h) = (width * FINE, height * FINE);
    let mut text = String::new();
    let drawn = paint(
        &SVGBackend::with_string(&mut text, (fine_w, fine_h)).into_drawing_area(),
        &theme,
    );
    if !drawn {
        text.clear();
    }
    let coarse = format!("width=\"{width}\" height=\"{height}\" role=\"img\"");
    let mut svg = text.replacen(
        &format!("width=\"{fine_w}\" height=\"{fine_h}\""),
        &coarse,
        1,
    );
    if let Some(at) = svg
        .find("<svg")
        .and_then(|start| svg[start..].find('>').map(|end| start + end + 1))
    {
        svg.insert_str(at, &format!("\n<title>{}</title>", escaped(title)));
    }
    Drawing { svg, width, height }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use crate::plot::chart::{Kind, Series};

    #[test]
    fn a_chart_becomes_a_titled_document_of_the_stated_size() {
        let series = Series {
            name: "a & b".into(),
            source: "ys".into(),
            kind: Kind::Line,
            xs: vec![0.0, 1.0, 2.0],
            ys: vec![1.0, f64::NAN, 3.0],
            ..Series::default()
        };
        let bars = Series {
            name: "bars".into(),
            kind: Kind::Bars,
            ..series.clone()
        };
        let chart = Chart {
            title: "x < y".into(),
            series: vec![series, bars],
            ..Chart::default()
        };
        let drawing = svg(&chart, Theme::default());
        assert!(drawing.svg.contains("width=\"720\" height=\"400\""));
        assert!(drawing.svg.contains("viewBox=\"0 0 2880 1600\""));
        assert!(drawing.svg.contains("<title>x &lt; y</title>"));
        assert!(drawing.svg.contains("a &amp; b"));
        assert!(drawing.svg.trim_end().ends_with("</svg>"));
    }
}
