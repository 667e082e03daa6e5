//! What only a browser can do: messages in and out, files from the site's host, threads. A file is for cells or for models.

#[cfg(not(feature = "models"))]
mod cells;
mod channel;
mod exports;
#[cfg(feature = "models")]
mod fetch;
#[cfg(feature = "models")]
mod models;
#[cfg(feature = "lab")]
mod resume;
#[cfg(feature = "lab")]
mod store;
#[cfg(feature = "models")]
mod transfer;
