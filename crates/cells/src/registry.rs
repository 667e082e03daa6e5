//! The list of all cells, which everything else is made from.
//!
//! [`for_each_lesson!`](crate::for_each_lesson) holds the list. It expands to the modules of the
//! cells (`lessons/`), to the groups below, to what the worker computes ([`crate::jobs`]) and, in
//! the site, to the views and the chunks of the wasm (`src/cells/registry.rs`).

use crate::frame::spec::{CellSpec, Run, WorkerKind};

/// Calls a macro with the list of all cells, in the order of the course.
///
/// A lesson is a name (its slug with underscores, which is also the name of the folder of its
/// cells) with its cells. A line is the module of a cell, which is its name with underscores, and
/// where it computes: on the `page`, within a frame, or in the worker for `training` (with
/// differentiation) or `models` (with trained models). A cell of a worker has an `ENTRY`.
#[macro_export]
macro_rules! for_each_lesson {
    ($callback:ident) => {
        $callback! {
            basics {
                dot_product: page,
                matrix_vector: page,
                softmax_bars: page,
                learn_xor: training,
                gradient_step: training,
                five_nodes: training,
            }
            tokens {
                tokenize: models,
                bpe_train: models,
                token_tax: models,
                letters_and_numbers: models,
                embedding_rows: models,
            }
            bottleneck {
                information_budget: page,
                forgetting: models,
                seq2seq_race: models,
                race_measure: models,
                train_the_race: training,
                path_length: page,
            }
            alignment {
                alignment_scores: page,
                alignment_lines: models,
                additive_and_dot: page,
                play_the_decoder: training,
                alignment_gradient: training,
            }
            self_attention {
                qkv_by_hand: page,
                attention_map: models,
                similarity: page,
                three_patches: page,
                permutation: models,
                cross_attention: page,
            }
            scaling {
                coin_flips: page,
                why_scale: training,
                trained_scores: models,
                softmax_temperature: page,
            }
            multi_head {
                heads_split: page,
                two_questions: training,
                output_slices: page,
                reshape_bug: models,
                head_gallery: models,
            }
            causal_mask {
                mask_editor: page,
                next_word_guesses: models,
                leak_test: models,
                minus_ten_thousand: page,
                three_attentions: models,
            }
            positions {
                bag_of_words: models,
                sinusoid_map: page,
                shift_is_linear: page,
                distance: page,
            }
            relative_positions {
                learned_table: models,
                relative_bias: page,
                alibi: page,
                rotary: page,
                rotary_stretch: page,
                position_race: models,
            }
            training {
                train_tiny: training,
                break_it: training,
                gradient_check: training,
            }
            residual_and_norm {
                deep_plain_stack: training,
                residual_stream: models,
                layer_norm_circle: page,
                batch_norm_moves: page,
                norm_and_depth: training,
            }
            mlp {
                two_matrices: page,
                block_budget: page,
                neuron: models,
                activations: training,
                experts: training,
            }
            encoder_decoder {
                paper_figure: page,
                live_figure: models,
                cross_heads: models,
                beam_tree: models,
                beam_lengths: models,
                teacher_forcing: models,
                learning_rate: page,
                label_smoothing: page,
                calibration: models,
                averaging: models,
            }
            decoder_only {
                sampling: page,
                whole_model: models,
                race_the_model: models,
                perplexity: models,
                write_on: models,
                kv_race: models,
                gpt_sizes: page,
                logit_lens: models,
            }
            encoder_only {
                masked_word: models,
                bank_per_layer: models,
                masking_dice: models,
                fine_tune: training,
            }
            cost {
                count_the_work: page,
                measure_attention: models,
                online_softmax: page,
                window_reach: page,
                memory_needed: page,
                scaling_laws: page,
            }
            heads {
                pattern_atlas: models,
                induction: models,
                induction_by_hand: page,
                ablation_sweep: models,
                two_maps: training,
                rollout: models,
            }
            patches {
                patch_cutter: page,
                patch_embedding: models,
                rebuilt_picture: page,
                pixels_as_tokens: page,
            }
            vit {
                draw_a_digit: models,
                patch_attention: models,
                class_token_lens: models,
                class_heads: models,
                class_or_mean: models,
                whole_vit: models,
                four_equations: models,
                two_transformers: models,
            }
            positions_2d {
                jigsaw: models,
                position_similarity: models,
                interpolate: models,
            }
            inductive_bias {
                move_the_digit: models,
                shifted_maps: models,
                train_on_few: training,
                who_sees_what: models,
                cover_patches: models,
            }
            scale {
                data_curve: training,
                vit_sizes: page,
                shape_runs: training,
                distil: training,
                first_loss: page,
                masked_patches: training,
            }
            windows {
                swin_reach: models,
                window_cost: page,
                cyclic_shift: models,
                patch_merging: page,
                cosine_scores: page,
            }
            without_labels {
                complete_digit: models,
                linear_probe: models,
                centre_and_sharpen: page,
                dino: training,
                make_tokens: page,
            }
        }
    };
}

/// The cells of one lesson, which the site loads together.
pub struct Group {
    /// Slug of the lesson with underscores: the folder of its cells, and the chunk of the site that
    /// holds their views.
    pub name: &'static str,
    /// The cells, in the order of the lesson.
    pub cells: &'static [&'static CellSpec],
}

macro_rules! groups {
    ($($lesson:ident { $($cell:ident: $place:ident),+ $(,)? })+) => {
        /// All cells, in the order of the course.
        pub const GROUPS: &[Group] = &[$(Group {
            name: stringify!($lesson),
            cells: &[$(&crate::lessons::$lesson::$cell::SPEC),+],
        }),+];
    };
}
for_each_lesson!(groups);

/// All cells, in the order of the course.
pub fn all() -> impl Iterator<Item = &'static CellSpec> {
    GROUPS.iter().flat_map(|group| group.cells.iter().copied())
}

/// The cell of a name.
pub fn find(name: &str) -> Option<&'static CellSpec> {
    all().find(|spec| spec.name == name)
}

/// True where `name` is `module` with hyphens for underscores.
const fn is_named(name: &str, module: &str) -> bool {
    let (name, module) = (name.as_bytes(), module.as_bytes());
    let mut same = name.len() == module.len();
    let mut i = 0;
    while same && i < name.len() {
        same = name[i] == if module[i] == b'_' { b'-' } else { module[i] };
        i += 1;
    }
    same
}

/// The pattern of [`Run`] for a word of the list.
macro_rules! run {
    (page) => {
        Run::Now(_)
    };
    (training) => {
        Run::Sliced(WorkerKind::Training)
    };
    (models) => {
        Run::Sliced(WorkerKind::Models)
    };
}

macro_rules! check {
    ($($lesson:ident { $($cell:ident: $place:ident),+ $(,)? })+) => {$($(
        const _: () = {
            let spec = crate::lessons::$lesson::$cell::SPEC;
            assert!(is_named(spec.name, stringify!($cell)), concat!(stringify!($cell), ": SPEC has another name"));
            assert!(matches!(spec.run, run!($place)), concat!(stringify!($cell), ": SPEC does not run in `", stringify!($place), "`"));
        };
    )+)+};
}
for_each_lesson!(check);
