//! Charts, drawn once through plotters' drawing area: on the page, at build time and for export as
//! SVG by [`SvgBackend`], and on a canvas by any other backend of plotters.
//!
//! Everything here is a function of its arguments. Lengths are CSS pixels unless a name says
//! otherwise; [`Pen`] turns them into the whole numbers that plotters takes.
//!
//! ```
//! use plot::{Chart, Concept, Kind, Series};
//!
//! let loss = Series {
//!     name: "in training".to_owned(),
//!     source: "loss".to_owned(),
//!     kind: Kind::Line,
//!     xs: vec![0.0, 1.0, 2.0],
//!     ys: vec![3.9, 1.2, 0.4],
//!     concept: Concept::Score,
//! };
//! let chart = Chart { y_label: "loss".to_owned(), series: vec![loss], ..Chart::default() };
//! let svg = plot::svg(&chart, (600, 240));
//! assert!(svg.starts_with("<svg class=\"plot\""));
//! assert!(svg.contains("c-score"));
//! ```

pub mod axis;
mod chart;
mod concept;
mod dash;
mod describe;
mod document;
mod draw;
mod labels;
mod layout;
mod pen;
mod stops;
mod svg;
mod theme;

pub use axis::Axis;
pub use chart::{Chart, Kind, Series};
pub use concept::Concept;
pub use describe::describe;
pub use document::{Document, chart_document, document};
pub use draw::{draw, svg};
pub use layout::Layout;
pub use pen::{Failed, LETTER, Paint, Pen, TEXT};
pub use plotters::style::text_anchor::{HPos, VPos};
pub use stops::{Reading, nearest, readings, stops};
pub use svg::{FINE, SvgBackend};
pub use theme::{Role, Theme};
