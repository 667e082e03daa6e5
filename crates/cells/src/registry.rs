//! Every cell that a lesson can name.

use crate::spec::CellSpec;

/// All cells, in the order of the course.
pub const ALL: &[&CellSpec] = &[
    &crate::attention_map::SPEC,
    &crate::qkv_by_hand::SPEC,
    &crate::permutation::SPEC,
    &crate::three_patches::SPEC,
    &crate::similarity::SPEC,
    &crate::cross_attention::SPEC,
    &crate::why_scale::SPEC,
    &crate::softmax_temperature::SPEC,
    &crate::mask_editor::SPEC,
    &crate::leak_test::SPEC,
    &crate::minus_ten_thousand::SPEC,
    &crate::three_attentions::SPEC,
    &crate::bag_of_words::SPEC,
    &crate::sinusoid_map::SPEC,
    &crate::shift_is_linear::SPEC,
    &crate::distance::SPEC,
    &crate::learned_table::SPEC,
    &crate::relative_bias::SPEC,
    &crate::alibi::SPEC,
    &crate::rotary::SPEC,
    &crate::rotary_stretch::SPEC,
    &crate::patch_cutter::SPEC,
    &crate::patch_embedding::SPEC,
    &crate::pixels_as_tokens::SPEC,
];

/// The cell of a name.
pub fn find(name: &str) -> Option<&'static CellSpec> {
    ALL.iter().copied().find(|spec| spec.name == name)
}
