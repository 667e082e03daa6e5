//! Trained models as cells use them: the file of the reader's choice, the tokens that a model
//! reads, and what one head of a layer did.

use std::sync::Arc;

use engine::nn::attention::Mask;
use engine::token::tokenizer::Tokenizer;
use engine::trace::Recorder;
use explain::one_head::{OneHead, SelfAttention};
use ndarray::{Array2, Axis, Ix2, Ix3};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::model_cache::{CausalLm, MaskedLm, ModelCache, Shipped};
use crate::spec::{Job, once};
use crate::text_model::TextModel;

/// The choice of weights that are drawn from the seed.
pub(crate) const RANDOM: &str = "random";

/// The encoder that fills in masked words.
pub(crate) const BERT: &str = "tiny-bert";

/// The decoder that writes.
pub(crate) const GPT: &str = "tiny-gpt";

/// The Transformer of 2017.
pub(crate) const TRANSLATOR: &str = "translator";

/// The encoder of handwritten digits.
pub(crate) const VIT: &str = "digit-vit";

/// The same with the mean over the patches in place of the class token.
pub(crate) const VIT_MEAN: &str = "digit-vit-gap";

/// The same without a table of positions: it reads a bag of patches.
pub(crate) const VIT_BAG: &str = "digit-vit-nopos";

/// The same digits read by convolutions.
pub(crate) const CNN: &str = "digit-cnn";

/// A decoder that writes digits pixel by pixel.
pub(crate) const DIGIT_GPT: &str = "digit-gpt";

/// The choice of a model; the first one is the default.
pub(crate) fn model(names: &'static [&'static str]) -> InputSpec {
    InputSpec::choice("model", "Model", names)
}

/// The name of the file of a model.
pub(crate) fn file(name: &str) -> Option<&'static str> {
    match name {
        BERT => Some("tiny-bert.safetensors"),
        GPT => Some("tiny-gpt.safetensors"),
        TRANSLATOR => Some("translator.safetensors"),
        VIT => Some("digit-vit.safetensors"),
        VIT_MEAN => Some("digit-vit-gap.safetensors"),
        CNN => Some("digit-cnn.safetensors"),
        DIGIT_GPT => Some("digit-gpt.safetensors"),
        VIT_BAG => Some("digit-vit-nopos.safetensors"),
        _ => None,
    }
}

/// The files that a cell with the input `model` needs: that of the chosen model, none for random
/// weights.
pub(crate) fn files(inputs: &Inputs) -> Vec<&'static str> {
    let chosen = inputs.choice("model").ok();
    chosen.and_then(file).into_iter().collect()
}

/// The encoder's first layer alone, in a file of its own: for cells that need no more, at the top of a
/// page, where a reader waits for every byte.
#[derive(Debug)]
pub(crate) struct FirstLayer(pub(crate) Arc<MaskedLm>);

impl FirstLayer {
    const FILE: &str = "tiny-bert-first-layer.safetensors";

    /// The files that a cell with the input `model` needs: this one, none for random weights.
    pub(crate) fn files(inputs: &Inputs) -> Vec<&'static str> {
        let is_trained = inputs.choice("model").is_ok_and(|name| name == BERT);
        is_trained.then_some(Self::FILE).into_iter().collect()
    }
}

impl Offered for FirstLayer {
    fn open(_: &str, cache: &ModelCache) -> Result<Self, CellError> {
        cache.opened(Self::FILE).map(Self)
    }
}

/// The most layers and heads that a shipped model has: limits of the inputs that choose one.
pub(crate) const MOST: (f64, f64) = (4.0, 4.0);

/// The inputs that choose a layer and a head of a shipped model, counted from one.
pub(crate) fn layer_and_head(layer: f64, head: f64) -> [InputSpec; 2] {
    layer_and_head_of(MOST, (layer, head))
}

/// The inputs that choose a layer and a head of a model that has at most so many.
pub(crate) fn layer_and_head_of(most: (f64, f64), (layer, head): (f64, f64)) -> [InputSpec; 2] {
    [
        InputSpec::number("layer", "Layer", (1.0, most.0, 1.0), layer),
        InputSpec::number("head", "Head", (1.0, most.1, 1.0), head),
    ]
}

/// A layer and a head of a model that has so many; a number beyond means the last.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head {
    /// The layer, from 0.
    pub(crate) layer: usize,
    /// The head, from 0.
    pub(crate) head: usize,
}

