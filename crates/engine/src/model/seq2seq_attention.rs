//! Sequence to sequence with attention: at each step the decoder looks at all of the source again.
//!
//! ```text
//! a_s = [→h_s; ←h_s]                              a GRU in each direction over E_s[source]        [S, 2C]
//! s_0 = tanh(W_b ←h_1 + b_b)                                                                      [C]
//! w_t, c_t = additive attention of s_{t−1} over a                                                 [S], [2C]
//! s_t = GRU([E_t[y_t]; c_t], s_{t−1})                                                             [C]
//! logits_t = W_o [s_t; c_t; E_t[y_t]] + b_o                                                       [V_t]
//! ```
//! The paper's output has a layer with maxout between (appendix A.2.2); here the same three vectors go straight to the logits.
//!
//! ```
//! use engine::model::seq2seq_attention::{AttentiveSeq2Seq, Config};
//! use engine::{formula::Formula, trace::Recorder};
//! let config = Config { source_vocabulary: 9, target_vocabulary: 7, embedding: 4, width: 6, inner: 5 };
//! let model = AttentiveSeq2Seq::load(config, &mut Formula::new(1, config.shapes()))?;
//! let mut seen = Recorder::default();
//! let logits = model.forward(&[3, 1, 4], &[0, 5], Some(&mut seen))?;
//! assert_eq!(logits.dim(), (2, 7));
//! assert_eq!(seen.get("decoder.steps.1.attention.weights").map(|w| w.len()), Some(3));
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Bahdanau, Cho and Bengio 2015, "Neural machine translation by jointly learning to align and translate", section 3 and
//! appendix A.

use crate::error::{EngineError, Result};
use crate::math;
use crate::nn::bahdanau::AdditiveAttention;
use crate::nn::gru::GruCell;
use crate::nn::packed::Packed;
use crate::nn::projection::Projection;
use crate::nn::shape::expect;
use crate::parameters::{Parameters, Weight};
use crate::trace::{Observer, tell, within};
use ndarray::{Array1, Array2, Array3, ArrayView2, Axis, concatenate, s};

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
    /// A, the inner width of the network that scores.
    pub inner: usize,
}

impl Config {
    /// The names of all parameters with their shapes.
    pub fn shapes(&self) -> Vec<(String, Vec<usize>)> {
        let Self {
            embedding: e,
            width: c,
            target_vocabulary: v,
            ..
        } = *self;
        let mut all = vec![
            (
                "encoder.embedding.weight".to_owned(),
                vec![self.source_vocabulary, e],
            ),
            ("bridge.weight".to_owned(), vec![c, c]),
            ("bridge.bias".to_owned(), vec![c]),
            ("decoder.embedding.weight".to_owned(), vec![v, e]),
            ("decoder.output.weight".to_owned(), vec![v, 3 * c + e]),
            ("decoder.output.bias".to_owned(), vec![v]),
        ];
        all.extend(GruCell::shapes("encoder.gru", "l0", e, c));
        all.extend(GruCell::shapes("encoder.gru", "l0_reverse", e, c));
        all.extend(AdditiveAttention::shapes(
            "decoder.attention",
            c,
            2 * c,
            self.inner,
        ));
        all.extend(GruCell::shapes("decoder.gru", "l0", e + 2 * c, c));
        all
    }
}

/// The model: a token table for each side, the two directions of the encoder, attention, the decoder and the output.
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
    output: Projection,
}

/// The source as the decoder sees it, and where the decoder stands.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// `[S, 2C]`: one annotation for each source word.
    pub annotations: Array2<f32>,
    /// `[S, A]`: what of them the scores need.
    pub keys: Array2<f32>,
    /// `[C]`: the decoder's state.
    pub hidden: Array1<f32>,
    /// How many target tokens were read.
    pub position: usize,
}

