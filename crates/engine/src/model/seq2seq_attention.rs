//! Sequence to sequence with attention: at each step the decoder looks at all of the source again.
//!
//! ```text
//! a_s = [→h_s; ←h_s]                              a GRU in each direction over E_s[source]        [S, 2C]
//! s_0 = tanh(W_b ←h_1 + b_b)                                                                      [C]
//! w_t, c_t = additive attention of s_{t−1} over a                                                 [S], [2C]
//! s_t = GRU([E_t[y_t]; c_t], s_{t−1})                                                             [C]
//! o_t = [s_t; c_t; E_t[y_t]], or with a readout tanh(W_r [s_t; c_t; E_t[y_t]] + b_r)              [3C + E] or [R]
//! logits_t = W_o o_t + b_o                                                                        [V_t]
//! ```
//! The paper's output has a layer with maxout between (appendix A.2.2); the readout is in its
//! position and keeps W_o, which has a row for each word, small.
//!
//! ```
//! use engine::model::seq2seq_attention::{AttentiveSeq2Seq, Config};
//! use engine::{formula::Formula, trace::Recorder};
//! let config = Config { source_vocabulary: 9, target_vocabulary: 7, embedding: 4, width: 6, inner: 5, readout: None };
//! let model = AttentiveSeq2Seq::load(config, &mut Formula::new(1, config.shapes()))?;
//! let mut seen = Recorder::default();
//! let logits = model.forward(&[3, 1, 4], &[0, 5], Some(&mut seen))?;
//! assert_eq!(logits.dim(), (2, 7));
//! assert_eq!(seen.get("decoder.steps.1.attention.weights").map(|w| w.len()), Some(3));
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Bahdanau, Cho and Bengio 2015, "Neural machine translation by jointly learning to align
//! and translate", section 3 and appendix A.

mod sizes;

pub use sizes::Config;

use super::encoder_decoder::{EncoderDecoder, embedding_parameters};
use crate::error::{EngineError, Result};
use crate::math;
use crate::nn::bahdanau::AdditiveAttention;
use crate::nn::compute::Compute;
use crate::nn::gru::GruCell;
use crate::nn::packed::Packed;
use crate::nn::plain::Plain;
use crate::nn::projection::Projection;
use crate::nn::steps::Steps;
use crate::parameters::{Parameters, Weight};
use crate::shape::expect;
use crate::trace::{Observer, observe, reborrow, scope};
use crate::trainable::{Trainable, Visit};
use ndarray::{Array1, Array2, Axis, s};

/// The model: a token table for each side, the two directions of the encoder, attention, the
/// decoder and the output.
#[derive(Debug, Clone, PartialEq)]
pub struct AttentiveSeq2Seq {
    config: Config,
    source_tokens: Weight,
    forwards: GruCell,
    backwards: GruCell,
    bridge: Projection,
    target_tokens: Weight,
    attention: AdditiveAttention,
    decoder: GruCell,
    readout: Option<Projection>,
    output: Projection,
}

/// The source as the decoder sees it, and the state of the decoder.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// `[S, 2C]`: one annotation for each source word.
    pub annotations: Array2<f32>,
    /// `[S, A]`: W_k of them, from which the scores are computed.
    pub keys: Array2<f32>,
    /// `[C]`: the decoder's state.
    pub hidden: Array1<f32>,
    /// The number of target tokens read so far.
    pub position: usize,
}

impl AttentiveSeq2Seq {
    /// The model with the parameters of a source, named as [`Config::shapes`] says.
    ///
    /// # Errors
    /// When a parameter is missing or has another shape.
    pub fn load(config: Config, source: &mut dyn Parameters) -> Result<Self> {
        let (e, c) = (config.embedding, config.width);
        let [source_vocabulary, v] = [config.source_vocabulary, config.target_vocabulary];
        let (name, inner) = ("decoder.attention", config.inner);
        Ok(Self {
            source_tokens: source.weight("encoder.embedding.weight", source_vocabulary, e)?,
            forwards: GruCell::load(source, "encoder.gru", "l0", e, c)?,
            backwards: GruCell::load(source, "encoder.gru", "l0_reverse", e, c)?,
            bridge: Projection::load(source, "bridge", c, c, true)?,
            target_tokens: source.weight("decoder.embedding.weight", v, e)?,
            attention: AdditiveAttention::load(source, name, c, 2 * c, inner)?,
            decoder: GruCell::load(source, "decoder.gru", "l0", e + 2 * c, c)?,
            readout: (config.readout)
                .map(|r| Projection::load(source, "decoder.readout", 3 * c + e, r, true))
                .transpose()?,
            output: Projection::load(source, "decoder.output", config.seen(), v, true)?,
            config,
        })
    }

