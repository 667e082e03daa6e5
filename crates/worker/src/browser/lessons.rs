//! The code of the cells, lesson by lesson: in release builds each lesson is a chunk of the wasm,
//! fetched when a request first needs it.

use cells::jobs::{Table, tables};

macro_rules! lessons {
    ($($lesson:ident { $($cell:ident: $place:ident),+ $(,)? })+) => {
        /// Fetches the cells of a lesson; `None` where there is no such lesson, or its file did not
        /// arrive.
        pub(super) async fn load(lesson: &str) -> Option<&'static Table> {
            match lesson {
                $(stringify!($lesson) => chunk::$lesson().await.ok(),)+
                _ => None,
            }
        }

        /// The functions that the wasm is cut at.
        #[cfg(chunks)]
        mod chunk {
            use super::{Table, tables};
            $(
                #[wasm_split_helpers::wasm_split($lesson, fallible)]
                pub(super) fn $lesson() -> Result<&'static Table, wasm_split_helpers::SplitLoaderError> {
                    Ok(tables::$lesson())
                }
            )+
        }

        /// The same functions where the wasm stays whole.
        #[cfg(not(chunks))]
        mod chunk {
            use super::{Table, tables};
            $(
                pub(super) async fn $lesson() -> Result<&'static Table, wasm_split_helpers::SplitLoaderError> {
                    Ok(tables::$lesson())
                }
            )+
        }
    };
}
cells::for_each_lesson!(lessons);
