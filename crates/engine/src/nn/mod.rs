//! Layers: each file opens with its formula, the shapes in and out, an example that runs, and where it comes from.

pub mod additive_mask;
pub mod attention;
pub mod bahdanau;
pub mod block;
pub mod conv;
pub mod cost;
pub mod embedding;
pub mod feed_forward;
pub mod grouped;
pub mod gru;
pub mod kv_cache;
pub mod linear;
pub mod mask;
pub mod mlp;
pub mod moe;
pub mod multi_head;
pub mod norm;
pub mod patch;
pub mod position;
pub mod projection;
mod shape;
pub mod similarity;
pub mod softmax;
pub mod softmax_steps;
pub mod swiglu;
