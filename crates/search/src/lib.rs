//! The search over all lessons: `pages` writes the index, and the site reads it when a reader first
//! searches. Nothing here needs a browser or another crate.
//!
//! An entry of the index is a page or a section of one. A query finds the entries that have all of
//! its words, each as a word or as the start of one; letters in capitals and with accents count as
//! plain ones.

mod index;
mod rank;
mod words;

pub use {
    index::{Entry, FILE, Index, write},
    rank::{Hit, Query},
    words::{fold, is_telling, words},
};