impl AttentiveSeq2Seq {
    /// The model with the parameters of a source, named as [`Config::shapes`] says.
    ///
    /// # Errors
    /// When a parameter is missing or has another shape.
    pub fn load(config: Config, source: &mut dyn Parameters) -> Result<Self> {
        let Config {
            embedding: e,
            width: c,
            target_vocabulary: v,
            ..
        } = config;
        Ok(Self {
            source_tokens: source.weight(
                "encoder.embedding.weight",
                config.source_vocabulary,
                e,
            )?,
            forwards: GruCell::load(source, "encoder.gru", "l0", e, c)?,
            backwards: GruCell::load(source, "encoder.gru", "l0_reverse", e, c)?,
            bridge: Projection::load(source, "bridge", c, c, true)?,
            target_tokens: source.weight("decoder.embedding.weight", v, e)?,
            attention: AdditiveAttention::load(
                source,
                "decoder.attention",
                c,
                2 * c,
                config.inner,
            )?,
            decoder: GruCell::load(source, "decoder.gru", "l0", e + 2 * c, c)?,
            output: Projection::load(source, "decoder.output", 3 * c + e, v, true)?,
            config,
        })
    }

    /// Its sizes.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Reads the source. The observer gets `encoder.embedding`, `encoder.forwards.steps.t.…`, `encoder.backwards.steps.t.…`,
    /// `encoder.annotations` and `bridge`.
    ///
    /// # Errors
    /// When there is no source token, or an id is outside the vocabulary.
    pub fn encode(&self, source: &[usize], trace: Option<&mut dyn Observer>) -> Result<State> {
        // source [S] -> annotations [S, 2C], hidden [C]
        let mut trace = trace;
        if source.is_empty() {
            return Err(EngineError::value(
                "encode",
                "source tokens",
                "at least 1",
                0,
            ));
        }
        let trace = &mut trace;
        let mut x = self.source_tokens.rows(source)?;
        tell(trace, "encoder.embedding", &mut x);
        let zero = Array1::zeros(self.config.width);
        let there = within(
            trace,
            || "encoder.forwards.".to_owned(),
            |trace| self.forwards.forward(x.view(), zero.view(), false, trace),
        )?;
        let back = within(
            trace,
            || "encoder.backwards.".to_owned(),
            |trace| self.backwards.forward(x.view(), zero.view(), true, trace),
        )?;
        let mut annotations = side_by_side(&[&there, &back])?;
        tell(trace, "encoder.annotations", &mut annotations);
        let mut hidden = self
            .bridge
            .forward(back.slice(s![..1, ..]))?
            .row(0)
            .mapv(math::tanh);
        tell(trace, "bridge", &mut hidden);
        let keys = self.attention.keys(annotations.view())?;
        Ok(State {
            annotations,
            keys,
            hidden,
            position: 0,
        })
    }

