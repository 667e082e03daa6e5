//! What tests and measurements need around a browser: a static file server ([`Server`]), a
//! chromedriver process ([`Driver`]) and a headless Chromium under it ([`Chromium`]); for the smoke
//! tests also a Firefox ([`Firefox`]) and a browser of WebKitGTK ([`WebKit`]).
//!
//! The environment variables `CHROME`, `CHROME_WHOLE` and `CHROMEDRIVER` name the programs; `cargo
//! xtask` sets them. `FIREFOX`, `WEBKIT_DRIVER` and `WEBKIT_BROWSER` may name the others.

mod bidi;
mod chromium;
mod driver;
mod firefox;
mod line;
mod programs;
mod ready;
mod server;
mod webkit;

pub use bidi::BidiError;
pub use chromium::{ARGUMENTS, Chromium, ChromiumError, Logs};
pub use driver::Driver;
pub use firefox::{Firefox, FirefoxError};
pub use line::Line;
pub use ready::{FOLD_AGAIN, WAITED_FOR};
pub use server::{Answered, Habits, Server};
pub use webkit::{WebKit, WebKitError, WebKitPrograms};
