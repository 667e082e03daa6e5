//! How good translations are.

pub mod bleu;
pub mod bootstrap;
