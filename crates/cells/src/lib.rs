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

mod alibi;
mod attention_map;
mod bag_of_words;
pub mod computation;
mod cross_attention;
mod described;
mod distance;
pub mod error;
pub mod exercise;
pub mod export;
pub mod format;
pub mod golden;
pub mod input;
mod leak_test;
mod learned_table;
mod mask_editor;
mod measure;
mod minus_ten_thousand;
mod patch_cutter;
mod patch_embedding;
mod permutation;
pub mod picture;
mod pixels_as_tokens;
mod qkv_by_hand;
pub mod registry;
mod relative_bias;
mod rotary;
mod rotary_stretch;
mod shift_is_linear;
mod similarity;
mod sinusoid_map;
mod softmax_temperature;
pub mod spec;
pub mod state;
mod three_attentions;
mod three_patches;
mod why_scale;
mod words;

pub use computation::{Computation, Tensor};
pub use error::CellError;
pub use input::{InputKind, InputSpec, InputValue, Inputs, Picture};
pub use shown::{Call, Describe, Described, Record, described};
pub use spec::{CellSpec, Job, Progress, Run};
