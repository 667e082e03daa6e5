//! The one place that maps the names of cells to their views.

use leptos::prelude::*;

use super::context::CellCx;

/// Draws the body of a cell.
pub(crate) type View = fn(CellCx) -> AnyView;

/// Names and views, in the order of the course.
const VIEWS: &[(&str, View)] = &[
    ("attention-map", super::attention_map::view),
    ("qkv-by-hand", super::qkv_by_hand::view),
    ("permutation", super::permutation::view),
    ("three-patches", super::three_patches::view),
    ("similarity", super::similarity::view),
    ("cross-attention", super::cross_attention::view),
    ("why-scale", super::why_scale::view),
    ("softmax-temperature", super::softmax_temperature::view),
    ("mask-editor", super::mask_editor::view),
    ("leak-test", super::leak_test::view),
    ("minus-ten-thousand", super::minus_ten_thousand::view),
    ("three-attentions", super::three_attentions::view),
    ("bag-of-words", super::bag_of_words::view),
    ("sinusoid-map", super::sinusoid_map::view),
    ("shift-is-linear", super::shift_is_linear::view),
    ("distance", super::distance::view),
    ("learned-table", super::learned_table::view),
    ("relative-bias", super::relative_bias::view),
    ("alibi", super::alibi::view),
    ("rotary", super::rotary::view),
    ("rotary-stretch", super::rotary_stretch::view),
    ("patch-cutter", super::patch_cutter::view),
    ("patch-embedding", super::patch_embedding::view),
    ("pixels-as-tokens", super::pixels_as_tokens::view),
];

/// The view of a cell.
pub(crate) fn view(name: &str) -> Option<View> {
    VIEWS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, view)| *view)
}

/// Names of all cells that have a view, for the check that none is missing.
pub fn names() -> impl Iterator<Item = &'static str> {
    VIEWS.iter().map(|(name, _)| *name)
}
