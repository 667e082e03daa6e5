//! Whole models, made of the layers in [`crate::nn`].

pub mod config;
pub mod decoder;
pub mod gpt2;
pub mod llama;
mod llama_config;
pub mod seq2seq;
pub mod seq2seq_attention;
pub mod tiny_decoder;
