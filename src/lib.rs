//! The site: adopts the page as it was served and brings its cells to life.
//!
//! Prose and formulas are in the served HTML; nothing here knows them. `app` opens pages, `lesson`
//! finds the cells of a page, `state` holds their shared, undoable inputs, `cells` draws them with
//! `widgets` and `plot`, and `shell` is what surrounds a lesson. `browser` holds what the browser
//! is asked to do. Which module may use which is in `ARCHITECTURE.md`, and `tests/house.rs` checks
//! it.

// Natively a view is a future as well, of as many layers as its markup.
#![recursion_limit = "512"]

mod about;
mod app;
mod bench;
mod browser;
mod cells;
mod chunk;
mod client;
pub mod display;
mod lab;
mod lesson;
mod model_build;
mod model_worker;
pub mod plot;
#[cfg(not(target_arch = "wasm32"))]
pub mod prerender;
mod route;
mod shell;
mod state;
pub mod widgets;

/// Starts the site on the page that the browser has loaded.
pub fn start() {
    app::start();
}
