//! The engine natively, in one program: compiled once, with one link. What needs a process of its own
//! (an allocator that counts, a pool of threads) has a file beside this folder, as have the tests
//! in the browser.
#![cfg(not(target_family = "wasm"))]
#![allow(
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too"
)]

mod decoder_parameters;
mod decoders;
mod encoder_hooks;
mod encoders;
mod formats;
mod generate;
mod gguf_models;
mod golden;
mod gpt_nano;
mod grad_models;
mod grad_steps;
mod grad_torch;
mod grad_training;
mod gradients;
mod invariants;
mod minilm;
mod model_parts;
mod one_attention;
mod open;
mod options;
mod quality;
mod quant;
mod recurrent;
mod stories;
mod support;
mod tokenizers;
mod translate;
mod vit_tiny;
