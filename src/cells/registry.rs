//! The map from the names of cells to their computations and views, made from the list of cells in
//! `crates/cells`.
//!
//! The cells of a lesson are a chunk of the wasm, fetched when a page first needs one of them: a
//! reader of one lesson does not wait for the cells of all others.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;

use ::cells::CellSpec;
use leptos::prelude::*;

use super::frame::context::CellCx;
use crate::chunk::{NotLoaded, chunk};

/// Draws the body of a cell.
pub(crate) type View = fn(CellCx) -> AnyView;

/// A cell: what it computes and how it looks.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) spec: &'static CellSpec,
    pub(crate) view: View,
}

type Entries = &'static [Entry];
type Loading = Pin<Box<dyn Future<Output = Result<Entries, NotLoaded>>>>;

/// The cells of one lesson.
struct Chunk {
    cells: &'static [&'static str],
    load: fn() -> Loading,
}

macro_rules! chunks {
    ($($lesson:ident { $($cell:ident: $place:ident),+ $(,)? })+) => {
        $(chunk! {
            $lesson: fn $lesson() -> Entries = &[$(Entry {
                spec: &::cells::lessons::$lesson::$cell::SPEC,
                view: crate::cells::lessons::$lesson::$cell::view,
            }),+];
        })+
        /// The chunks, in the order of the course.
        const CHUNKS: &[Chunk] = &[$(Chunk {
            cells: &[$(::cells::lessons::$lesson::$cell::SPEC.name),+],
            load: || Box::pin($lesson()),
        }),+];
    };
}
::cells::for_each_lesson!(chunks);

thread_local! {
    static LOADED: RefCell<Vec<Entry>> = const { RefCell::new(Vec::new()) };
}

/// Fetches what holds the cells of these names, where it is not here yet. A name that no chunk has
/// is passed over.
///
/// # Errors
/// When a chunk cannot be fetched; the next call tries again.
pub(crate) async fn load(names: &[String]) -> Result<(), NotLoaded> {
    for chunk in CHUNKS {
        let mut wanted = chunk
            .cells
            .iter()
            .filter(|cell| names.iter().any(|n| n == *cell));
        if wanted.any(|cell| find(cell).is_none()) {
            let entries = (chunk.load)().await?;
            LOADED.with_borrow_mut(|loaded| loaded.extend_from_slice(entries));
        }
    }
    Ok(())
}

/// A cell that has been loaded.
pub(crate) fn find(name: &str) -> Option<Entry> {
    LOADED.with_borrow(|loaded| loaded.iter().find(|e| e.spec.name == name).copied())
}
