//! Computations that several cells share.

pub(crate) mod bias_runs;
pub mod block_parts;
pub(crate) mod decoder_parts;
pub(crate) mod depth_runs;
pub(crate) mod digit_models;
pub(crate) mod drawn;
pub(crate) mod drawn_runs;
pub(crate) mod measure;
pub(crate) mod mlp_runs;
pub(crate) mod opened_number;
pub(crate) mod opened_picture;
pub(crate) mod published;
pub(crate) mod race;
pub(crate) mod readers;
pub(crate) mod said;
pub(crate) mod scale_runs;
pub(crate) mod small_layer;
#[cfg(test)]
pub(crate) mod test_models;
pub(crate) mod trained;
pub(crate) mod training;
pub(crate) mod translator_runs;
pub(crate) mod unlabelled_runs;
pub(crate) mod untrained;
pub(crate) mod vit_parts;
pub(crate) mod vocabularies;
pub(crate) mod words;
