//! Trains the models that the lessons ship.
//!
//! [`frame`] is what all trainings share: steps, checkpoints, the log, the picture of the loss, the
//! shipped file and its card. A model to be trained is a [`frame::Subject`]: its data, its loss on
//! a batch, and how well it does on data that it is not trained on. Each folder beside `frame`
//! holds the subjects of one kind of data; [`heads`], [`depth`] and [`mlp`] train on data that
//! they draw themselves.

pub mod depth;
pub mod digits;
pub mod error;
pub mod frame;
pub mod heads;
pub mod mlp;
pub mod text;

pub use error::TrainError;

/// The crate's result type.
pub type Result<T, E = TrainError> = std::result::Result<T, E>;
