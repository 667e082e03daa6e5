//! Handwritten digits: classifiers with and without attention, and a model that writes them pixel
//! by pixel.

pub mod augment;
pub mod bias_runs;
pub mod classifier;
pub mod data;
pub mod drawn_runs;
pub mod gpt;
pub mod position_tables;
pub mod scale_runs;
pub mod shape_runs;
pub mod unlabelled_runs;
pub mod variants;
