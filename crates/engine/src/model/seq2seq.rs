//! Sequence to sequence through one context vector: an encoder reads, and its last state is all
//! that the decoder knows of the source.
//!
//! ```text
//! h = GRU_encoder(E_s[source], 0)           source [S], E_s [V_s, E] -> last state of each layer [layers][C]
//! x_t = E_t[y_t], or [E_t[y_t]; c],         c = h of the last layer,  y_1 the start of the text   [E] or [E + C]
//! s_t = GRU_decoder(x_t, s_{t−1}),          s_0 = h                                               [C]
//! o_t = s_t, or with a readout tanh(W_r [s_t; x_t] + b_r)                                         [C] or [R]
//! logits_t = o_t · W_oᵀ + b_o               W_o [V_t, C] or [V_t, R]                              [V_t]
//! ```
//! W_o has a row for each word. With a readout it is narrower than the state, so the same number of
//! parameters has room for a wider state. A decoder that is fed c at each step need not carry it
//! through its own state.
//!
//! ```
//! use engine::model::seq2seq::{Config, Seq2Seq};
//! use engine::formula::Formula;
//! let config = Config {
//!     source_vocabulary: 9, target_vocabulary: 7, embedding: 4, width: 6, layers: 2, readout: None,
//!     feeds_context: false, reverse_source: true,
//! };
//! let model = Seq2Seq::load(config, &mut Formula::new(1, config.shapes()))?;
//! let all = model.forward(&[3, 1, 4], &[0, 5, 2], None)?;
//! let mut state = model.encode(&[3, 1, 4], None)?;
//! model.step(&mut state, 0, None)?;
//! assert_eq!(model.step(&mut state, 5, None)?, all.row(1));
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Sutskever, Vinyals and Le 2014, "Sequence to sequence learning with neural networks",
//! section 2 (with GRUs instead of LSTMs; the reversed source is theirs); Cho et al. 2014, section
//! 2.2 (where each step and each output gets the vector again).

mod fading;

pub use fading::Fading;

use super::config::{self, Lookup};
use super::encoder_decoder::{EncoderDecoder, embedding_parameters};
use super::names::Shapes;
use crate::error::{EngineError, Result};
use crate::math;
use crate::nn::compute::Compute;
use crate::nn::gru::Gru;
use crate::nn::packed::Packed;
use crate::nn::plain::Plain;
use crate::nn::projection::Projection;
use crate::parameters::{Parameters, Weight};
use crate::trace::{Observer, observe, reborrow, scope};
use crate::trainable::{Trainable, Visit};
use ndarray::{Array1, Array2, Axis};

/// The sizes of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// V_s.
    pub source_vocabulary: usize,
    /// V_t.
    pub target_vocabulary: usize,
    /// E, the width of both token tables.
    pub embedding: usize,
    /// C, the width of all states.
    pub width: usize,
    /// GRU layers of the encoder, and of the decoder.
    pub layers: usize,
    /// R, the width of the layer before the logits; without one they are computed from the state
    /// directly.
    pub readout: Option<usize>,
    /// True when the decoder reads the context vector with each token, not only at its start.
    pub feeds_context: bool,
    /// True when the source is read from its end, which brings its first words near the target's.
    pub reverse_source: bool,
}

impl Config {
    /// The sizes from named numbers, named as the fields are; `feeds_context` and `reverse_source`
    /// are numbers too, 0 for no.
    ///
    /// # Errors
    /// When a size is missing or not a whole number in range.
    pub fn from_keys(lookup: Lookup<'_>) -> Result<Self> {
        let size = |name: &'static str| config::size("seq2seq-gru", lookup, &[name]);
        Ok(Self {
            source_vocabulary: size("source_vocabulary")?,
            target_vocabulary: size("target_vocabulary")?,
            embedding: size("embedding")?,
            width: size("width")?,
            layers: size("layers")?,
            readout: config::optional("seq2seq-gru", lookup, &["readout"])?,
            feeds_context: lookup("feeds_context").is_some_and(|yes| yes != 0.0),
            reverse_source: lookup("reverse_source").is_some_and(|yes| yes != 0.0),
        })
    }

