//! Positions of tokens: vectors added to embeddings, biases added to scores, and rotations of
//! queries and keys.

pub mod absolute;
pub mod alibi;
pub mod interpolate;
pub mod relative;
pub mod rope;
pub mod sinusoidal;
