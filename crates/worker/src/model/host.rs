//! The worker's model: loads it, runs it step by step, so that a request to stop is heard between two tokens.

use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use engine::model::bert::Bert;
use engine::open::{Files, Labels, Opened, Preparation, Weights, model_through, open_through};
use engine::parameters::Parameters;
use engine::token::tokenizer::Tokenizer;

use super::any_model::{AnyModel, layers_and_heads};
use super::classified_image::ClassifiedImage;
use super::counting_loader::{CountingLoader, LoadCounts};
use super::error::ModelError;
use super::number_tokenizer::NumberTokenizer;
use super::packing::Packing;
use super::protocol::{AttentionPosition, ModelEvent, ModelInfo, Picture, WritingRequest};
use super::random_weights::RandomWeights;
use super::sentence;
use super::shape::Shape;
use super::writing::{self, CausalLm, TokenAttention, WritingState};
use crate::bench::{Run, RunProgress};

/// What a model is made from.
pub enum Source {
    /// A real shape with random weights.
    Shape {
        /// The shape.
        shape: Shape,
        /// Seed of the formula.
        seed: u64,
    },
    /// Files.
    Files(Files),
}

impl Source {
    /// A named shape.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn shape(name: &str, seed: u64) -> Result<Self, ModelError> {
        let shape = Shape::from_name(name)?;
        Ok(Self::Shape { shape, seed })
    }

    /// The model, and the format of its file.
    fn open<'a>(
        self,
        packing: Option<Packing>,
        tally: &'a LoadCounts<'a>,
    ) -> Result<(Opened, Option<String>), ModelError> {
        match self {
            Self::Shape { shape, seed } => {
                let kind = packing.unwrap_or(Packing::F32).kind();
                let drawn = Box::new(RandomWeights::new(seed, shape.parameters(), kind));
                let model =
                    shape
                        .sizes()
                        .load(&mut CountingLoader::new(drawn, Some(kind), tally))?;
                let opened = Opened {
                    model,
                    tokenizer: None,
                    preparation: shape.side().map(Preparation::usual),
                    labels: None,
                };
                Ok((opened, None))
            }
            Self::Files(files) => {
                let kind = packing.map(Packing::kind);
                let format = Weights::parse(&files.name, Arc::clone(&files.weights))?.format();
                let through = |source| {
                    Box::new(CountingLoader::new(source, kind, tally)) as Box<dyn Parameters>
                };
                // The file that only measures has no code for vocabularies.
                let opened = if cfg!(feature = "lab") {
                    open_through(&files, through)?
                } else {
                    Opened {
                        model: model_through(&files, through)?,
                        tokenizer: None,
                        preparation: None,
                        labels: None,
                    }
                };
                Ok((opened, Some(format.to_owned())))
            }
        }
    }
}

/// What is under way.
enum Work {
    Run(Box<Run>),
    Write(Pin<Box<dyn Future<Output = Result<(), ModelError>>>>),
}

/// A model that stands.
struct LoadedModel {
    model: AnyModel,
    tokenizer: Option<Rc<dyn Tokenizer>>,
    preparation: Option<Preparation>,
    labels: Option<Labels>,
}

impl LoadedModel {
    /// The vocabulary that came with the model, or the numbers of tokens.
    fn vocabulary(&self, size: usize) -> Rc<dyn Tokenizer> {
        let numbers = || Rc::new(NumberTokenizer::new(size)) as Rc<dyn Tokenizer>;
        self.tokenizer.clone().unwrap_or_else(numbers)
    }
}

/// The loaded model and what is done with it.
#[derive(Default)]
pub struct ModelHost {
    standing: Option<LoadedModel>,
    work: Option<Work>,
    text: Rc<WritingState>,
    attention: Option<TokenAttention>,
    sight: Option<ClassifiedImage>,
}

/// Bytes of memory that this program has taken from its host; natively not known, 0.
pub fn memory_bytes() -> u64 {
    #[cfg(target_arch = "wasm32")]
    return core::arch::wasm32::memory_size::<0>() as u64 * 65_536;
    #[cfg(not(target_arch = "wasm32"))]
    return 0;
}