    /// The names of all parameters with their shapes.
    pub fn shapes(&self) -> Vec<(String, Vec<usize>)> {
        let (e, c, v) = (self.embedding, self.width, self.target_vocabulary);
        let mut all = Shapes::default();
        all.add("encoder.embedding.weight", &[self.source_vocabulary, e]);
        all.add("decoder.embedding.weight", &[v, e]);
        all.layer("decoder.output", &[v, self.seen()]);
        if let Some(r) = self.readout {
            all.layer("decoder.readout", &[r, c + self.inputs()]);
        }
        all.0.extend(Gru::shapes("encoder.gru", e, c, self.layers));
        let inputs = self.inputs();
        (all.0).extend(Gru::shapes("decoder.gru", inputs, c, self.layers));
        all.0
    }

    /// The width of x_t, which the decoder reads at each step.
    fn inputs(&self) -> usize {
        let context = if self.feeds_context { self.width } else { 0 };
        self.embedding + context
    }

    /// The width of the vector that the logits are computed from.
    fn seen(&self) -> usize {
        self.readout.unwrap_or(self.width)
    }
}

/// The model: for each side a token table and a GRU, and the output.
#[derive(Debug, Clone, PartialEq)]
pub struct Seq2Seq {
    config: Config,
    source_tokens: Weight,
    encoder: Gru,
    target_tokens: Weight,
    decoder: Gru,
    readout: Option<Projection>,
    output: Projection,
}

/// A source that was read, and the state of the decoder.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// c `[C]`, the last layer's state after the whole source. It stays the same.
    pub context: Array1<f32>,
    /// The state of each layer of the decoder, `[C]` each.
    pub layers: Vec<Array1<f32>>,
}

impl Seq2Seq {
    /// The model with the parameters of a source, named as [`Config::shapes`] says.
    ///
    /// # Errors
    /// When a parameter is missing or has another shape.
    pub fn load(config: Config, source: &mut dyn Parameters) -> Result<Self> {
        let (e, c, layers) = (config.embedding, config.width, config.layers);
        let [source_vocabulary, v] = [config.source_vocabulary, config.target_vocabulary];
        Ok(Self {
            source_tokens: source.weight("encoder.embedding.weight", source_vocabulary, e)?,
            encoder: Gru::load(source, "encoder.gru", e, c, layers)?,
            target_tokens: source.weight("decoder.embedding.weight", v, e)?,
            decoder: Gru::load(source, "decoder.gru", config.inputs(), c, layers)?,
            readout: (config.readout)
                .map(|r| Projection::load(source, "decoder.readout", c + config.inputs(), r, true))
                .transpose()?,
            output: Projection::load(source, "decoder.output", config.seen(), v, true)?,
            config,
        })
    }

    /// The sizes of the model.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The tokens in the order in which the encoder reads them: the source, or the source from its
    /// end.
    pub fn reading_order(&self, source: &[usize]) -> Vec<usize> {
        let mut ids = source.to_vec();
        if self.config.reverse_source {
            ids.reverse();
        }
        ids
    }

    /// The vector: the encoder's states after the whole source. The observer gets
    /// `encoder.embedding`, `encoder.layers.n.steps.t.…` and `encoder.states` `[layers, C]`.
    ///
    /// # Errors
    /// When an id is outside the vocabulary.
    pub fn encode(&self, source: &[usize], mut trace: Option<&mut dyn Observer>) -> Result<State> {
        // source [S] -> [layers][C]
        let ids = self.reading_order(source);
        let prefix = || "encoder.".to_owned();
        scope(&mut trace, prefix, |trace| {
            let mut x = self.source_tokens.rows(&ids)?;
            observe(trace, "embedding", &mut x);
            let mut states = self.encoder.start();
            self.encoder.forward(x.view(), &mut states, trace)?;
            let dim = (states.len(), self.config.width);
            let mut stacked = Array2::from_shape_fn(dim, |(n, c)| states[n][c]);
            observe(trace, "states", &mut stacked);
            let layers: Vec<_> = stacked.outer_iter().map(|state| state.to_owned()).collect();
            let context = layers.last().cloned().unwrap_or_default();
            Ok(State { context, layers })
        })
    }

    /// Reads one target token; returns the logits of the next.
    ///
    /// # Errors
    /// When the id is outside the vocabulary or the state is another model's.
    pub fn step(
        &self,
        state: &mut State,
        id: usize,
        trace: Option<&mut dyn Observer>,
    ) -> Result<Array1<f32>> {
        // id -> [V_t]
        Ok(self.decode(state, &[id], trace)?.row(0).to_owned())
    }

