//! Formulas that lessons alone need: views of one head, costs, distances, the steps of a softmax. Models are made of [`crate::nn`]; what
//! is here calls its functions, or says on paper what they compute.

pub mod additive_mask;
pub mod angle;
pub mod capacity;
pub mod convolution;
pub mod cost;
pub mod one_head;
pub mod path;
pub mod rotary;
pub mod similarity;
pub mod small_decoder;
pub mod softmax_steps;
pub mod stats;
