//! The models that a worker runs, and their configurations.

use std::sync::Arc;

use engine::EngineError;
use engine::model::bert::{self, Bert};
use engine::model::decoder::Decoder;
use engine::model::dinov2::Dinov2;
use engine::model::gpt2::{self, Gpt2};
use engine::model::llama::{self, Llama};
use engine::model::swin::Swin;
use engine::model::vit::{self, Vit};
use engine::ndarray::{Array1, ArrayView3};
use engine::open;
use engine::parameters::Parameters;
use engine::trace::Observer;

/// The configuration of a model of any kind.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelConfig {
    /// Text, token by token.
    Gpt2(gpt2::Config),
    /// Text, token by token.
    Llama(llama::Config),
    /// A vector for a sentence.
    Bert(bert::Config),
    /// Classes of a picture.
    Vit(vit::Config),
}

/// A model of any kind, by what it does.
#[derive(Clone)]
pub enum AnyModel {
    /// Continues a text.
    Text(Arc<dyn Decoder>),
    /// Gives a vector for a sentence.
    Sentence(Arc<Bert>),
    /// Classifies a picture.
    Picture(Arc<Vit>),
    /// Classifies a picture through windows.
    Windows(Arc<Swin>),
    /// Reads a picture and has no classes.
    Features(Arc<Dinov2>),
}

impl ModelConfig {
    /// The model with the parameters of a source.
    ///
    /// # Errors
    /// When a parameter is missing or has another shape.
    pub fn load(&self, source: &mut dyn Parameters) -> engine::Result<open::OpenedModel> {
        Ok(match self.clone() {
            Self::Gpt2(config) => open::OpenedModel::Gpt2(Gpt2::load(config, source)?),
            Self::Llama(config) => open::OpenedModel::Llama(Llama::load(config, source)?),
            Self::Bert(config) => open::OpenedModel::Bert(Bert::load(config, source)?),
            Self::Vit(config) => open::OpenedModel::Vit(Vit::load(config, source)?),
        })
    }
}

/// Numbers of layers and heads whose attention weights can be shown; 0 where they cannot.
pub fn layers_and_heads(model: &open::OpenedModel) -> (usize, usize) {
    match model {
        open::OpenedModel::Gpt2(model) => (model.config().layers, model.config().heads),
        open::OpenedModel::Llama(model) => (model.config().layers, model.config().heads),
        open::OpenedModel::Bert(model) => (model.config().layers, model.config().heads),
        open::OpenedModel::Vit(model) => (model.config().layers, model.config().heads),
        open::OpenedModel::Dinov2(model) => (model.config().layers, model.config().heads),
        // It attends within windows that move from layer to layer.
        open::OpenedModel::Swin(_) => (0, 0),
    }
}

impl From<open::OpenedModel> for AnyModel {
    fn from(model: open::OpenedModel) -> Self {
        match model {
            open::OpenedModel::Gpt2(model) => Self::Text(Arc::new(model)),
            open::OpenedModel::Llama(model) => Self::Text(Arc::new(model)),
            open::OpenedModel::Bert(model) => Self::Sentence(Arc::new(model)),
            open::OpenedModel::Vit(model) => Self::Picture(Arc::new(model)),
            open::OpenedModel::Swin(model) => Self::Windows(Arc::new(model)),
            open::OpenedModel::Dinov2(model) => Self::Features(Arc::new(model)),
        }
    }
}

impl AnyModel {
    /// Number of its classes of pictures; 0 where it has none.
    pub fn classes(&self) -> usize {
        match self {
            Self::Picture(model) => model.config().classes,
            Self::Windows(model) => model.config().classes,
            Self::Text(_) | Self::Sentence(_) | Self::Features(_) => 0,
        }
    }

    /// Side of the pictures that it reads, in pixels; `None` where it reads text.
    pub fn side(&self) -> Option<usize> {
        match self {
            Self::Text(_) | Self::Sentence(_) => None,
            Self::Picture(model) => Some(model.config().image),
            Self::Windows(model) => Some(model.config().image),
            Self::Features(_) => Some(224),
        }
    }

    /// Side of a patch in pixels, and the number of tokens before those of the patches; `None`
    /// where it reads text.
    pub fn patches(&self) -> Option<(usize, usize)> {
        match self {
            Self::Text(_) | Self::Sentence(_) => None,
            Self::Picture(model) => {
                Some((model.config().patch, usize::from(model.has_class_token())))
            }
            Self::Windows(model) => Some((model.config().patch, 0)),
            Self::Features(model) => Some((model.config().patch, 1)),
        }
    }

    /// Runs a picture through it, for its classes where it has any. The observer gets what the
    /// model's own `forward` lists.
    ///
    /// # Errors
    /// When the picture has another shape, or the model reads text.
    pub fn see(
        &self,
        image: ArrayView3<'_, f32>,
        trace: Option<&mut dyn Observer>,
    ) -> engine::Result<Option<Array1<f32>>> {
        // image [3, H, W] -> [classes]
        match self {
            Self::Text(_) | Self::Sentence(_) => Err(EngineError::value(
                "see",
                "model",
                "one that reads pictures",
                "one that reads text",
            )),
            Self::Picture(model) => model.forward(image, trace).map(Some),
            // The file that only measures makes neither, and is without the code that runs them.
            Self::Windows(_) | Self::Features(_) if !cfg!(feature = "lab") => Ok(None),
            Self::Windows(model) => model.forward(image, trace).map(Some),
            Self::Features(model) => model.forward(image, trace).map(|_| None),
        }
    }
}
