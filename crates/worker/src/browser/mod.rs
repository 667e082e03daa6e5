//! What only a browser can do: messages in and out, files from the site's host, threads.

mod exports;
mod fetch;
mod host;
mod keep;
#[cfg(feature = "lab")]
mod resume;
#[cfg(feature = "lab")]
mod store;
