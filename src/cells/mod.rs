//! How each cell looks: one view a cell, a frame around all of them, and the registry that maps names to views.

mod alibi;
mod attention_map;
mod bag_of_words;
pub(crate) mod context;
mod controls;
mod distance;
mod export;
mod figures;
pub(crate) mod frame;
mod learned_table;
mod leak_test;
mod mask_editor;
mod minus_ten_thousand;
pub mod registry;
mod relative_bias;
mod rotary;
mod rotary_stretch;
pub(crate) mod run;
pub(crate) mod rust_panel;
mod share;
pub(crate) mod sheet;
mod shift_is_linear;
mod sinusoid_map;
mod softmax_temperature;
mod three_attentions;
mod why_scale;
