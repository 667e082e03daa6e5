//! Navigation between pages, the tools of the page, the list of contents, the search, and the reader's
//! progress.

pub(crate) mod contents;
pub(crate) mod kept_progress;
pub(crate) mod navigate;
pub(crate) mod page_tools;
pub(crate) mod progress;
pub(crate) mod search;
mod search_dialog;