    /// Reads one target token; gives the logits of the next. The observer gets `decoder.steps.t.{embedding, attention.scores,
    /// attention.weights, attention.context, reset, update, candidate, state, logits}`.
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
        let mut trace = trace;
        let t = state.position;
        let logits = within(
            &mut trace,
            || format!("decoder.steps.{t}."),
            |trace| {
                let mut x = self.target_tokens.rows(&[id])?;
                tell(trace, "embedding", &mut x);
                let (keys, annotations) = (state.keys.view(), state.annotations.view());
                let found = self
                    .attention
                    .attend(state.hidden.view(), keys, annotations, trace)?;
                let context = found.context.insert_axis(Axis(0));
                let read = side_by_side(&[&x, &context])?;
                state.hidden = self.decoder.next(read.row(0), state.hidden.view(), trace)?;
                let hidden = state.hidden.clone().insert_axis(Axis(0));
                let mut logits = self
                    .output
                    .forward(side_by_side(&[&hidden, &context, &x])?.view())?;
                tell(trace, "logits", &mut logits);
                Ok(logits.row(0).to_owned())
            },
        )?;
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
        trace: Option<&mut dyn Observer>,
    ) -> Result<Array2<f32>> {
        // source [S], target [T] -> [T, V_t]
        let mut trace = trace;
        let mut state = match &mut trace {
            Some(observer) => self.encode(source, Some(&mut **observer))?,
            None => self.encode(source, None)?,
        };
        let mut logits = Array2::zeros((target.len(), self.config.target_vocabulary));
        for (&id, mut row) in target.iter().zip(logits.rows_mut()) {
            let step = match &mut trace {
                Some(observer) => self.step(&mut state, id, Some(&mut **observer))?,
                None => self.step(&mut state, id, None)?,
            };
            row.assign(&step);
        }
        Ok(logits)
    }

    /// As [`Self::forward`] for several pairs, padded to one length; the masks are true where a token stands. Logits of padding
    /// are 0.
    ///
    /// # Errors
    /// As [`Self::forward`], and when a mask has another shape than its ids, there are more of one side than of the other, or a
    /// source has no token.
    pub fn forward_batch(
        &self,
        source: ArrayView2<'_, usize>,
        source_mask: ArrayView2<'_, bool>,
        target: ArrayView2<'_, usize>,
        target_mask: ArrayView2<'_, bool>,
    ) -> Result<Array3<f32>> {
        // source [B, S], target [B, T] -> [B, T, V_t]
        let (source, target) = (
            Packed::new(source, source_mask)?,
            Packed::new(target, target_mask)?,
        );
        let (lengths, batch) = (&source.lengths, source.lengths.len());
        expect("seq2seq", "targets", &[batch], &[target.lengths.len()])?;
        if lengths.contains(&0) {
            let found = "a source of padding alone";
            return Err(EngineError::value(
                "encode",
                "source tokens",
                "at least 1",
                found,
            ));
        }
        let x = self.source_tokens.rows(&source.ids)?;
        let zero = Array2::zeros((batch, self.config.width));
        let there = self
            .forwards
            .forward_batch(x.view(), lengths, zero.view(), false)?;
        let back = self
            .backwards
            .forward_batch(x.view(), lengths, zero.view(), true)?;
        let annotations = side_by_side(&[&there, &back])?;
        let keys = self.attention.keys(annotations.view())?;
        let first: Vec<usize> = source.ranges().map(|rows| rows.start).collect();
        let mut hidden = self.bridge.forward(back.select(Axis(0), &first).view())?;
        hidden.mapv_inplace(math::tanh);

        let x = self.target_tokens.rows(&target.ids)?;
        let (tokens, width) = (target.ids.len(), self.config.width);
        let mut states = Array2::zeros((tokens, width));
        let mut contexts = Array2::zeros((tokens, 2 * width));
        for t in 0..target.lengths.iter().copied().max().unwrap_or(0) {
            let reading = target
                .ranges()
                .enumerate()
                .filter(|(_, rows)| t < rows.len());
            let (sequences, rows): (Vec<_>, Vec<_>) =
                reading.map(|(b, rows)| (b, rows.start + t)).unzip();
            for (&b, &row) in sequences.iter().zip(&rows) {
                let seen = source.ranges().nth(b).unwrap_or(0..0);
                let (keys, seen) = (
                    keys.slice(s![seen.clone(), ..]),
                    annotations.slice(s![seen, ..]),
                );
                let found = self
                    .attention
                    .attend(hidden.row(b), keys, seen, &mut None)?;
                contexts.row_mut(row).assign(&found.context);
            }
            let select = |from: &Array2<f32>, at: &[usize]| from.select(Axis(0), at);
            let read = side_by_side(&[&select(&x, &rows), &select(&contexts, &rows)])?;
            let next = self
                .decoder
                .next_batch(read.view(), select(&hidden, &sequences).view())?;
            for ((b, row), next) in sequences.into_iter().zip(rows).zip(next.outer_iter()) {
                hidden.row_mut(b).assign(&next);
                states.row_mut(row).assign(&next);
            }
        }
        let logits = self
            .output
            .forward(side_by_side(&[&states, &contexts, &x])?.view())?;
        target.unpack(logits.view())
    }
}

/// Matrices of the same number of rows, their columns one after the other.
fn side_by_side(parts: &[&Array2<f32>]) -> Result<Array2<f32>> {
    let views: Vec<_> = parts.iter().map(|part| part.view()).collect();
    let shapes = || {
        parts
            .iter()
            .map(|part| format!("{:?}", part.shape()))
            .collect::<Vec<_>>()
    };
    concatenate(Axis(1), &views)
        .map_err(|_| EngineError::shape("seq2seq", "the same rows", shapes().join(" and ")))
}
