//! The code of the cells: in release builds that of each is a chunk of the wasm, fetched when a
//! request first needs it. Cells of a lesson that need much the same come in one file.

use std::pin::Pin;

use cells::jobs::Entry;

/// An entry on its way; `None` where its file did not arrive.
type Arriving = Pin<Box<dyn Future<Output = Option<&'static Entry>>>>;

macro_rules! chunks {
    ($($lesson:ident { $($cell:ident: $place:ident),+ $(,)? })+) => {
        /// Every cell of the worker, and what fetches its code.
        const CHUNKS: &[(&str, fn() -> Arriving)] =
            &[$($((cells::lessons::$lesson::$cell::SPEC.name, chunk!($place $cell))),+),+];

        /// The functions that the wasm is cut at.
        mod chunk {
            $($(cut!($place $lesson $cell);)+)+
        }
    };
}

macro_rules! chunk {
    (page $cell:ident) => {
        || Box::pin(async { None })
    };
    ($kind:ident $cell:ident) => {
        || Box::pin(async { chunk::$cell().await.ok() })
    };
}

/// A function that gives the entry of a cell, in another file than the function that calls it.
#[cfg(chunks)]
macro_rules! cut {
    (page $lesson:ident $cell:ident) => {};
    ($kind:ident $lesson:ident $cell:ident) => {
        #[wasm_split_helpers::wasm_split($cell, fallible)]
        pub(super) fn $cell()
        -> Result<&'static cells::jobs::Entry, wasm_split_helpers::SplitLoaderError> {
            Ok(&cells::lessons::$lesson::$cell::ENTRY)
        }
    };
}

/// The same where the wasm stays whole.
#[cfg(not(chunks))]
macro_rules! cut {
    (page $lesson:ident $cell:ident) => {};
    ($kind:ident $lesson:ident $cell:ident) => {
        pub(super) async fn $cell()
        -> Result<&'static cells::jobs::Entry, wasm_split_helpers::SplitLoaderError> {
            Ok(&cells::lessons::$lesson::$cell::ENTRY)
        }
    };
}

cells::for_each_lesson!(chunks);

/// Fetches the code of a cell; `None` where the page computes it, or its file did not arrive.
pub(super) async fn load(cell: &str) -> Option<&'static Entry> {
    let (_, fetch) = CHUNKS.iter().find(|(name, _)| *name == cell)?;
    fetch().await
}
