//! Navigation between pages, the tools of the page, and the list of contents.

pub(crate) mod contents;
pub(crate) mod navigate;
pub(crate) mod page_tools;
