//! Encoders of text and pictures, and the encoder-decoder.

use super::file::{AttentionWeights, Failure, Found, Reference, indices};
use engine::formula::image;
use engine::model::{bert, dinov2, swin, transformer, vit};
use engine::ndarray::{Array1, Array3, Axis};

/// BERT with its masked-LM head.
pub(crate) fn bert(reference: &mut Reference) -> Result<Found, Failure> {
    reference.expect_activation("gelu_erf")?;
    let config = bert::Config::from_keys(&|key| reference.number(key))?;
    let model = bert::Bert::load(config, &mut reference.parameters)?;
    let mut attention = AttentionWeights::default();
    let logits = model.forward(&reference.ids("ids")?, Some(&mut attention))?;
    Found::of_rows(reference, &logits, "logits_row_", None, attention)
}

/// ViT, at the size that its positions are for or at another.
pub(crate) fn vit(reference: &mut Reference) -> Result<Found, Failure> {
    reference.expect_activation("gelu_erf")?;
    let config = vit::Config::from_keys(&|key| reference.number(key))?;
    let model = vit::Vit::load(config, &mut reference.parameters)?;
    let mut attention = AttentionWeights::default();
    let logits = model.forward(picture(reference)?.view(), Some(&mut attention))?;
    Ok(Found::whole("logits", logits.into_dyn(), attention))
}

/// DINOv2.
pub(crate) fn dinov2(reference: &mut Reference) -> Result<Found, Failure> {
    reference.expect_activation("gelu_erf")?;
    let config = dinov2::Config::from_keys(&|key| reference.number(key))?;
    let model = dinov2::Dinov2::load(config, &mut reference.parameters)?;
    let mut attention = AttentionWeights::default();
    let features = model.forward(picture(reference)?.view(), Some(&mut attention))?;
    let mut found = Found::of_rows(reference, &features, "patch_", None, attention)?;
    let class = features.index_axis(Axis(0), 0).to_owned().into_dyn();
    found.tensors.insert("cls".to_owned(), class);
    Ok(found)
}

/// Swin V2.
pub(crate) fn swinv2(reference: &mut Reference) -> Result<Found, Failure> {
    reference.expect_activation("gelu_erf")?;
    let list = |key: &str| {
        let list = indices(&reference.content["hyperparameters"][key]);
        list.ok_or_else(|| format!("no list of whole numbers {key}"))
    };
    let config = swin::Config {
        width: reference.size("width")?,
        depths: list("depths")?,
        heads: list("heads")?,
        window: reference.size("window")?,
        trained_windows: Vec::new(),
        patch: reference.size("patch")?,
        image: reference.size("image")?,
        classes: reference.size("classes")?,
        inner_ratio: reference.size("inner_ratio")?,
        norm_eps: reference.number("norm_eps").ok_or("no number norm_eps")? as f32,
    };
    let model = swin::Swin::load(config, &mut reference.parameters)?;
    let logits: Array1<f32> = model.forward(picture(reference)?.view(), None)?;
    let attention = AttentionWeights::default();
    Ok(Found::whole("logits", logits.into_dyn(), attention))
}

/// The Transformer of 2017.
pub(crate) fn transformer(reference: &mut Reference) -> Result<Found, Failure> {
    reference.expect_activation("relu")?;
    let config = transformer::Config::from_keys(&|key| reference.number(key))?;
    let model = transformer::Transformer::load(config, &mut reference.parameters)?;
    let (source, target) = (reference.ids("source_ids")?, reference.ids("target_ids")?);
    let logits = model.forward(&source, &target, None)?;
    let attention = AttentionWeights::default();
    Found::of_rows(
        reference,
        &logits,
        "logits_row_",
        Some("last_logits"),
        attention,
    )
}

/// The picture of the file's seed and size.
fn picture(reference: &Reference) -> Result<Array3<f32>, Failure> {
    let size = match reference.number("input_image") {
        Some(_) => reference.size("input_image")?,
        None => reference.size("image")?,
    };
    Ok(image(size, reference.seed))
}
