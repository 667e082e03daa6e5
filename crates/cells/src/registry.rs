//! Every cell that a lesson can name.

use crate::spec::CellSpec;

/// The cells of one lesson, which the site loads together.
pub struct Group {
    /// Name of the chunk of the site that holds their views.
    pub name: &'static str,
    /// The cells, in the order of the lesson.
    pub cells: &'static [&'static CellSpec],
}

/// All cells, in the order of the course.
pub const GROUPS: &[Group] = &[
    Group {
        name: "bottleneck",
        cells: &[
            &crate::information_budget::SPEC,
            &crate::forgetting::SPEC,
            &crate::seq2seq_race::SPEC,
            &crate::race_measure::SPEC,
            &crate::train_the_race::SPEC,
            &crate::path_length::SPEC,
        ],
    },
    Group {
        name: "alignment",
        cells: &[
            &crate::alignment_scores::SPEC,
            &crate::alignment_lines::SPEC,
            &crate::additive_and_dot::SPEC,
            &crate::alignment_gradient::SPEC,
        ],
    },
    Group {
        name: "self_attention",
        cells: &[
            &crate::attention_map::SPEC,
            &crate::qkv_by_hand::SPEC,
            &crate::permutation::SPEC,
            &crate::three_patches::SPEC,
            &crate::similarity::SPEC,
            &crate::cross_attention::SPEC,
        ],
    },
    Group {
        name: "scaling",
        cells: &[&crate::why_scale::SPEC, &crate::softmax_temperature::SPEC],
    },
    Group {
        name: "causal_mask",
        cells: &[
            &crate::mask_editor::SPEC,
            &crate::leak_test::SPEC,
            &crate::minus_ten_thousand::SPEC,
            &crate::three_attentions::SPEC,
        ],
    },
    Group {
        name: "positions",
        cells: &[
            &crate::bag_of_words::SPEC,
            &crate::sinusoid_map::SPEC,
            &crate::shift_is_linear::SPEC,
            &crate::distance::SPEC,
            &crate::learned_table::SPEC,
            &crate::relative_bias::SPEC,
            &crate::alibi::SPEC,
            &crate::rotary::SPEC,
            &crate::rotary_stretch::SPEC,
        ],
    },
    Group {
        name: "training",
        cells: &[
            &crate::train_tiny::SPEC,
            &crate::break_it::SPEC,
            &crate::gradient_check::SPEC,
        ],
    },
    Group {
        name: "patches",
        cells: &[
            &crate::patch_cutter::SPEC,
            &crate::patch_embedding::SPEC,
            &crate::pixels_as_tokens::SPEC,
        ],
    },
];

/// All cells, in the order of the course.
pub fn all() -> impl Iterator<Item = &'static CellSpec> {
    GROUPS.iter().flat_map(|group| group.cells.iter().copied())
}

/// The cell of a name.
pub fn find(name: &str) -> Option<&'static CellSpec> {
    all().find(|spec| spec.name == name)
}
