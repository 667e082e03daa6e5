//! The browser's abilities, one a file: the only door to web-sys besides canvas drawing.

pub(crate) mod abilities;
pub(crate) mod address;
pub(crate) mod clipboard;
pub(crate) mod clock;
pub(crate) mod dom;
pub(crate) mod download;
pub(crate) mod fetch;
pub(crate) mod full_screen;
pub(crate) mod picture;
pub(crate) mod port;
pub(crate) mod raster;
pub(crate) mod result;
pub(crate) mod storage;
