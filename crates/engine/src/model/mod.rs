//! Whole models, made of the layers in [`crate::nn`].

pub mod bert;
mod bert_blocks;
pub mod cnn;
pub mod config;
pub mod decoder;
pub mod dinov2;
pub mod encoder_decoder;
pub mod gpt2;
pub mod gpt_trunk;
pub mod image_gpt;
pub mod llama;
mod llama_config;
mod names;
pub mod seq2seq;
pub mod seq2seq_attention;
pub mod swin;
pub mod transformer;
pub mod vit;
mod vit_blocks;
