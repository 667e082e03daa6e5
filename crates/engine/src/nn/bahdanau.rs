//! Additive attention, the first attention: a small network scores each source word for the state
//! of the decoder.
//!
//! ```text
//! e_s = v · tanh(W_q h + W_k a_s)          h [C], a [S, K], W_q [A, C], W_k [A, K], v [A] -> [S]
//! w = softmax(e)                                                                          -> [S]
//! context = Σ_s w_s a_s                                                                   -> [K]
//! ```
//!
//! ```
//! use engine::nn::bahdanau::AdditiveAttention;
//! use engine::{formula::Formula, rng::normal_matrix};
//! let mut source = Formula::new(1, AdditiveAttention::shapes("attention", 3, 4, 5));
//! let attention = AdditiveAttention::load(&mut source, "attention", 3, 4, 5)?;
//! let annotations = normal_matrix(7, "a", 6, 4, 1.0);
//! let keys = attention.keys(annotations.view())?;
//! let state = ndarray::array![0.1, 0.2, 0.3];
//! let found = attention.attend(state.view(), keys.view(), annotations.view(), &mut None)?;
//! assert!((found.weights.sum() - 1.0).abs() < 1e-6);
//! assert_eq!(found.context.len(), 4);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Bahdanau, Cho and Bengio 2015, "Neural machine translation by jointly learning to align
//! and translate", section 3.1, equations 5 and 6, and appendix A.1.2.

use super::softmax::softmax;
use crate::error::Result;
use crate::math;
use crate::parameters::{Parameters, Weight, vector};
use crate::shape::{expect, mismatch};
use crate::trace::{Observer, observe};
use crate::trainable::{self, Kind, Visit};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};
use std::ops::Range;

/// The parameters of the scoring network.
#[derive(Debug, Clone, PartialEq)]
pub struct AdditiveAttention {
    /// `[A, C]`: for the decoder's state, the query.
    pub query: Weight,
    /// `[A, K]`: for the annotations, the keys.
    pub key: Weight,
    /// `[A]`: from the network's inner activations to one score.
    pub score: Array1<f32>,
}

/// The result of one query.
#[derive(Debug, Clone, PartialEq)]
pub struct Alignment {
    /// `[S]`.
    pub scores: Array1<f32>,
    /// `[S]`: the share of each annotation in the context.
    pub weights: Array1<f32>,
    /// `[K]`: the weighted sum of the annotations.
    pub context: Array1<f32>,
}

impl AdditiveAttention {
    /// `NAME.query.weight`, `NAME.key.weight` and `NAME.score.weight` (`[1, A]`), three linear
    /// layers without bias.
    ///
    /// # Errors
    /// When the source has no such parameters in these shapes.
    pub fn load(
        source: &mut dyn Parameters,
        name: &str,
        width: usize,
        key_width: usize,
        inner: usize,
    ) -> Result<Self> {
        let score = format!("{name}.score.weight");
        // A row is a vector; some sources keep the 1 in front.
        let score = match source.shape(&score) {
            Some(shape) if shape == [inner] => vector(source, &score, inner)?,
            _ => {
                let row = source.weight(&score, 1, inner)?.rows(&[0])?;
                row.row(0).to_owned()
            }
        };
        Ok(Self {
            query: source.weight(&format!("{name}.query.weight"), inner, width)?,
            key: source.weight(&format!("{name}.key.weight"), inner, key_width)?,
            score,
        })
    }

    /// The names that [`Self::load`] asks for, with their shapes.
    pub fn shapes(
        name: &str,
        width: usize,
        key_width: usize,
        inner: usize,
    ) -> Vec<(String, Vec<usize>)> {
        vec![
            (format!("{name}.query.weight"), vec![inner, width]),
            (format!("{name}.key.weight"), vec![inner, key_width]),
            (format!("{name}.score.weight"), vec![1, inner]),
        ]
    }

    /// W_k a of all annotations, computed once for all queries.
    ///
    /// # Errors
    /// When the annotations have another width.
    pub fn keys(&self, annotations: ArrayView2<'_, f32>) -> Result<Array2<f32>> {
        // annotations [S, K] -> [S, A]
        self.key.linear(annotations, None)
    }

