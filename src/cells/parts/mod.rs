//! Parts of views that several cells share.

pub(crate) mod bars;
pub(crate) mod block_words;
pub(crate) mod blocks_box;
pub(crate) mod digit_models;
pub(crate) mod figures;
pub(crate) mod head_maps;
pub(crate) mod kept_runs;
pub(crate) mod model_note;
pub(crate) mod model_parts;
pub(crate) mod opened_picture;
pub(crate) mod pad;
pub(crate) mod paper_figure;
pub(crate) mod pictures;
pub(crate) mod player;
pub(crate) mod rail;
pub(crate) mod said;
pub(crate) mod space;
pub(crate) mod terms;
pub(crate) mod vocabulary;
pub(crate) mod walk;
mod walk_sum;
