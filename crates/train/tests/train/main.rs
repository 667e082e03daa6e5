//! The trainers, what they have shipped and their logs, in one program: compiled once, with one link.
//! What computes with other kernels than the fastest, which a process chooses once, has a file beside
//! this folder.
#![allow(
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too"
)]

mod bias_runs;
mod cards;
mod depth_runs;
mod drawings;
mod frame;
mod heads;
mod mlp_runs;
mod position_race;
mod positions_2d;
mod scale_runs;
mod shape_runs;
mod shipped;
mod shipped_text;
mod shipped_words;
mod text_corpus;
mod text_data;
mod translator_runs;
