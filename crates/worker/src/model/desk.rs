//! The worker's model: loads it, runs it step by step, so that a request to stop is heard between two tokens.

use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use engine::model::bert::Bert;
use engine::open::{Files, Labels, Opened, Preparation, Weights, model_through, open_through};
use engine::parameters::{MatrixForm, Parameters};
use engine::token::tokenizer::Tokenizer;

use super::drawn::Drawn;
use super::error::ModelError;
use super::numbers::Numbers;
use super::packing::Packing;
use super::protocol::{Loaded, News, Picture, Place, Writing};
use super::sentence;
use super::shape::Shape;
use super::sight::Sight;
use super::sizes::{Model, layers_and_heads};
use super::text::{self, Attention, Text, Writer};
use super::weighed::{Tally, Weighed};
use crate::bench::{Run, Step};

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
        tally: &'a Tally<'a>,
    ) -> Result<(Opened, Option<String>), ModelError> {
        match self {
            Self::Shape { shape, seed } => {
                let kind = packing.unwrap_or(Packing::F32).kind();
                let drawn = Box::new(Drawn::new(seed, shape.parameters(), kind));
                let model = shape
                    .sizes()
                    .load(&mut Weighed::new(drawn, kind.into(), tally))?;
                let opened = Opened {
                    model,
                    tokenizer: None,
                    preparation: shape.side().map(Preparation::usual),
                    labels: None,
                };
                Ok((opened, None))
            }
            Self::Files(files) => {
                let form = packing.map_or(MatrixForm::Fast, Packing::form);
                let format = Weights::parse(&files.name, Arc::clone(&files.weights))?.format();
                let through =
                    |source| Box::new(Weighed::new(source, form, tally)) as Box<dyn Parameters>;
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
struct Standing {
    model: Model,
    tokenizer: Option<Rc<dyn Tokenizer>>,
    preparation: Option<Preparation>,
    labels: Option<Labels>,
}

impl Standing {
    /// The vocabulary that came with the model, or the numbers of tokens.
    fn vocabulary(&self, size: usize) -> Rc<dyn Tokenizer> {
        let numbers = || Rc::new(Numbers::new(size)) as Rc<dyn Tokenizer>;
        self.tokenizer.clone().unwrap_or_else(numbers)
    }
}

/// The loaded model and what is done with it.
#[derive(Default)]
pub struct Desk {
    standing: Option<Standing>,
    work: Option<Work>,
    text: Rc<Text>,
    attention: Option<Attention>,
    sight: Option<Sight>,
}

/// Bytes of memory that this program has taken from its host; natively not known, 0.
pub fn memory_bytes() -> u64 {
    #[cfg(target_arch = "wasm32")]
    return core::arch::wasm32::memory_size::<0>() as u64 * 65_536;
    #[cfg(not(target_arch = "wasm32"))]
    return 0;
}

impl Desk {
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
    ) -> Result<Loaded, ModelError> {
        self.clear();
        let tally = Tally::new(progress);
        let file_bytes = match &source {
            Source::Shape { .. } => 0,
            Source::Files(files) => files.weights.len() as u64,
        };
        let (opened, format) = source.open(packing, &tally)?;
        let (layers, heads) = layers_and_heads(&opened.model);
        let kind = opened.model.name().to_owned();
        let model = Model::from(opened.model);
        let loaded = Loaded {
            kind,
            format,
            layers,
            heads,
            context: match &model {
                Model::Text(model) => model.context(),
                Model::Sentence(model) => model.config().context,
                _ => 0,
            },
            has_vocabulary: opened.tokenizer.is_some(),
            writes: matches!(model, Model::Text(_)),
            reads: model.side().is_none(),
            fills: matches!(&model, Model::Sentence(model) if model.fills_masks()),
            weight_bytes: tally.bytes() as u64,
            memory_bytes: memory_bytes(),
            activation_bits: tally.activation_bits(),
            repacked: tally.repacked(),
            load_ms: 0.0,
            file_bytes,
            storage: None,
        };
        self.standing = Some(Standing {
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

    fn standing(&self) -> Result<&Standing, ModelError> {
        self.standing.as_ref().ok_or(ModelError::None)
    }

    fn writer(&self) -> Result<Writer, ModelError> {
        let standing = self.standing()?;
        let Model::Text(model) = &standing.model else {
            return Err(ModelError::OtherKind {
                kind: "sentence or picture".to_owned(),
            });
        };
        Ok(Writer {
            model: Rc::clone(model),
            tokenizer: standing.vocabulary(model.vocabulary()),
        })
    }

    fn encoder(&self) -> Result<(Rc<Bert>, Rc<dyn Tokenizer>), ModelError> {
        let standing = self.standing()?;
        let Model::Sentence(model) = &standing.model else {
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
    ) -> Result<News, ModelError> {
        let (model, tokenizer) = self.encoder()?;
        let begun = now_ms();
        let mut compared = sentence::compare(&model, &*tokenizer, sentences)?;
        compared.elapsed_ms = now_ms() - begun;
        Ok(News::Compared(compared))
    }

    /// What fills the gaps of a text, by the clock `now_ms`.
    ///
    /// # Errors
    /// When no encoder with a masked-LM head is loaded, or the text has no gap or is too long for it.
    pub fn fill(&self, text: &str, now_ms: impl Fn() -> f64) -> Result<News, ModelError> {
        let (model, tokenizer) = self.encoder()?;
        let begun = now_ms();
        let mut filled = sentence::fill(&model, &*tokenizer, text)?;
        filled.elapsed_ms = now_ms() - begun;
        Ok(News::Filled(filled))
    }

    /// What is on a picture, by the clock `now_ms`.
    ///
    /// # Errors
    /// When no model that reads pictures is loaded, or the picture has no pixel.
    pub fn see(&mut self, picture: &Picture, now_ms: impl Fn() -> f64) -> Result<News, ModelError> {
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
        let (sight, mut seen) = Sight::of(&standing.model, prepared, picture)?;
        seen.elapsed_ms = now_ms() - begun;
        self.sight = Some(sight);
        Ok(News::Seen(seen))
    }

    /// Begins to continue a text; the work is done in [`Self::turn`].
    ///
    /// # Errors
    /// When no model that writes is loaded.
    pub fn write(&mut self, asked: Writing) -> Result<(), ModelError> {
        let writer = self.writer()?;
        self.attention = None;
        self.text = Rc::default();
        let written = text::write(writer, asked, Rc::clone(&self.text));
        self.work = Some(Work::Write(Box::pin(written)));
        Ok(())
    }

    /// What a token of the text takes from each token up to it, in a layer and a head; while the text is written, too. Of a picture,
    /// what a patch takes from all of it.
    ///
    /// # Errors
    /// When there is no such token, layer or head.
    pub fn attend(&mut self, place: Place) -> Result<News, ModelError> {
        let standing = self.standing.as_ref().ok_or(ModelError::None)?;
        if standing.model.side().is_some() {
            let sight = self.sight.as_mut().ok_or(ModelError::NoPicture)?;
            let weights = sight.attend(&standing.model, place)?;
            return Ok(News::Attended { place, weights });
        }
        let model = self.writer()?.model;
        let ids = self.text.ids.borrow();
        let up_to = ids.get(..=place.token).unwrap_or_default();
        let kept = self.attention.take().filter(|kept| kept.is_of(up_to));
        let attention = match kept {
            Some(kept) => kept,
            None => Attention::of(&model, up_to)?,
        };
        let weights = attention.row(place).unwrap_or_default();
        self.attention = Some(attention);
        Ok(News::Attended { place, weights })
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
    pub fn turn(&mut self, now_ms: impl Fn() -> f64) -> Option<News> {
        if let Some(news) = self.text.news.borrow_mut().pop_front() {
            return Some(news);
        }
        match self.work.as_mut()? {
            Work::Run(run) => {
                let step = run.advance(now_ms);
                if !matches!(step, Ok(Step::Working(_))) {
                    self.work = None;
                }
                Some(match step {
                    Ok(Step::Working(share)) => News::Measuring(share),
                    Ok(Step::Done(figures)) => News::Measured(figures),
                    Err(error) => News::Failed(error.to_string()),
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
                    return Some(News::Failed(error.to_string()));
                }
                let mut news = self.text.news.borrow_mut().pop_front();
                if let Some(News::Reading { elapsed_ms, .. } | News::Wrote { elapsed_ms, .. }) =
                    &mut news
                {
                    *elapsed_ms = took;
                }
                news
            }
        }
    }
}
