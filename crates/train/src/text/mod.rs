//! Text: what the translators and the language models learn from, and what they are measured by.

pub mod batches;
pub mod corpus;
pub mod language;
pub mod masked;
pub mod measures;
pub mod merges;
pub mod ngram;
pub mod own;
pub mod pairs;
pub mod parts;
pub mod pieces;
pub mod position_decoder;
pub mod position_race;
pub mod positions;
pub mod questions;
pub mod score;
pub mod split;
pub mod stories;
pub mod story_race;
pub mod translation;
pub mod translator_runs;
pub mod vocabulary;
pub mod vocabulary_file;
