//! Whole models, made of the layers in [`crate::nn`].

pub mod tiny_decoder;
