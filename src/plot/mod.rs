//! Charts on the page: crate `plot` lays them out and draws them; here they are shown, read and
//! exported.

mod dense;
mod fine_canvas;
mod heat_svg;
mod reader;
mod table;
pub mod view;

pub use ::plot::{Chart, Document, Kind, Series, Theme, chart_document};
pub use heat_svg::heat_map_svg;
pub use view::ChartView;
