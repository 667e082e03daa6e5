//! From lessons to the files of the site.
//!
//! Trunk builds script, style and the frame of a page (`index.html`); this crate compiles the lessons and
//! writes one copy of the frame for each of them, with everything that a reader without scripts needs.

mod catalog;
mod chunks;
mod code;
mod content;
mod course;
mod error;
mod find;
mod frame;
mod offline;
mod page;
mod root;
mod shown;
mod workers;
mod write;

pub use {
    catalog::Cells,
    code::{CodeBook, Excerpt},
    content::Content,
    course::{course_map, course_menu},
    error::BuildError,
    frame::{Frame, Parts},
    offline::{relist, switch_off},
    root::Root,
    write::{Job, build},
};
