//! Lessons: Markdown with LaTeX formulas, cells and exercises, compiled to the segments of a page.
//!
//! The compiler runs at build time and in tests. It knows the shape of a lesson and nothing of what
//! a cell computes: the caller passes a [`Catalog`] that checks cells, tensors and exercises.
//!
//! `docs/authoring.md` describes the language for authors.

pub mod reference;

mod blocks;
mod catalog;
mod code;
mod compile;
mod error;
mod exercise;
mod fence;
mod frames;
mod front;
mod guess;
pub mod html;
mod inline;
mod links;
mod make;
mod markdown;
mod math;
mod notes;
mod pieces;
mod source;
mod symbols;
mod types;

pub use {
    catalog::{Catalog, Refusal, resolved},
    compile::compile,
    error::LessonError,
    links::{BUILT_PAGES, check_links},
    symbols::CONCEPTS,
    types::{
        Answer, Cell, Choice, Code, Exercise, Figure, Goal, Guess, Heading, InlineValue, Kind,
        Lesson, Link, Listing, Make, Printed, Segment,
    },
};

/// Placeholder in compiled HTML for the site's root; [`Lesson::article`] replaces it.
pub const ROOT: &str = "@root/";
