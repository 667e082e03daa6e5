//! From text to tokens and their ids.

pub mod words;
