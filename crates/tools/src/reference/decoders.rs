//! The decoders.

use super::file::{AttentionWeights, Failure, Found, Reference};
use engine::model::decoder::{Decoder, DecoderExt};
use engine::model::{gpt2, llama};
use engine::nn::position::rope::Pairing;

/// GPT-2.
pub(crate) fn gpt2(reference: &mut Reference) -> Result<Found, Failure> {
    reference.expect_activation("gelu_tanh")?;
    let config = gpt2::Config::from_keys(&|key| reference.number(key))?;
    let model = gpt2::Gpt2::load(config, &mut reference.parameters)?;
    run(&model, reference)
}

/// The Llama family, with the rotary pairs of the Hugging Face format.
pub(crate) fn llama(reference: &mut Reference) -> Result<Found, Failure> {
    reference.expect_activation("silu")?;
    let config = llama::Config::from_keys(&|key| reference.number(key), Pairing::Halves)?;
    let model = llama::Llama::load(config, &mut reference.parameters)?;
    run(&model, reference)
}

fn run(model: &dyn Decoder, reference: &Reference) -> Result<Found, Failure> {
    let mut attention = AttentionWeights::default();
    let logits = model.forward(&reference.ids("ids")?, Some(&mut attention))?;
    Found::of_rows(
        reference,
        &logits,
        "logits_row_",
        Some("last_logits"),
        attention,
    )
}
