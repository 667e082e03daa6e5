//! Full-size models: where their parameters come from, how they are loaded, what is done with them.

pub mod any_model;
pub mod bandwidth;
mod cell_work;
mod classified_image;
mod counting_loader;
pub mod error;
pub mod file;
pub mod host;
pub mod kept;
pub mod number_tokenizer;
pub mod packing;
pub mod protocol;
pub mod random_weights;
mod sentence;
pub mod shape;
pub mod stored_file;
mod writing;
