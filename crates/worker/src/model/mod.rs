//! Full-size models: where their parameters come from, how they are loaded, what is done with them.

pub mod desk;
pub mod drawn;
pub mod error;
pub mod file;
pub mod kept;
pub mod numbers;
pub mod pace;
pub mod packing;
pub mod protocol;
mod sentence;
pub mod shape;
mod sight;
pub mod sizes;
mod text;
mod weighed;