    /// The sizes of the model.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Reads the source. The observer gets `encoder.embedding`, `encoder.forwards.steps.t.…`,
    /// `encoder.backwards.steps.t.…`, `encoder.annotations` and `bridge`.
    ///
    /// # Errors
    /// When there is no source token, or an id is outside the vocabulary.
    pub fn encode(&self, source: &[usize], mut trace: Option<&mut dyn Observer>) -> Result<State> {
        // source [S] -> annotations [S, 2C], hidden [C]
        if source.is_empty() {
            return Err(no_tokens("0"));
        }
        let trace = &mut trace;
        let mut x = self.source_tokens.rows(source)?;
        observe(trace, "encoder.embedding", &mut x);
        let zero = Array1::zeros(self.config.width);
        let prefix = || "encoder.forwards.".to_owned();
        let there = scope(trace, prefix, |trace| {
            self.forwards.forward(x.view(), zero.view(), false, trace)
        })?;
        let prefix = || "encoder.backwards.".to_owned();
        let back = scope(trace, prefix, |trace| {
            self.backwards.forward(x.view(), zero.view(), true, trace)
        })?;
        let mut annotations = concat(&[&there, &back])?;
        observe(trace, "encoder.annotations", &mut annotations);
        let first = self.bridge.forward(back.slice(s![..1, ..]))?;
        let mut hidden = first.row(0).mapv(math::tanh);
        observe(trace, "bridge", &mut hidden);
        let keys = self.attention.keys(annotations.view())?;
        Ok(State {
            annotations,
            keys,
            hidden,
            position: 0,
        })
    }

    /// Reads one target token; returns the logits of the next. The observer gets
    /// `decoder.steps.t.{embedding, attention.scores, attention.weights, attention.context, reset,
    /// update, candidate, state, logits}`.
    ///
    /// # Errors
    /// When the id is outside the vocabulary or the state is another model's.
    pub fn step(
        &self,
        state: &mut State,
        id: usize,
        mut trace: Option<&mut dyn Observer>,
    ) -> Result<Array1<f32>> {
        // id -> [V_t]
        let t = state.position;
        let prefix = || format!("decoder.steps.{t}.");
        let logits = scope(&mut trace, prefix, |trace| -> Result<_> {
            let mut x = self.target_tokens.rows(&[id])?;
            observe(trace, "embedding", &mut x);
            let (keys, annotations) = (state.keys.view(), state.annotations.view());
            let hidden = state.hidden.view();
            let found = (self.attention).attend(hidden, keys, annotations, trace)?;
            let context = found.context.insert_axis(Axis(0));
            let read = concat(&[&x, &context])?;
            state.hidden = self.decoder.next(read.row(0), hidden, trace)?;
            let hidden = state.hidden.clone().insert_axis(Axis(0));
            let mut seen = concat(&[&hidden, &context, &x])?;
            if let Some(readout) = &self.readout {
                seen = readout.forward(seen.view())?.mapv_into(math::tanh);
            }
            let mut logits = self.output.forward(seen.view())?;
            observe(trace, "logits", &mut logits);
            Ok(logits.row(0).to_owned())
        })?;
        state.position += 1;
        Ok(logits)
    }

    /// The logits after each of the target's tokens, all of them given (teacher forcing).
    ///
    /// # Errors
    /// When there is no source token, or an id is outside its vocabulary.
    pub fn forward(
        &self,
        source: &[usize],
        target: &[usize],
        mut trace: Option<&mut dyn Observer>,
    ) -> Result<Array2<f32>> {
        // source [S], target [T] -> [T, V_t]
        let mut state = self.encode(source, reborrow(&mut trace))?;
        let mut logits = Array2::zeros((target.len(), self.config.target_vocabulary));
        for (&id, mut row) in target.iter().zip(logits.rows_mut()) {
            row.assign(&self.step(&mut state, id, reborrow(&mut trace))?);
        }
        Ok(logits)
    }