impl ModelHost {
    /// Drops the model and what is under way.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Loads a model, with its matrices in a form or as its file has them; `progress` hears the share that is done. The time is for the
    /// caller to fill in, who knows when it began.
    ///
    /// # Errors
    /// When the files are no model, damaged or not all there, or a parameter is missing or has another shape.
    pub fn load(
        &mut self,
        source: Source,
        packing: Option<Packing>,
        progress: &mut dyn FnMut(f32),
    ) -> Result<ModelInfo, ModelError> {
        self.clear();
        let tally = LoadCounts::new(progress);
        let file_bytes = match &source {
            Source::Shape { .. } => 0,
            Source::Files(files) => files.weights.len() as u64,
        };
        let (opened, format) = source.open(packing, &tally)?;
        let (layers, heads) = layers_and_heads(&opened.model);
        let kind = opened.model.name().to_owned();
        let model = AnyModel::from(opened.model);
        let loaded = ModelInfo {
            kind,
            format,
            layers,
            heads,
            context: match &model {
                AnyModel::Text(model) => model.context(),
                AnyModel::Sentence(model) => model.config().context,
                _ => 0,
            },
            has_vocabulary: opened.tokenizer.is_some(),
            writes: matches!(model, AnyModel::Text(_)),
            reads: model.side().is_none(),
            fills: matches!(&model, AnyModel::Sentence(model) if model.fills_masks()),
            weight_bytes: tally.bytes() as u64,
            memory_bytes: memory_bytes(),
            activation_bits: tally.activation_bits(),
            load_ms: 0.0,
            file_bytes,
            storage: None,
        };
        self.standing = Some(LoadedModel {
            model,
            tokenizer: opened.tokenizer.map(Rc::from),
            preparation: opened.preparation,
            labels: opened.labels,
        });
        Ok(loaded)
    }

    /// Begins a run; the work is done in [`Self::turn`].
    ///
    /// # Errors
    /// When no model is loaded, or it does not read so many tokens.
    pub fn measure(&mut self, prompt: usize, new: usize) -> Result<(), ModelError> {
        let standing = self.standing.as_ref().ok_or(ModelError::None)?;
        self.work = Some(Work::Run(Box::new(Run::new(&standing.model, prompt, new)?)));
        Ok(())
    }

    fn standing(&self) -> Result<&LoadedModel, ModelError> {
        self.standing.as_ref().ok_or(ModelError::None)
    }

    fn writer(&self) -> Result<CausalLm, ModelError> {
        let standing = self.standing()?;
        let AnyModel::Text(model) = &standing.model else {
            return Err(ModelError::OtherKind {
                kind: "sentence or picture".to_owned(),
            });
        };
        Ok(CausalLm {
            model: Rc::clone(model),
            tokenizer: standing.vocabulary(model.vocabulary()),
        })
    }

    fn encoder(&self) -> Result<(Rc<Bert>, Rc<dyn Tokenizer>), ModelError> {
        let standing = self.standing()?;
        let AnyModel::Sentence(model) = &standing.model else {
            return Err(ModelError::OtherKind {
                kind: "writing or picture".to_owned(),
            });
        };
        let tokenizer = standing.vocabulary(model.config().vocabulary);
        Ok((Rc::clone(model), tokenizer))
    }

    /// How alike two sentences are, by the clock `now_ms`.
    ///
    /// # Errors
    /// When no encoder is loaded, or a sentence is empty or too long for it.
    pub fn compare(
        &self,
        sentences: [&str; 2],
        now_ms: impl Fn() -> f64,
    ) -> Result<ModelEvent, ModelError> {
        let (model, tokenizer) = self.encoder()?;
        let begun = now_ms();
        let mut compared = sentence::compare(&model, &*tokenizer, sentences)?;
        compared.elapsed_ms = now_ms() - begun;
        Ok(ModelEvent::Compared(compared))
    }

    /// What fills the gaps of a text, by the clock `now_ms`.
    ///
    /// # Errors
    /// When no encoder with a masked-LM head is loaded, or the text has no gap or is too long for it.
    pub fn fill(&self, text: &str, now_ms: impl Fn() -> f64) -> Result<ModelEvent, ModelError> {
        let (model, tokenizer) = self.encoder()?;
        let begun = now_ms();
        let mut filled = sentence::fill(&model, &*tokenizer, text)?;
        filled.elapsed_ms = now_ms() - begun;
        Ok(ModelEvent::Filled(filled))
    }

