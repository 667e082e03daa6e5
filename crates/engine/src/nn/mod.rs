//! Layers: each file opens with its formula, the shapes in and out, an example that runs, and its
//! source.

pub mod attention;
pub mod bahdanau;
pub mod biased;
mod blockwise;
pub mod compute;
pub mod cosine_attention;
pub mod cross_attention;
pub mod embedding;
pub mod feed_forward;
pub mod full_attention;
pub mod grouped;
pub mod gru;
pub mod heads;
pub mod kv_cache;
pub mod linear;
pub mod mask;
pub mod moe;
pub mod norm;
pub mod packed;
pub mod parts;
pub mod patch;
pub mod patch_merge;
pub mod picture_tokens;
pub mod plain;
pub mod pooling;
pub mod position;
pub mod post_norm;
pub mod post_norm_decoder;
pub mod pre_norm;
pub mod projection;
pub mod softmax;
pub(crate) mod steps;
pub mod swiglu;
pub mod unfold;
pub mod window;
pub mod window_block;
