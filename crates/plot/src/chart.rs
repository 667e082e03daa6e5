//! The data of a chart.

use crate::Concept;

/// Form of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// A curve through the points. Where they are far apart, each has a dot.
    #[default]
    Line,
    /// A bar at each x, as wide as the distance between neighbours; a histogram.
    Bars,
    /// A dot at each point. A curve of the same name and concept is the guide of these points: it
    /// shows how the values run between them, and has no name, read-out or table of its own.
    Points,
}

/// One curve, histogram or cloud of a chart.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    /// Name in the legend and in the table.
    pub name: String,
    /// Origin of `ys`: the name of a vector, or a reference with `{}` for the running index
    /// (`table[{},4]`).
    pub source: String,
    /// Its form.
    pub kind: Kind,
    /// Horizontal positions.
    pub xs: Vec<f64>,
    /// Values, as many as positions.
    pub ys: Vec<f64>,
    /// Accent colour.
    pub concept: Concept,
}

impl Series {
    /// Origin of the value at `index`, as `data-from` holds it.
    pub fn from(&self, index: usize) -> String {
        if self.source.contains("{}") {
            self.source.replace("{}", &index.to_string())
        } else {
            format!("{}[{index}]", self.source)
        }
    }

    /// Points whose coordinates are both finite.
    pub fn points(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.xs
            .iter()
            .copied()
            .zip(self.ys.iter().copied())
            .filter(|(x, y)| x.is_finite() && y.is_finite())
    }
}

/// A chart.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Chart {
    /// Title of the chart.
    pub title: String,
    /// Name and unit of the horizontal axis.
    pub x_label: String,
    /// Name and unit of the vertical axis.
    pub y_label: String,
    /// The series.
    pub series: Vec<Series>,
    /// Equal ratios instead of equal steps along the horizontal axis.
    pub x_log: bool,
    /// The same for the vertical axis.
    pub y_log: bool,
    /// Ends of the vertical axis; otherwise as the data need.
    pub y_range: Option<(f64, f64)>,
    /// Vertical lines, each with a word.
    pub marks: Vec<(f64, String)>,
    /// Least room beside the plotting rectangle, at its left and at its right, in CSS pixels: charts
    /// that are compared get the same ([`Layout::margins`](crate::Layout::margins)).
    pub margins: (f64, f64),
}

impl Chart {
    /// Number of points of all series.
    pub fn point_count(&self) -> usize {
        self.series.iter().map(|s| s.xs.len()).sum()
    }

    /// Whether a series only guides the eye from point to point of another one.
    pub(crate) fn is_guide(&self, series: &Series) -> bool {
        let guides = |s: &Series| {
            s.kind == Kind::Points && s.name == series.name && s.concept == series.concept
        };
        series.kind == Kind::Line && self.series.iter().any(guides)
    }

    /// The series whose values the chart shows: all but the guides.
    pub fn shown(&self) -> impl Iterator<Item = &Series> {
        self.series.iter().filter(|s| !self.is_guide(s))
    }

    /// What a series is called: its name, or else that of the vertical axis.
    pub fn name_of<'a>(&'a self, series: &'a Series) -> &'a str {
        if series.name.is_empty() {
            &self.y_label
        } else {
            &series.name
        }
    }
}