    /// What is on a picture, by the clock `now_ms`.
    ///
    /// # Errors
    /// When no model that reads pictures is loaded, or the picture has no pixel.
    pub fn see(
        &mut self,
        picture: &Picture,
        now_ms: impl Fn() -> f64,
    ) -> Result<ModelEvent, ModelError> {
        // What the last picture took is given back first.
        self.sight = None;
        let standing = self.standing()?;
        let preparation = standing
            .preparation
            .as_ref()
            .ok_or_else(|| ModelError::OtherKind {
                kind: "text".to_owned(),
            })?;
        let begun = now_ms();
        let prepared = (preparation, standing.labels.as_ref());
        let (sight, mut seen) = ClassifiedImage::of(&standing.model, prepared, picture)?;
        seen.elapsed_ms = now_ms() - begun;
        self.sight = Some(sight);
        Ok(ModelEvent::Seen(seen))
    }

    /// Begins to continue a text; the work is done in [`Self::turn`].
    ///
    /// # Errors
    /// When no model that writes is loaded.
    pub fn write(&mut self, asked: WritingRequest) -> Result<(), ModelError> {
        let writer = self.writer()?;
        self.attention = None;
        self.text = Rc::default();
        let written = writing::write(writer, asked, Rc::clone(&self.text));
        self.work = Some(Work::Write(Box::pin(written)));
        Ok(())
    }

    /// What a token of the text takes from each token up to it, in a layer and a head; while the text is written, too. Of a picture,
    /// what a patch takes from all of it.
    ///
    /// # Errors
    /// When there is no such token, layer or head.
    pub fn attend(&mut self, place: AttentionPosition) -> Result<ModelEvent, ModelError> {
        let standing = self.standing.as_ref().ok_or(ModelError::None)?;
        if standing.model.side().is_some() {
            let sight = self.sight.as_mut().ok_or(ModelError::NoPicture)?;
            let weights = sight.attend(&standing.model, place)?;
            return Ok(ModelEvent::Attended { place, weights });
        }
        let model = self.writer()?.model;
        let ids = self.text.ids.borrow();
        let up_to = ids.get(..=place.token).unwrap_or_default();
        let kept = self.attention.take().filter(|kept| kept.is_of(up_to));
        let attention = match kept {
            Some(kept) => kept,
            None => TokenAttention::of(&model, up_to)?,
        };
        let weights = attention.row(place).unwrap_or_default();
        self.attention = Some(attention);
        Ok(ModelEvent::Attended { place, weights })
    }

    /// Ends what is under way; the model stays.
    pub fn stop(&mut self) {
        self.work = None;
        self.text.news.borrow_mut().clear();
    }

    /// Whether there is nothing to do.
    pub fn is_idle(&self) -> bool {
        self.work.is_none() && self.text.news.borrow().is_empty()
    }

    /// Goes on by one step, by the clock `now_ms`; `None` when idle.
    pub fn turn(&mut self, now_ms: impl Fn() -> f64) -> Option<ModelEvent> {
        if let Some(news) = self.text.news.borrow_mut().pop_front() {
            return Some(news);
        }
        match self.work.as_mut()? {
            Work::Run(run) => {
                let step = run.advance(now_ms);
                if !matches!(step, Ok(RunProgress::Working(_))) {
                    self.work = None;
                }
                Some(match step {
                    Ok(RunProgress::Working(share)) => ModelEvent::Measuring(share),
                    Ok(RunProgress::Done(figures)) => ModelEvent::Measured(figures),
                    Err(error) => ModelEvent::Failed(error.to_string()),
                })
            }
            Work::Write(writing) => {
                let begun = now_ms();
                // Nothing wakes it: it is asked again at the next turn.
                let step = writing
                    .as_mut()
                    .poll(&mut Context::from_waker(Waker::noop()));
                let took = now_ms() - begun;
                if step.is_ready() {
                    self.work = None;
                }
                if let Poll::Ready(Err(error)) = step {
                    return Some(ModelEvent::Failed(error.to_string()));
                }
                let mut news = self.text.news.borrow_mut().pop_front();
                if let Some(
                    ModelEvent::Reading { elapsed_ms, .. } | ModelEvent::Wrote { elapsed_ms, .. },
                ) = &mut news
                {
                    *elapsed_ms = took;
                }
                news
            }
        }
    }
}
