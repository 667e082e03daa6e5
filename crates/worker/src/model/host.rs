//! The loaded model of a worker: runs it step by step, so a cancellation is read between two
//! tokens.

use std::collections::VecDeque;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use engine::model::bert::Bert;
use engine::open::{
    Files, Labels, Opened, OpenedModel, Preparation, Weights, model_through, open_through,
};
use engine::parameters::{MatrixForm, Parameters};
use engine::token::tokenizer::Tokenizer;

use cells::jobs::JobCache;
use cells::opened::Model;
use cells::text_model::{OpenedSentence, OpenedText, Reader};
use cells::{CellError, Inputs};

use super::any_model::{AnyModel, layers_and_heads};
use super::cell_work::CellWork;
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
use crate::protocol::Envelope;

/// The source of a model: a shape or files.
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
        counts: &'a LoadCounts<'a>,
    ) -> Result<(Opened, Option<String>), ModelError> {
        match self {
            Self::Shape { shape, seed } => {
                let kind = packing.unwrap_or(Packing::F32).kind();
                let weights = Box::new(RandomWeights::new(seed, shape.parameters(), kind));
                let model =
                    shape
                        .sizes()
                        .load(&mut CountingLoader::new(weights, kind.into(), counts))?;
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
                let format = Weights::of(&files)?.format();
                let through = |source| {
                    Box::new(CountingLoader::new(source, form, counts)) as Box<dyn Parameters>
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

/// The answer to a cell before a picture was chosen.
const NO_PICTURE: &str = "The open model reads pictures: choose one first.";

/// A request of several steps.
enum Work {
    Run(Box<Run>),
    Write(Written),
}

/// A model with the files that came with it.
struct LoadedModel {
    model: AnyModel,
    tokenizer: Option<Arc<dyn Tokenizer>>,
    preparation: Option<Preparation>,
    labels: Option<Arc<Labels>>,
}

impl LoadedModel {
    /// The vocabulary that came with the model, or the numbers of tokens.
    fn vocabulary(&self, size: usize) -> Arc<dyn Tokenizer> {
        let numbers = || Arc::new(NumberTokenizer::new(size)) as Arc<dyn Tokenizer>;
        self.tokenizer.clone().unwrap_or_else(numbers)
    }
}

/// The loaded model, the request that it works on, and events for the page.
#[derive(Default)]
pub struct ModelHost {
    loaded: Option<LoadedModel>,
    /// The request under way, with its id.
    work: Option<(u64, Work)>,
    /// The cells that are computed, with the ids of their requests; each gets a step in turn.
    cells: VecDeque<(u64, CellWork)>,
    /// Jobs of cells that are done and may be continued.
    jobs: JobCache,
    /// Events for the page that are not sent yet.
    outbox: VecDeque<Envelope<ModelEvent>>,
    text: Rc<WritingState>,
    attention: Option<TokenAttention>,
    picture: Option<ClassifiedImage>,
}

/// Bytes of memory that this program has taken from its host; natively 0, which means unknown.
pub fn memory_bytes() -> u64 {
    #[cfg(target_family = "wasm")]
    return engine::kernel::memory_bytes();
    #[cfg(not(target_family = "wasm"))]
    return 0;
}

impl ModelHost {
    /// Drops the model and ends the requests under way.
    pub fn clear(&mut self) {
        self.end_work();
        self.end_cells(|_| true);
        *self = Self {
            outbox: std::mem::take(&mut self.outbox),
            ..Self::default()
        };
    }

    /// Loads a model, with its matrices in a form or as its file has them; `progress` is called
    /// with the share that is done. The caller, who knows when the request came, fills in the time.
    ///
    /// # Errors
    /// When the files are no model, damaged or not all there, or a parameter is missing or has
    /// another shape.
    pub fn load(
        &mut self,
        source: Source,
        packing: Option<Packing>,
        progress: &mut dyn FnMut(f32),
    ) -> Result<ModelInfo, ModelError> {
        self.clear();
        let counts = LoadCounts::new(progress);
        let file_bytes = match &source {
            Source::Shape { .. } => 0,
            Source::Files(files) => files.weight_bytes() as u64,
        };
        let (opened, format) = source.open(packing, &counts)?;
        let (layers, heads) = layers_and_heads(&opened.model);
        let kind = opened.model.name().to_owned();
        let is_gpt2 = matches!(opened.model, OpenedModel::Gpt2(_));
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
            is_gpt2,
            classes: model.classes(),
            has_labels: opened.labels.is_some(),
            weight_bytes: counts.bytes() as u64,
            memory_bytes: memory_bytes(),
            activation_bits: counts.activation_bits(),
            repacked: counts.repacked(),
            load_ms: 0.0,
            file_bytes,
            storage: None,
        };
        self.loaded = Some(LoadedModel {
            model,
            tokenizer: opened.tokenizer.map(Arc::from),
            preparation: opened.preparation,
            labels: opened.labels.map(Arc::new),
        });
        Ok(loaded)
    }

    /// Starts the measuring run of a request; [`Self::advance`] does the work.
    ///
    /// # Errors
    /// When no model is loaded, or it does not read so many tokens.
    pub fn measure(&mut self, id: u64, prompt: usize, new: usize) -> Result<(), ModelError> {
        let run = Run::new(&self.loaded()?.model, prompt, new)?;
        self.end_work();
        self.work = Some((id, Work::Run(Box::new(run))));
        Ok(())
    }

    fn loaded(&self) -> Result<&LoadedModel, ModelError> {
        self.loaded.as_ref().ok_or(ModelError::None)
    }

    fn writer(&self) -> Result<CausalLm, ModelError> {
        let loaded = self.loaded()?;
        let AnyModel::Text(model) = &loaded.model else {
            return Err(ModelError::OtherKind {
                kind: "sentence or picture".to_owned(),
            });
        };
        Ok(CausalLm {
            model: Arc::clone(model),
            tokenizer: loaded.vocabulary(model.vocabulary()),
        })
    }

    fn encoder(&self) -> Result<(Arc<Bert>, Arc<dyn Tokenizer>), ModelError> {
        let loaded = self.loaded()?;
        let AnyModel::Sentence(model) = &loaded.model else {
            return Err(ModelError::OtherKind {
                kind: "writing or picture".to_owned(),
            });
        };
        let tokenizer = loaded.vocabulary(model.config().vocabulary);
        Ok((Arc::clone(model), tokenizer))
    }

    /// The similarity of two sentences, by the clock `now_ms`.
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

    /// Predictions for the gaps of a text, by the clock `now_ms`.
    ///
    /// # Errors
    /// When no encoder with a masked-LM head is loaded, or the text has no gap or is too long for
    /// it.
    pub fn fill(&self, text: &str, now_ms: impl Fn() -> f64) -> Result<ModelEvent, ModelError> {
        let (model, tokenizer) = self.encoder()?;
        let begun = now_ms();
        let mut filled = sentence::fill(&model, &*tokenizer, text)?;
        filled.elapsed_ms = now_ms() - begun;
        Ok(ModelEvent::Filled(filled))
    }

    /// Names the classes of the model, which came without names; for pictures from now on.
    ///
    /// # Errors
    /// When there is no model, or not one name for each of its classes.
    pub fn name_classes(&mut self, names: &str) -> Result<ModelEvent, ModelError> {
        let loaded = self.loaded.as_mut().ok_or(ModelError::None)?;
        let (found, classes) = (names.lines().count(), loaded.model.classes());
        if found != classes {
            return Err(ModelError::Names { found, classes });
        }
        loaded.labels = Some(Arc::new(Labels::parse(names)?));
        Ok(ModelEvent::Named)
    }

    /// Classifies a picture, by the clock `now_ms`.
    ///
    /// # Errors
    /// When no model that reads pictures is loaded, or the picture has no pixel.
    pub fn see(
        &mut self,
        picture: &Picture,
        now_ms: impl Fn() -> f64,
    ) -> Result<ModelEvent, ModelError> {
        // The memory of the last picture is given back first.
        self.picture = None;
        let loaded = self.loaded()?;
        let preparation = loaded
            .preparation
            .as_ref()
            .ok_or_else(|| ModelError::OtherKind {
                kind: "text".to_owned(),
            })?;
        let begun = now_ms();
        let prepared = (preparation, loaded.labels.as_ref());
        let (picture, mut seen) = ClassifiedImage::of(&loaded.model, prepared, picture)?;
        seen.elapsed_ms = now_ms() - begun;
        self.picture = Some(picture);
        Ok(ModelEvent::Seen(seen))
    }

    /// Starts to continue the text of a request; [`Self::advance`] does the work.
    ///
    /// # Errors
    /// When no model that writes is loaded.
    pub fn write(&mut self, id: u64, asked: WritingRequest) -> Result<(), ModelError> {
        let writer = self.writer()?;
        self.end_work();
        self.attention = None;
        self.text = Rc::default();
        let written = writing::write(writer, asked, Rc::clone(&self.text));
        self.work = Some((id, Work::Write(Box::pin(written))));
        Ok(())
    }

    /// The attention weights of a token of the text over each token up to it, in a layer and a
    /// head; while the text is written, too. Of a picture, those of a patch over all of it.
    ///
    /// # Errors
    /// When there is no such token, layer or head.
    pub fn attend(&mut self, place: AttentionPosition) -> Result<ModelEvent, ModelError> {
        let loaded = self.loaded.as_ref().ok_or(ModelError::None)?;
        if loaded.model.side().is_some() {
            let picture = self.picture.as_ref().ok_or(ModelError::NoPicture)?;
            let weights = picture.attend(place)?;
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
        let weights = attention.row(place);
        self.attention = Some(attention);
        let weights = weights.ok_or(ModelError::UnknownPosition { place })?;
        Ok(ModelEvent::Attended { place, weights })
    }

    /// Starts to compute a cell with the model, by the clock `now_ms`; [`Self::advance`] does the
    /// work, after a text that is being written. What is wrong with the model or the inputs is the
    /// answer.
    pub fn compute(&mut self, id: u64, cell: &str, inputs: &Inputs, now_ms: impl Fn() -> f64) {
        let begun = now_ms();
        let model = self.opened();
        let jobs = &mut self.jobs;
        let job = model.and_then(|model| cells::opened::begin(jobs, cell, inputs, model));
        let work = CellWork::new(cell, job, now_ms() - begun);
        self.cells.push_back((id, work));
    }

    /// The model as cells take it: with its vocabulary, or with the picture that it read last.
    fn opened(&self) -> Result<Model, CellError> {
        let why = |error: ModelError| CellError::Mismatch(error.to_string());
        match &self.loaded().map_err(why)?.model {
            AnyModel::Text(_) => {
                let CausalLm { model, tokenizer } = self.writer().map_err(why)?;
                let model = Arc::new(OpenedText { model, tokenizer });
                Ok(Reader::Decoder(model).into())
            }
            AnyModel::Sentence(_) => {
                let (model, tokenizer) = self.encoder().map_err(why)?;
                let model = Arc::new(OpenedSentence { model, tokenizer });
                Ok(Reader::Encoder(model).into())
            }
            AnyModel::Picture(_) | AnyModel::Windows(_) | AnyModel::Features(_) => {
                let refused = |why: &str| CellError::Mismatch(why.to_owned());
                let picture = self.picture.as_ref().ok_or_else(|| refused(NO_PICTURE))?;
                Ok(picture.opened())
            }
        }
    }

    /// Ends a request if it is under way; the model stays.
    pub fn cancel(&mut self, id: u64) {
        self.end_cells(|own| own == id);
        if self.work.as_ref().is_some_and(|(own, _)| *own == id) {
            self.end_work();
        }
    }

    /// Ends the request under way, which is answered with [`ModelEvent::Stopped`].
    fn end_work(&mut self) {
        if let Some((id, _)) = self.work.take() {
            let body = ModelEvent::Stopped;
            self.outbox.push_back(Envelope { id, body });
        }
    }

    /// Ends cells by the ids of their requests, which are answered with [`ModelEvent::Stopped`].
    fn end_cells(&mut self, is_meant: impl Fn(u64) -> bool) {
        let (ended, rest): (VecDeque<_>, VecDeque<_>) =
            self.cells.drain(..).partition(|(id, _)| is_meant(*id));
        self.cells = rest;
        let stopped = |(id, _)| Envelope {
            id,
            body: ModelEvent::Stopped,
        };
        self.outbox.extend(ended.into_iter().map(stopped));
    }

    /// Returns whether there is nothing to do and nothing to send.
    pub fn is_idle(&self) -> bool {
        self.work.is_none() && self.cells.is_empty() && self.outbox.is_empty()
    }

    /// Does one step of the request under way unless there are events to send, by the clock
    /// `now_ms`, and returns the next event; `None` when idle.
    pub fn advance(&mut self, now_ms: impl Fn() -> f64) -> Option<Envelope<ModelEvent>> {
        if !self.outbox.is_empty() {
            return self.outbox.pop_front();
        }
        if let Some((id, mut work)) = self.work.take() {
            let (events, is_done) = match &mut work {
                Work::Run(run) => measure_on(run, now_ms),
                Work::Write(writing) => write_on(writing, &self.text, now_ms),
            };
            if !is_done {
                self.work = Some((id, work));
            }
            let envelope = |body| Envelope { id, body };
            self.outbox.extend(events.into_iter().map(envelope));
        } else if cfg!(feature = "lab")
            && let Some((id, mut cell)) = self.cells.pop_front()
        {
            let (body, is_done) = cell.advance(now_ms);
            if is_done {
                cell.keep(&mut self.jobs);
            } else {
                self.cells.push_back((id, cell));
            }
            self.outbox.push_back(Envelope { id, body });
        }
        self.outbox.pop_front()
    }
}

/// A text that is being written.
type Written = Pin<Box<dyn Future<Output = Result<(), ModelError>>>>;

/// Does one step of a measuring run; returns its events, and whether it has ended.
fn measure_on(run: &mut Run, now_ms: impl Fn() -> f64) -> (Vec<ModelEvent>, bool) {
    let (event, is_done) = match run.advance(now_ms) {
        Ok(RunProgress::Working(share)) => (ModelEvent::Measuring(share), false),
        Ok(RunProgress::Done(figures)) => (ModelEvent::Measured(figures), true),
        Err(error) => (ModelEvent::Failed(error.to_string()), true),
    };
    (vec![event], is_done)
}

/// Does one step of a text; returns its events with the time that the step took, and whether the
/// text has ended. The events of a step that fails come before the failure.
fn write_on(
    writing: &mut Written,
    text: &WritingState,
    now_ms: impl Fn() -> f64,
) -> (Vec<ModelEvent>, bool) {
    let begun = now_ms();
    // No waker is needed: the next step polls again.
    let step = writing
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()));
    let took = now_ms() - begun;
    let mut events = text.events.take();
    let time = events.iter_mut().find_map(|event| match event {
        ModelEvent::Reading { elapsed_ms, .. } | ModelEvent::Wrote { elapsed_ms, .. } => {
            Some(elapsed_ms)
        }
        _ => None,
    });
    if let Some(elapsed_ms) = time {
        *elapsed_ms = took;
    }
    if let Poll::Ready(Err(error)) = &step {
        events.push(ModelEvent::Failed(error.to_string()));
    }
    (events, step.is_ready())
}
