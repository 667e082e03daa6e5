//! Helpers for tests of cells with trained models: the files of the site, and short names for
//! inputs.

use std::borrow::Cow;
use std::sync::Arc;

use engine::model::decoder::Decoder;
use engine::token::tokenizer::{SpecialTokens, Tokenizer};
use engine::token::vocabulary::Vocabulary;

use crate::computation::Computation;
use crate::drawing::Drawing;
use crate::error::CellError;
use crate::input::{InputValue, Inputs};
use crate::jobs;
use crate::model_cache::ModelCache;
use crate::parts::drawn;
use crate::spec::CellSpec;
use crate::text_model::TextModel;

/// The files that the site ships.
pub(crate) fn cache() -> ModelCache {
    ModelCache::of_folder(concat!(env!("CARGO_MANIFEST_DIR"), "/../../public/models"))
}

/// The cell on these inputs.
pub(crate) fn computed(spec: &CellSpec, inputs: &Inputs) -> Result<Computation, CellError> {
    jobs::compute(spec, inputs, &cache())
}

/// The cell on a drawing, with its other inputs as they are.
pub(crate) fn on_drawing(spec: &CellSpec, drawing: Drawing) -> Result<Computation, CellError> {
    let inputs = Inputs::default().with(drawn::NAME, InputValue::Drawing(drawing));
    computed(spec, &inputs)
}

/// A choice.
pub(crate) fn choice(name: &str) -> InputValue {
    InputValue::Choice(name.to_owned())
}

/// A number.
pub(crate) fn number(value: f64) -> InputValue {
    InputValue::Number(value)
}

/// A text.
pub(crate) fn text(value: &str) -> InputValue {
    InputValue::Text(value.to_owned())
}

/// Whether the vocabularies of GPT-2 and BERT are here, which `cargo xtask build` copies from
/// packages; where they are not, the test is recorded as skipped.
#[track_caller]
pub(crate) fn from_npm() -> bool {
    let cache = concat!(env!("CARGO_MANIFEST_DIR"), "/../../public/models");
    let folder = std::path::Path::new(cache);
    let missing = crate::model_cache::FROM_NPM
        .into_iter()
        .find(|name| !folder.join(name).exists());
    if let Some(name) = missing {
        skip::because(format_args!("{name} is not in public/models"));
    }
    missing.is_none()
}

/// A model with the first `size` of its tokens: its embedding has rows that fill it up, as those of
/// many files.
pub(crate) struct FewerTokens {
    whole: Arc<dyn TextModel>,
    size: usize,
}

impl FewerTokens {
    /// A model without the tokens from this one on; `None` where it has no such token.
    pub(crate) fn before(token: &str, whole: Arc<dyn TextModel>) -> Option<Self> {
        let size = whole.tokenizer().id(token)?;
        Some(Self { whole, size })
    }
}

impl TextModel for FewerTokens {
    fn decoder(&self) -> &dyn Decoder {
        self.whole.decoder()
    }

    fn tokenizer(&self) -> &dyn Tokenizer {
        self
    }
}

impl Tokenizer for FewerTokens {
    fn encode_as(&self, text: &str, marked: bool) -> engine::Result<Vec<usize>> {
        self.whole.tokenizer().encode_as(text, marked)
    }

    fn vocabulary(&self) -> &Vocabulary {
        self.whole.tokenizer().vocabulary()
    }

    fn size(&self) -> usize {
        self.size
    }

    fn token_bytes(&self, id: usize, first: bool) -> engine::Result<Option<Cow<'_, [u8]>>> {
        assert!(id < self.size, "id {id} has no token");
        self.whole.tokenizer().token_bytes(id, first)
    }

    fn special(&self) -> &SpecialTokens {
        self.whole.tokenizer().special()
    }
}
