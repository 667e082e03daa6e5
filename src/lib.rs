//! The site: adopts the page as it was served and brings its cells to life.
//!
//! Prose and formulas are in the served HTML; nothing here knows them. [`app`] finds the cells of a page,
//! [`lesson`] holds their shared, undoable inputs, [`cells`] draws them with [`widgets`] and [`plot`], and
//! [`shell`] is what stands around a lesson. Only [`browser`] and canvas drawing touch web-sys directly.

mod app;
mod bench;
mod browser;
mod cells;
mod chunk;
mod client;
mod lab;
mod lesson;
mod model_build;
mod model_worker;
pub mod plot;
mod route;
mod shell;
pub mod widgets;

/// Starts the site on the page that the browser has loaded.
pub fn start() {
    app::start();
}
