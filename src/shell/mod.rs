//! What stands around a lesson: navigation between pages, the tools of the page, contents, verification.

pub(crate) mod contents;
pub(crate) mod navigate;
pub(crate) mod page_tools;
pub(crate) mod verify;
