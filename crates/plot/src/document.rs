//! Figures as SVG documents that stand alone, for files.

use cells::symbols::{plain, push_escaped};
use plotters::coord::Shift;
use plotters::drawing::DrawingArea;

use crate::chart::Chart;
use crate::draw::draw;
use crate::layout::Layout;
use crate::pen::Pen;
use crate::svg::{FINE, SvgBackend, write};
use crate::theme::{Role, Theme};

/// Size of a chart in a file, in CSS pixels.
const SIZE: (u32, u32) = (720, 400);

/// A figure in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// A complete SVG document, with the colours of its theme.
    pub svg: String,
    /// Width in CSS pixels.
    pub width: u32,
    /// Height in CSS pixels.
    pub height: u32,
}

/// A chart in the colours of a theme.
pub fn chart_document(chart: &Chart, theme: &Theme) -> Document {
    document(SIZE, &chart.title, theme, |pen| {
        // The backend writes to memory, which does not fail.
        draw(pen, chart, &Layout::new(chart, SIZE)).ok();
    })
}

/// A document of these CSS pixels: a title for readers that speak, a style sheet with the colours
/// of a theme, its background, and what `paint` draws.
pub fn document(
    (width, height): (u32, u32),
    title: &str,
    theme: &Theme,
    paint: impl FnOnce(&Pen<'_, SvgBackend<'_>>),
) -> Document {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" role=\"img\">\n<title>"
    );
    push_escaped(&mut svg, &plain(title));
    svg.push_str("</title>\n<style>");
    push_escaped(&mut svg, &theme.style_sheet());
    svg.push_str("</style>\n");
    let codes = Theme::of_codes();
    write(
        &mut svg,
        (width, height),
        |root: &DrawingArea<SvgBackend<'_>, Shift>| {
            let pen = Pen::new(root, &codes, f64::from(FINE));
            let whole = (f64::from(width), f64::from(height));
            pen.rectangle([(0.0, 0.0), whole], Role::Sheet, 1.0).ok();
            paint(&pen);
        },
    );
    svg.push_str("\n</svg>\n");
    Document { svg, width, height }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Kind, Series};

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
        let Document { svg, width, height } = chart_document(&chart, &Theme::default());
        assert_eq!((width, height), (720, 400));
        assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
        assert!(svg.contains("viewBox=\"0 0 720 400\" width=\"720\" height=\"400\""));
        assert!(svg.contains("<title>x &lt; y</title>"));
        assert!(svg.contains("a &amp; b") && svg.contains("x=\""));
        assert!(
            svg.contains(".f.c-plain{fill:#5a5448}"),
            "it has its colours in it"
        );
        assert!(svg.contains("<path class=\"f p-sheet\" d=\"M0 0H720V400H0z\"/>"));
        assert!(svg.trim_end().ends_with("</svg>"));
    }
}
