//! The readers of weight files: damaged files are refused, trained ones tell the stories that are
//! known of them.

mod damaged;
mod make;
mod random;
mod trained;
