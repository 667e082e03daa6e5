//! The data of a chart. Drawing it is the same on screen and on paper.

use crate::display::Concept;

/// Form of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// A curve through the points.
    #[default]
    Line,
    /// A bar at each x, as wide as the distance between neighbours; a histogram.
    Bars,
    /// A dot at each point.
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
    pub(crate) fn points(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
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
}
