//! From lessons to the files of the site.
//!
//! Trunk builds script, style and the frame of a page (`index.html`); this crate compiles the
//! lessons and writes one copy of the frame for each of them, with everything that a reader without
//! scripts needs. For the development server (`crates/devserver`) it does so without Trunk, and
//! again after each change ([`Follower`]).

mod about;
mod address;
mod bind;
mod catalog;
mod chunks;
mod code;
mod content;
mod course;
mod error;
mod figures;
mod find;
mod follow;
#[cfg(test)]
mod font;
mod frame;
mod glossary_links;
mod highlight;
mod machine;
mod meta;
mod model_cards;
mod moved_digits;
mod offline;
mod order;
mod page;
mod policy;
mod preview;
mod reference;
mod root;
mod search_index;
mod shown;
mod smaller;
mod stamp;
mod systems;
mod thumbnail;
mod twin;
mod workers;
mod write;

pub use {
    address::{SiteAddress, VARIABLE},
    catalog::Cells,
    code::{CodeBook, Excerpt},
    content::{Compiled, Content},
    course::{course_map, course_menu},
    error::BuildError,
    follow::Follower,
    frame::{Frame, Parts},
    offline::{relist, switch_off},
    root::Root,
    smaller::make_smaller,
    twin::disagreement,
    write::{Job, build},
};