impl Head {
    /// The one that the inputs choose; it is noted, with how many there are.
    pub(crate) fn chosen(
        record: &mut Record,
        inputs: &Inputs,
        (layers, heads): (usize, usize),
    ) -> Result<Self, CellError> {
        let chosen = Self {
            layer: inputs.count("layer")?.clamp(1, layers.max(1)) - 1,
            head: inputs.count("head")?.clamp(1, heads.max(1)) - 1,
        };
        record.number("layers", layers as f64);
        record.number("heads", heads as f64);
        record.number("layer", (chosen.layer + 1) as f64);
        record.number("head", (chosen.head + 1) as f64);
        Ok(chosen)
    }

    /// A step of this head's attention, `[T, D]` or `[T, S]`, out of that of all heads; `name` is
    /// the layer's attention.
    fn of(self, recorder: &Recorder, name: &str, part: &str) -> Result<Array2<f32>, CellError> {
        let name = format!("{name}.{part}");
        let all = recorder
            .get(&name)
            .and_then(|all| all.view().into_dimensionality::<Ix3>().ok())
            .filter(|all| self.head < all.dim().0);
        all.map(|all| all.index_axis_move(Axis(0), self.head).to_owned())
            .ok_or(CellError::Missing(name))
    }

    /// The attention of this head as the model computed it: the numbers of its own trace, and in
    /// the panel the function that it called. `place` is the part of the name before the layer's
    /// number, `attention` the part after it; `mask` is the model's.
    pub(crate) fn attention(
        self,
        record: &mut Record,
        recorder: &Recorder,
        (place, attention): (&str, &str),
        mask: &Mask,
    ) -> Result<SelfAttention, CellError> {
        let name = format!("{place}blocks.{}.{attention}", self.layer);
        let part = |part| self.of(recorder, &name, part);
        let (q, k, v) = (part("q")?, part("k")?, part("v")?);
        let scores = part("scores")?;
        let masked = engine::nn::attention::apply_mask(scores.view(), mask, self.head)?;
        let attention = OneHead {
            scores,
            masked,
            weights: part("weights")?,
            output: part("heads")?,
        };
        traced!(
            record,
            engine::nn::attention::attend,
            recorder,
            &name,
            [q, k, v, mask],
            attention
        )?;
        Ok(SelfAttention { q, k, v, attention })
    }
}

/// A matrix that a model told of.
pub(crate) fn told(recorder: &Recorder, name: &str) -> Result<Array2<f32>, CellError> {
    recorder
        .get(name)
        .and_then(|found| found.view().into_dimensionality::<Ix2>().ok())
        .map(|found| found.to_owned())
        .ok_or_else(|| CellError::Missing(name.to_owned()))
}

/// The word of a token that belongs to none.
const NO_WORD: usize = usize::MAX;

/// The tokens that a model reads a text as.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pieces {
    /// Their ids.
    pub(crate) ids: Vec<usize>,
    /// Their texts, to be shown.
    pub(crate) texts: Vec<String>,
    /// Of each piece, the place of the word that it belongs to; its own place where a text was not
    /// cut word by word.
    pub(crate) words: Vec<usize>,
}

impl Pieces {
    /// The tokens of some words, each word cut by itself, by a vocabulary that marks with `##` the
    /// tokens that continue a word.
    pub(crate) fn of_words(tokenizer: &dyn Tokenizer, words: &[String]) -> Result<Self, CellError> {
        let mut all = Self::default();
        for (place, word) in words.iter().enumerate() {
            for id in tokenizer.encode(word)? {
                all.push(tokenizer, id, place);
            }
        }
        Ok(all)
    }

    /// The tokens of a text by a vocabulary whose tokens hold their spaces.
    pub(crate) fn of_text(tokenizer: &dyn Tokenizer, text: &str) -> Result<Self, CellError> {
        Self::of_ids(tokenizer, tokenizer.encode(text)?)
    }

    /// Pieces that are known by their ids; one without a text is called by its name. An embedding
    /// may have more rows than there are tokens, to fill it up to a round size: such an id is
    /// called by its number.
    pub(crate) fn of_ids(tokenizer: &dyn Tokenizer, ids: Vec<usize>) -> Result<Self, CellError> {
        let mut all = Self::default();
        for (place, id) in ids.into_iter().enumerate() {
            let text = if id < tokenizer.size() {
                match tokenizer.token_bytes(id, false)? {
                    Some(bytes) => visible(&String::from_utf8_lossy(&bytes)),
                    None => tokenizer.token(id).unwrap_or_default().to_owned(),
                }
            } else {
                format!("id {id}, no token")
            };
            all.ids.push(id);
            all.texts.push(text);
            all.words.push(place);
        }
        Ok(all)
    }

    fn push(&mut self, tokenizer: &dyn Tokenizer, id: usize, word: usize) {
        self.ids.push(id);
        self.texts
            .push(tokenizer.token(id).unwrap_or_default().to_owned());
        self.words.push(word);
    }

