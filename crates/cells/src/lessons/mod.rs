//! The cells, those of a lesson in one folder, one file a cell.
//!
//! The files are declared by the list of cells ([`crate::for_each_lesson`]).

macro_rules! declare {
    ($($lesson:ident { $($cell:ident: $place:ident),+ $(,)? })+) => {$(
        #[doc = concat!("Cells of the lesson `", stringify!($lesson), "`.")]
        pub mod $lesson {
            $(pub mod $cell;)+
        }
    )+};
}
crate::for_each_lesson!(declare);
