//! The decoders.

use crate::file::{AttentionWeights, Failure, Found, Reference};
use engine::model::decoder::Decoder;
use engine::model::{gpt2, llama};
use engine::ndarray::Axis;
use engine::nn::position::rotary::Pairing;
use std::collections::BTreeMap;

/// GPT-2.
pub(crate) fn gpt2(reference: &mut Reference) -> Result<Found, Failure> {
    let config = gpt2::Config::from_keys(&|key| reference.number(key))?;
    let model = gpt2::Gpt2::load(config, &mut reference.parameters)?;
    run(&model, reference)
}

/// The Llama family, with the rotary pairs of the Hugging Face format.
pub(crate) fn llama(reference: &mut Reference) -> Result<Found, Failure> {
    let config = llama::Config::from_keys(&|key| reference.number(key), Pairing::Halves)?;
    let model = llama::Llama::load(config, &mut reference.parameters)?;
    run(&model, reference)
}

fn run(model: &dyn Decoder, reference: &Reference) -> Result<Found, Failure> {
    let ids = reference.ids("ids")?;
    let last = ids
        .len()
        .checked_sub(1)
        .ok_or("ids: at least one is needed")?;
    let mut attention = AttentionWeights::default();
    let logits = model.forward(&ids, Some(&mut attention))?;
    let row = |n: usize| logits.index_axis(Axis(0), n).to_owned().into_dyn();
    let tensors = BTreeMap::from([("last_logits", row(last)), ("logits_row_0", row(0))]);
    Ok(Found { tensors, attention })
}
