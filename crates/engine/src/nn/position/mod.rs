//! Positions of tokens: what is added to vectors, to scores, or turns queries and keys.

pub mod absolute;
pub mod alibi;
pub mod interpolate;
pub mod relative;
pub mod rope;
pub mod sinusoidal;
