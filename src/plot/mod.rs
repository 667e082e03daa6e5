//! Charts and exported figures, drawn once through plotters' drawing area: on screen by the canvas
//! backend at device pixels, for export by the SVG backend.

pub mod chart;
mod draw;
mod export;
mod frame;
mod heat_svg;
pub mod theme;
mod ticks;
pub mod view;

pub use chart::{Chart, Kind, Series};
pub use draw::draw;
pub use export::{Drawing, svg};
pub use heat_svg::heat_map_svg;
pub use theme::Theme;
pub use view::ChartView;
