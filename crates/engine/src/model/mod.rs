//! Whole models, made of the layers in [`crate::nn`].

pub mod config;
pub mod decoder;
pub mod gpt2;
pub mod llama;
pub mod tiny_decoder;
