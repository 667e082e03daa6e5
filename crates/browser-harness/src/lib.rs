//! What tests and measurements need around a browser: a static file server ([`Server`]), a
//! chromedriver process ([`Driver`]) and a headless Chromium under it ([`Chromium`]).
//!
//! The environment variables `CHROME` and `CHROMEDRIVER` name the programs; `cargo xtask` sets
//! them.

mod chromium;
mod driver;
mod line;
mod server;

pub use chromium::{ARGUMENTS, Chromium, ChromiumError, Logs};
pub use driver::Driver;
pub use line::Line;
pub use server::{Answered, Habits, Server};
