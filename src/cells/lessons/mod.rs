//! The views, those of a lesson in one folder, one file a cell.
//!
//! The files are declared by the list of cells in `crates/cells/src/registry.rs`.

macro_rules! declare {
    ($($lesson:ident { $($cell:ident: $place:ident),+ $(,)? })+) => {$(
        pub(crate) mod $lesson {
            $(pub(crate) mod $cell;)+
        }
    )+};
}
cells::for_each_lesson!(declare);
