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

/// The cells that compute in slices: all that the worker is asked for, and so all that it holds.
const SLICED: &[&CellSpec] = &[&crate::why_scale::SPEC, &crate::patch_embedding::SPEC];

/// The cell of a name among those that compute in slices.
pub fn find_sliced(name: &str) -> Option<&'static CellSpec> {
    SLICED.iter().copied().find(|spec| spec.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Run;

    #[test]
    fn the_worker_has_every_cell_that_computes_in_slices() {
        for spec in ALL {
            let sliced = matches!(spec.run, Run::Sliced(_));
            assert_eq!(sliced, find_sliced(spec.name).is_some(), "{}", spec.name);
        }
    }
}