    /// tanh(W_q h + W_k a_s) for each annotation, `[S, A]`: the inner activations of the network.
    /// Their sum weighted by v is the score.
    ///
    /// # Errors
    /// When the state or the keys have other shapes.
    pub fn inner(
        &self,
        state: ArrayView1<'_, f32>,
        keys: ArrayView2<'_, f32>,
    ) -> Result<Array2<f32>> {
        // state [C], keys [S, A] -> [S, A]
        let query = self.query.linear(state.insert_axis(Axis(0)), None)?;
        let shape = [keys.nrows(), query.ncols()];
        expect("additive attention", "keys", &shape, keys.shape())?;
        Ok(inner(query.row(0), keys))
    }

    /// One query. The observer gets `attention.scores`, `attention.weights` and
    /// `attention.context`.
    ///
    /// # Errors
    /// When the state, the keys or the annotations have other shapes.
    pub fn attend(
        &self,
        state: ArrayView1<'_, f32>,
        keys: ArrayView2<'_, f32>,
        annotations: ArrayView2<'_, f32>,
        trace: &mut Option<&mut dyn Observer>,
    ) -> Result<Alignment> {
        // state [C], keys [S, A], annotations [S, K] -> context [K]
        let query = self.query.linear(state.insert_axis(Axis(0)), None)?;
        let dims = [query.dim(), keys.dim(), annotations.dim()];
        let all = 0..annotations.nrows();
        check(dims, self.score.len(), &[all])?;
        let (query, score) = (query.row(0), self.score.view());
        Ok(additive_attention(query, score, keys, annotations, trace))
    }

    /// Visits the parameters under the names that [`Self::load`] asks for.
    ///
    /// # Errors
    /// When `visit` fails.
    pub fn parameters(&mut self, name: &str, visit: &mut Visit<'_>) -> Result<()> {
        let query = format!("{name}.query.weight");
        trainable::weight(&mut self.query, &query, Kind::Matrix, visit)?;
        let key = format!("{name}.key.weight");
        trainable::weight(&mut self.key, &key, Kind::Matrix, visit)?;
        let shape = [1, self.score.len()];
        let score = format!("{name}.score.weight");
        trainable::array_as(&mut self.score, &score, &shape, Kind::Matrix, visit)
    }
}

/// Refuses queries, keys and annotations that do not fit each other.
pub(crate) fn check(
    [queries, keys, annotations]: [(usize, usize); 3],
    score: usize,
    seen: &[Range<usize>],
) -> Result<()> {
    // queries [R, A], score [A], keys [N, A], annotations [N, K], seen [R]
    let operation = "additive attention";
    if keys.0 != annotations.0 {
        let expected = "keys [S, A] and annotations [S, K]";
        let (keys, annotations) = ([keys.0, keys.1], [annotations.0, annotations.1]);
        return Err(mismatch(operation, expected, &keys, &annotations));
    }
    expect(operation, "keys", &[keys.0, queries.1], &[keys.0, keys.1])?;
    expect(operation, "score", &[queries.1], &[score])?;
    expect(operation, "queries", &[seen.len()], &[queries.0])?;
    match seen.iter().find(|rows| rows.end > keys.0) {
        Some(rows) => expect(operation, "keys up to", &[rows.end], &[keys.0]),
        None => Ok(()),
    }
}

/// tanh(query + key) of each key.
fn inner(query: ArrayView1<'_, f32>, keys: ArrayView2<'_, f32>) -> Array2<f32> {
    (&keys + &query).mapv(math::tanh)
}

/// One query, W_q h, to some annotations. The observer gets `attention.scores`,
/// `attention.weights` and `attention.context`.
pub(super) fn additive_attention(
    query: ArrayView1<'_, f32>,
    score: ArrayView1<'_, f32>,
    keys: ArrayView2<'_, f32>,
    annotations: ArrayView2<'_, f32>,
    trace: &mut Option<&mut dyn Observer>,
) -> Alignment {
    // query [A], score [A], keys [S, A], annotations [S, K] -> context [K]
    let mut scores = inner(query, keys).dot(&score);
    observe(trace, "attention.scores", &mut scores);
    let mut weights = softmax(scores.view());
    observe(trace, "attention.weights", &mut weights);
    let mut context = weights.dot(&annotations);
    observe(trace, "attention.context", &mut context);
    Alignment {
        scores,
        weights,
        context,
    }
}
