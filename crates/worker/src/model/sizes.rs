//! The models that the worker runs, with their sizes.

use std::rc::Rc;

use engine::model::bert::{self, Bert};
use engine::model::decoder::Decoder;
use engine::model::gpt2::{self, Gpt2};
use engine::model::llama::{self, Llama};
use engine::model::vit::{self, Vit};
use engine::parameters::Parameters;

/// A kind of model and its sizes.
#[derive(Debug, Clone, PartialEq)]
pub enum Sizes {
    /// Text, token by token.
    Gpt2(gpt2::Config),
    /// Text, token by token.
    Llama(llama::Config),
    /// A vector for a sentence.
    Bert(bert::Config),
    /// Classes of a picture.
    Vit(vit::Config),
}

/// A model that can run.
#[derive(Clone)]
pub enum Model {
    /// Continues a text.
    Text(Rc<dyn Decoder>),
    /// Gives a vector for a sentence.
    Sentence(Rc<Bert>),
    /// Classifies a picture.
    Picture(Rc<Vit>),
}

impl Sizes {
    /// The model with the parameters of a source.
    ///
    /// # Errors
    /// When a parameter is missing or has another shape.
    pub fn load(&self, source: &mut dyn Parameters) -> engine::Result<Model> {
        Ok(match self.clone() {
            Self::Gpt2(config) => Model::Text(Rc::new(Gpt2::load(config, source)?)),
            Self::Llama(config) => Model::Text(Rc::new(Llama::load(config, source)?)),
            Self::Bert(config) => Model::Sentence(Rc::new(Bert::load(config, source)?)),
            Self::Vit(config) => Model::Picture(Rc::new(Vit::load(config, source)?)),
        })
    }
}