    /// Refuses more than `most` tokens, which a cell could not show, and none at all, as of a lone
    /// full stop.
    ///
    /// # Errors
    /// [`CellError::Input`] with a message for the reader.
    pub(crate) fn at_most(self, most: usize, name: &str, label: &str) -> Result<Self, CellError> {
        self.limited(most, "this cell shows", (name, label))
    }

    /// Refuses more tokens than a model reads: its context less the `added` tokens that begin and
    /// end a text. Refuses none at all, too.
    ///
    /// # Errors
    /// [`CellError::Input`] with a message for the reader.
    pub(crate) fn within(
        self,
        model: &str,
        (context, added): (usize, usize),
        input: (&str, &str),
    ) -> Result<Self, CellError> {
        self.limited(
            context.saturating_sub(added),
            &format!("{model} reads"),
            input,
        )
    }

    fn limited(
        self,
        most: usize,
        who: &str,
        (name, label): (&str, &str),
    ) -> Result<Self, CellError> {
        if self.ids.is_empty() {
            return Err(CellError::input(name, label, "type at least one word."));
        }
        if self.ids.len() <= most {
            return Ok(self);
        }
        let message = format!(
            "this is {} tokens, and {who} at most {most}: unknown words are split. Your text is kept: shorten it to continue.",
            self.ids.len()
        );
        Err(CellError::input(name, label, message))
    }

    /// The same between the tokens that begin and end a text, as an encoder reads it.
    pub(crate) fn enclosed(&self, tokenizer: &dyn Tokenizer) -> Self {
        let mut all = Self::default();
        let special = tokenizer.special();
        if let Some(begin) = special.begin {
            all.push(tokenizer, begin, NO_WORD);
        }
        all.ids.extend(&self.ids);
        all.texts.extend(self.texts.iter().cloned());
        all.words.extend(&self.words);
        if let Some(end) = special.end {
            all.push(tokenizer, end, NO_WORD);
        }
        all
    }
}

/// Text of the token that begins a text of a decoder.
pub(crate) const START: &str = "\u{27e8}start\u{27e9}";

/// A piece's text with its spaces and line breaks to be seen.
pub(crate) fn visible(text: &str) -> String {
    text.replace(' ', "\u{2423}").replace('\n', "\u{21b5}")
}

/// What a cell over text offers beside weights drawn from the seed: a trained model, or one of
/// several.
pub(crate) trait Offered: Send + Sized + 'static {
    /// Opens the model of this name.
    ///
    /// # Errors
    /// When its file is not here or not what it should be.
    fn open(name: &str, cache: &ModelCache) -> Result<Self, CellError>;
}

impl<M: Shipped> Offered for Arc<M> {
    fn open(name: &str, cache: &ModelCache) -> Result<Self, CellError> {
        let unknown = || CellError::Mismatch(format!("{name} is no trained model"));
        cache.opened(file(name).ok_or_else(unknown)?)
    }
}

/// A computation with the weights that the reader chose, as a job of the worker's; it is given no
/// model where they are drawn from the seed. The code of models that a cell does not offer stays
/// out of its lesson's file.
pub(crate) fn job<M: Offered>(
    inputs: &Inputs,
    cache: &ModelCache,
    compute: fn(&Inputs, Option<&M>) -> Result<Computation, CellError>,
) -> Result<Box<dyn Job>, CellError> {
    let model = match inputs.choice("model")? {
        RANDOM => None,
        name => Some(M::open(name, cache)?),
    };
    let inputs = inputs.clone();
    Ok(once(move || compute(&inputs, model.as_ref())))
}

/// tiny-gpt, for a cell that computes with any decoder.
pub(crate) fn gpt(cache: &ModelCache) -> Result<Arc<dyn TextModel>, CellError> {
    Ok(cache.opened::<CausalLm>("tiny-gpt.safetensors")?)
}

/// A computation in one slice on the reader's inputs and a decoder.
pub(crate) fn once_with(
    inputs: &Inputs,
    model: Arc<dyn TextModel>,
    compute: fn(&Inputs, &dyn TextModel) -> Result<Computation, CellError>,
) -> Box<dyn Job> {
    let inputs = inputs.clone();
    once(move || compute(&inputs, &*model))
}

/// A computation in one slice on the reader's inputs and tiny-gpt.
pub(crate) fn once_with_gpt(
    inputs: &Inputs,
    cache: &ModelCache,
    compute: fn(&Inputs, &CausalLm) -> Result<Computation, CellError>,
) -> Result<Box<dyn Job>, CellError> {
    let gpt = cache.opened::<CausalLm>("tiny-gpt.safetensors")?;
    let inputs = inputs.clone();
    Ok(once(move || compute(&inputs, &gpt)))
}
