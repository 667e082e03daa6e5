//! What each cell of the notebook computes.
//!
//! A cell is a name, a list of typed inputs and a function from those inputs to named tensors
//! ([`Computation`]). Nothing here knows of a browser: the same code runs in the reader's tab, in the
//! page builder, in "Verify this page" and in the native tests, which is how the numbers on a page can
//! be checked at all. How a cell looks is the site's business (`src/cells/`).
//!
//! One file a cell, named as the cell with underscores; the function that fills it calls the engine
//! through [`shown!`], which both calls a function and records that it ran, with what went in and out.

#[macro_use]
mod shown;

pub mod additive_and_dot;
pub mod alibi;
pub mod alignment_gradient;
pub mod alignment_lines;
pub mod alignment_scores;
pub mod attention_map;
pub mod bag_of_words;
pub mod break_it;
pub mod computation;
pub mod cross_attention;
mod described;
pub mod desk;
pub mod distance;
pub mod error;
pub mod exercise;
pub mod export;
pub mod forgetting;
pub mod format;
pub mod golden;
pub mod gradient_check;
pub mod information_budget;
pub mod input;
pub mod leak_test;
pub mod learned_table;
pub mod mask_editor;
mod measure;
pub mod minus_ten_thousand;
pub mod patch_cutter;
pub mod patch_embedding;
pub mod path_length;
pub mod permutation;
pub mod picture;
pub mod pixels_as_tokens;
pub mod qkv_by_hand;
mod race;
pub mod race_measure;
pub mod registry;
pub mod relative_bias;
pub mod rotary;
pub mod rotary_stretch;
pub mod seq2seq_race;
pub mod shelf;
pub mod shift_is_linear;
pub mod similarity;
pub mod sinusoid_map;
pub mod softmax_temperature;
pub mod spec;
pub mod state;
#[cfg(test)]
mod test_models;
pub mod three_attentions;
pub mod three_patches;
pub mod train_the_race;
pub mod train_tiny;
mod trained;
mod training;
mod untrained;
pub mod why_scale;
mod words;

pub use computation::{Computation, Tensor};
pub use error::CellError;
pub use input::{InputKind, InputSpec, InputValue, Inputs, Picture};
pub use shown::{Call, Describe, Described, Record, described};
pub use spec::{CellSpec, Desk, Job, Progress, Run};
