//! From the text of a reference file to its comparison, natively and in the browser.

use super::compare::{Line, compare};
use super::file::{Failure, Found, Reference};
use super::{decoders, encoders};

/// Builds one model and runs it on the inputs of its file.
type Model = fn(&mut Reference) -> Result<Found, Failure>;

/// The models that a file can name.
const MODELS: &[(&str, Model)] = &[
    ("gpt2", decoders::gpt2),
    ("llama", decoders::llama),
    ("bert", encoders::bert),
    ("vit", encoders::vit),
    ("vit384", encoders::vit),
    ("dinov2", encoders::dinov2),
    ("swinv2", encoders::swinv2),
    ("transformer", encoders::transformer),
];

/// Builds the model that the file at `path` names, runs it on the file's inputs and compares each
/// field; `text` is what the file holds.
pub fn check(path: &str, text: &str) -> Result<Vec<Line>, Failure> {
    let mut reference = Reference::parse(text)?;
    let model = MODELS.iter().find(|(name, _)| *name == reference.model);
    let Some((_, model)) = model else {
        let known: Vec<&str> = MODELS.iter().map(|(name, _)| *name).collect();
        let (found, known) = (&reference.model, known.join(", "));
        return Err(format!("model must be one of {known}; found {found:?}").into());
    };
    let found = model(&mut reference)?;
    compare(path, &reference, &found)
}
