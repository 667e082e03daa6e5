//! What lessons show and trainers measure, and no model needs: views of one head, costs, distances,
//! the steps of a softmax, the scores of translations. Models are made of [`engine::nn`]; these
//! functions call it, or compute the same as it is written on paper.

pub mod additive_mask;
pub mod angle;
pub mod byte_pairs;
pub mod capacity;
pub mod coin_walk;
pub mod convolution;
pub mod cost;
pub mod deep_stack;
pub mod descent;
pub mod drawn_digits;
pub mod head_scores;
pub mod induction;
pub mod multi_head;
pub mod norm_stack;
pub mod norm_steps;
pub mod one_head;
pub mod one_hot;
pub mod path;
pub mod pseudo_inverse;
pub mod rollout;
pub mod rotary;
pub mod run_log;
pub mod score;
pub mod similarity;
pub mod small_decoder;
pub mod softmax_steps;
pub mod stats;
pub mod sub_layers;
pub mod switched_heads;
pub mod two_layers;
pub mod two_maps;
pub mod two_questions;
pub mod waves;
pub mod wrong_mask;