    /// Reads several target tokens; returns the logits after each. The observer gets
    /// `decoder.embedding`, `decoder.layers.n.steps.t.…`, with a readout `decoder.readout`
    /// `[T, R]`, and `logits`.
    ///
    /// # Errors
    /// When an id is outside the vocabulary or the state is another model's.
    pub fn decode(
        &self,
        state: &mut State,
        target: &[usize],
        mut trace: Option<&mut dyn Observer>,
    ) -> Result<Array2<f32>> {
        // target [T] -> [T, V_t]
        let prefix = || "decoder.".to_owned();
        let hidden = scope(&mut trace, prefix, |trace| {
            let mut x = self.target_tokens.rows(target)?;
            observe(trace, "embedding", &mut x);
            if self.config.feeds_context {
                let context = state.context.view().insert_axis(Axis(0));
                let context = context.broadcast((target.len(), self.config.width));
                let context = context.ok_or_else(|| wrong_state(state))?;
                x = concat(&[&x, &context.to_owned()])?;
            }
            let hidden = (self.decoder).forward(x.view(), &mut state.layers, trace)?;
            let Some(readout) = &self.readout else {
                return Ok(hidden);
            };
            let joined = concat(&[&hidden, &x])?;
            let mut read = readout.forward(joined.view())?.mapv(math::tanh);
            observe(trace, "readout", &mut read);
            Ok(read)
        })?;
        let mut logits = self.output.forward(hidden.view())?;
        observe(&mut trace, "logits", &mut logits);
        Ok(logits)
    }

    /// The logits after each of the target's tokens, all of them given (teacher forcing).
    ///
    /// # Errors
    /// When an id is outside its vocabulary.
    pub fn forward(
        &self,
        source: &[usize],
        target: &[usize],
        mut trace: Option<&mut dyn Observer>,
    ) -> Result<Array2<f32>> {
        // source [S], target [T] -> [T, V_t]
        let mut state = self.encode(source, reborrow(&mut trace))?;
        self.decode(&mut state, target, trace)
    }
}

/// Matrices of the same number of rows, their columns one after the other.
fn concat(parts: &[&Array2<f32>]) -> Result<Array2<f32>> {
    Plain::silent().concat(parts)
}

/// The error for the state of a model with another width.
fn wrong_state(state: &State) -> EngineError {
    let found = format!("{} numbers", state.context.len());
    EngineError::shape("decode", "the context vector of this model", found)
}

impl EncoderDecoder for Seq2Seq {
    fn run<C: Compute>(
        &self,
        compute: &mut C,
        source: &Packed,
        target: &Packed,
    ) -> Result<C::Matrix> {
        // source ids [M], target ids [N] -> [N, V_t]
        let start = Array2::zeros((source.lengths.len(), self.config.width));
        let start = compute.constant(start.view());
        let mut states = vec![start; self.config.layers];
        let x = compute.embed(&self.source_tokens, &source.ids)?;
        let x = compute.dropout(x);
        let (lengths, reverse) = (&source.lengths, self.config.reverse_source);
        self.encoder
            .run(compute, x, lengths, &mut states, reverse)?;
        let x = compute.embed(&self.target_tokens, &target.ids)?;
        let mut x = compute.dropout(x);
        if let (true, Some(context)) = (self.config.feeds_context, states.last()) {
            let of = target.ranges().enumerate();
            let of: Vec<usize> = of.flat_map(|(b, rows)| rows.map(move |_| b)).collect();
            let context = compute.gather(context, &of)?;
            x = compute.concat(&[&x, &context])?;
        }
        let lengths = &target.lengths;
        let hidden = (self.decoder).run(compute, x.clone(), lengths, &mut states, false)?;
        let mut hidden = compute.dropout(hidden);
        if let Some(readout) = &self.readout {
            let joined = compute.concat(&[&hidden, &x])?;
            hidden = readout.run(compute, &joined)?;
            hidden = compute.tanh(hidden);
        }
        self.output.run(compute, &hidden)
    }
}

impl Trainable for Seq2Seq {
    fn parameters(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        embedding_parameters(&mut self.source_tokens, "encoder", visit)?;
        embedding_parameters(&mut self.target_tokens, "decoder", visit)?;
        self.encoder.parameters("encoder.gru", visit)?;
        self.decoder.parameters("decoder.gru", visit)?;
        if let Some(readout) = &mut self.readout {
            readout.parameters("decoder.readout", visit)?;
        }
        self.output.parameters("decoder.output", visit)
    }
}