    /// The annotations of all sources and the state that each decoder starts from.
    fn read<C: Compute>(&self, compute: &mut C, source: &Packed) -> Result<(C::Matrix, C::Matrix)> {
        // source ids [M] of B sources -> [M, 2C], [B, C]
        let lengths = &source.lengths;
        let x = compute.embed(&self.source_tokens, &source.ids)?;
        let x = compute.dropout(x);
        let zero = Array2::zeros((lengths.len(), self.config.width));
        let zero = compute.constant(zero.view());
        let there = self.forwards.run(compute, &x, lengths, &zero, false)?;
        let back = self.backwards.run(compute, &x, lengths, &zero, true)?;
        let annotations = compute.concat(&[&there, &back])?;
        let first: Vec<usize> = source.ranges().map(|rows| rows.start).collect();
        let first = compute.gather(&back, &first)?;
        let bridged = self.bridge.run(compute, &first)?;
        Ok((annotations, compute.tanh(bridged)))
    }
}

impl EncoderDecoder for AttentiveSeq2Seq {
    fn run<C: Compute>(
        &self,
        compute: &mut C,
        source: &Packed,
        target: &Packed,
    ) -> Result<C::Matrix> {
        // source ids [M], target ids [N] -> [N, V_t]
        let batch = source.lengths.len();
        expect("seq2seq", "targets", &[batch], &[target.lengths.len()])?;
        if source.lengths.contains(&0) {
            return Err(no_tokens("a source of padding alone"));
        }
        let (annotations, mut hidden) = self.read(compute, source)?;
        let keys = compute.linear(&annotations, &self.attention.key, None)?;
        let x = compute.embed(&self.target_tokens, &target.ids)?;
        let x = compute.dropout(x);
        let sources: Vec<_> = source.ranges().collect();
        let (mut states, mut contexts) = (Vec::new(), Vec::new());
        for step in Steps::new(&target.lengths, false) {
            if let Some(kept) = &step.kept {
                hidden = compute.gather(&hidden, kept)?;
            }
            let queries = compute.linear(&hidden, &self.attention.query, None)?;
            let seen: Vec<_> = step.sequences.iter().map(|&b| sources[b].clone()).collect();
            let score = &self.attention.score;
            let context =
                compute.additive_attention(&queries, score, &keys, &annotations, &seen)?;
            let input = compute.gather(&x, &step.rows)?;
            let read = compute.concat(&[&input, &context])?;
            hidden = self.decoder.next_batch(compute, &read, &hidden)?;
            states.push((hidden.clone(), step.rows.clone()));
            contexts.push((context, step.rows));
        }
        let (tokens, width) = (target.ids.len(), self.config.width);
        let states = compute.scatter(tokens, width, &states)?;
        let contexts = compute.scatter(tokens, 2 * width, &contexts)?;
        let joined = compute.concat(&[&states, &contexts, &x])?;
        let mut joined = compute.dropout(joined);
        if let Some(readout) = &self.readout {
            joined = readout.run(compute, &joined)?;
            joined = compute.tanh(joined);
        }
        self.output.run(compute, &joined)
    }
}

impl Trainable for AttentiveSeq2Seq {
    fn parameters(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        embedding_parameters(&mut self.source_tokens, "encoder", visit)?;
        embedding_parameters(&mut self.target_tokens, "decoder", visit)?;
        self.forwards.parameters("encoder.gru", "l0", visit)?;
        let backwards = &mut self.backwards;
        backwards.parameters("encoder.gru", "l0_reverse", visit)?;
        self.bridge.parameters("bridge", visit)?;
        self.attention.parameters("decoder.attention", visit)?;
        self.decoder.parameters("decoder.gru", "l0", visit)?;
        if let Some(readout) = &mut self.readout {
            readout.parameters("decoder.readout", visit)?;
        }
        self.output.parameters("decoder.output", visit)
    }
}

/// Matrices of the same number of rows, their columns one after the other.
fn concat(parts: &[&Array2<f32>]) -> Result<Array2<f32>> {
    Plain::silent().concat(parts)
}

/// The error for a source without tokens.
fn no_tokens(found: &str) -> EngineError {
    EngineError::value("encode", "source tokens", "at least 1", found)
}
