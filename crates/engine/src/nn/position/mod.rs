//! Ways to tell attention where a token stands.

pub mod absolute;
pub mod alibi;
pub mod angle;
pub mod interpolate;
pub mod learned;
pub mod relative;
pub mod rope;
pub mod rotary;
pub mod sinusoidal;
