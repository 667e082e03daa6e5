//! One word of a translation whose alignment is learned from the correct word alone.
//!
//! ```text
//! α = softmax(e)      c = Σ_s α_s h_s      p = softmax(U c)      loss = −ln p_right
//! ∂loss/∂e_s = α_s ∂loss/∂c · (h_s − c)                          e [S], h [S, K], c [K], U [V, K], p [V]
//! ```
//! Here the scores e are parameters themselves, where a model computes them from its states: their
//! gradients do not depend on how they were computed. The correct source word is never given.
//!
//! ```
//! use engine::grad::OneWord;
//! use ndarray::array;
//! let annotations = array![[1.0, 0.0], [0.0, 1.0]];
//! let mut word = OneWord::new(array![0.0, 0.0], annotations.clone(), annotations, 1)?;
//! let before = word.evaluate()?;
//! assert!(before.by_scores[1] < 0.0); // More of the second annotation would make the right word likelier.
//! word.descend(&before, 1.0)?;
//! assert!(word.evaluate()?.weights[1] > 0.5);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Bahdanau, Cho and Bengio 2015, "Neural machine translation by jointly learning to align
//! and translate", section 3.1, equations 5 and 6 and the paragraph after them, where the gradient
//! of the cost goes through the alignment.

use super::gradients::{Settings, gradients};
use crate::error::Result;
use crate::nn::compute::Compute;
use crate::parameters::Weight;
use crate::shape::expect;
use crate::trainable::{self, Kind, Trainable, Visit};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};

/// Scores, annotations, the words that may come next, and the right one.
#[derive(Debug, Clone, PartialEq)]
pub struct OneWord {
    /// `[1, S]`.
    scores: Array2<f32>,
    /// `[1, K]`, zeros: added to the context, to have a gradient with respect to it.
    moved: Array2<f32>,
    /// `[S, K]`.
    annotations: Array2<f32>,
    /// `[V, K]`: a row for each word, whose product with the context is the word's logit.
    words: Weight,
    right: usize,
}

/// The values of one forward pass, and the gradients of the backward pass.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// `[S]`.
    pub scores: Array1<f32>,
    /// `[S]`: α.
    pub weights: Array1<f32>,
    /// `[K]`: c.
    pub context: Array1<f32>,
    /// `[V]`: p.
    pub probabilities: Array1<f32>,
    /// −ln p of the right word, in nats.
    pub loss: f32,
    /// `[K]`: ∂loss/∂c.
    pub by_context: Array1<f32>,
    /// `[S]`: ∂loss/∂e.
    pub by_scores: Array1<f32>,
}

impl OneWord {
    /// Initial scores `[S]`, annotations `[S, K]`, words `[V, K]`, of which `right` is the one that
    /// follows.
    ///
    /// # Errors
    /// When shapes do not fit. A `right` that is no word is refused by [`Self::evaluate`].
    pub fn new(
        scores: Array1<f32>,
        annotations: Array2<f32>,
        words: Array2<f32>,
        right: usize,
    ) -> Result<Self> {
        // scores [S], annotations [S, K], words [V, K]
        let (count, width) = annotations.dim();
        expect("one word", "scores", &[count], scores.shape())?;
        expect("one word", "words", &[words.nrows(), width], words.shape())?;
        Ok(Self {
            scores: scores.insert_axis(Axis(0)),
            moved: Array2::zeros((1, width)),
            annotations,
            words: Weight::Dense(words),
            right,
        })
    }

    /// One pass forwards and backwards on a tape. The bits are the same natively and in wasm.
    ///
    /// # Errors
    /// When the right word is not among the words, or there is none.
    pub fn evaluate(&mut self) -> Result<Seen> {
        let mut forwards = Vec::new();
        let (loss, found) = gradients(self, &Settings::same_bits(), |model, tape| {
            let scores = tape.lookup(&model.scores, &[0])?;
            let weights = tape.softmax(&scores);
            let annotations = tape.constant(model.annotations.view());
            let context = tape.product(&weights, &annotations)?;
            let moved = tape.lookup(&model.moved, &[0])?;
            let context = tape.add(context, &moved)?;
            let logits = tape.linear(&context, &model.words, None)?;
            let probabilities = tape.softmax(&logits);
            for row in [&scores, &weights, &context, &probabilities] {
                forwards.push(tape.value(row)?.row(0).to_owned());
            }
            tape.cross_entropy(&logits, &[Some(model.right)], 0.0)
        })?;
        let gradient = |name: &str| Array1::from(found.get(name).unwrap_or_default().to_vec());
        let mut forwards = forwards.into_iter();
        let mut next = || forwards.next().unwrap_or_default();
        Ok(Seen {
            scores: next(),
            weights: next(),
            context: next(),
            probabilities: next(),
            loss,
            by_context: gradient("moved"),
            by_scores: gradient("scores"),
        })
    }

    /// Moves the scores against their gradient, `rate` times as far: e ← e − rate · ∂loss/∂e.
    ///
    /// # Errors
    /// When the gradients are of another number of scores.
    pub fn descend(&mut self, seen: &Seen, rate: f32) -> Result<()> {
        let count = self.scores.ncols();
        expect("one word", "gradients", &[count], seen.by_scores.shape())?;
        self.scores.row_mut(0).scaled_add(-rate, &seen.by_scores);
        Ok(())
    }
}

impl Trainable for OneWord {
    fn parameters(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        trainable::array(&mut self.scores, "scores", Kind::Bias, visit)?;
        trainable::array(&mut self.moved, "moved", Kind::Bias, visit)
    }
}

/// ∂loss/∂c · (h_s − c) and, times α_s, ∂loss/∂e_s: the gradient by hand, from the derivative α_s
/// (1[s = r] − α_r) of softmax. The first is the change of the loss with a larger share of h_s in
/// the context, the second its change with the score.
///
/// # Errors
/// When shapes do not fit.
pub fn score_gradients(
    weights: ArrayView1<'_, f32>,
    annotations: ArrayView2<'_, f32>,
    by_context: ArrayView1<'_, f32>,
) -> Result<(Array1<f32>, Array1<f32>)> {
    // weights [S], annotations [S, K], by_context [K] -> [S], [S]
    let (count, width) = annotations.dim();
    expect("score gradients", "weights", &[count], weights.shape())?;
    expect("score gradients", "∂loss/∂c", &[width], by_context.shape())?;
    let context = weights.dot(&annotations);
    let pulls = (&annotations - &context).dot(&by_context);
    let gradients = &pulls * &weights;
    Ok((pulls, gradients))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn word() -> OneWord {
        let annotations = array![[0.3, -0.2], [1.0, 0.4], [-0.5, 0.9], [0.1, 0.1]];
        let words = array![[1.5, -0.5], [0.2, 1.0], [-1.0, 0.3]];
        OneWord::new(array![0.5, -0.3, 1.1, 0.0], annotations, words, 1).unwrap()
    }

    #[test]
    fn the_tape_finds_what_the_formula_says_and_differences_agree() {
        let mut word = word();
        let seen = word.evaluate().unwrap();
        let (_, by_hand) = score_gradients(
            seen.weights.view(),
            word.annotations.view(),
            seen.by_context.view(),
        )
        .unwrap();
        for (s, (tape, hand)) in seen.by_scores.iter().zip(&by_hand).enumerate() {
            assert!((tape - hand).abs() < 1e-6, "{tape} {hand}");
            let h = 1.0 / 64.0;
            let moved = |by: f32| {
                let mut other = word.clone();
                other.scores[[0, s]] += by;
                other.evaluate().unwrap().loss
            };
            let slope = (moved(h) - moved(-h)) / (2.0 * h);
            assert!((tape - slope).abs() < 1e-4, "{tape} {slope}");
        }
        assert!((seen.by_scores.sum()).abs() < 1e-6);
    }

    #[test]
    fn going_down_finds_the_annotation_that_helps() {
        let mut word = word();
        let first = word.evaluate().unwrap();
        let mut loss = first.loss;
        for _ in 0..40 {
            let seen = word.evaluate().unwrap();
            assert!(seen.loss <= loss + 1e-6);
            loss = seen.loss;
            word.descend(&seen, 1.0).unwrap();
        }
        let last = word.evaluate().unwrap();
        assert!(last.loss < first.loss - 0.1);
        assert!(last.weights[2] > 0.6, "{}", last.weights);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let (h, u) = (array![[1.0, 0.0]], array![[1.0, 0.0], [0.0, 1.0]]);
        assert!(OneWord::new(array![0.0, 0.0], h.clone(), u.clone(), 0).is_err());
        assert!(OneWord::new(array![0.0], h.clone(), array![[1.0]], 0).is_err());
        let mut none = OneWord::new(array![0.0], h.clone(), u, 2).unwrap();
        assert!(none.evaluate().is_err());
        let one = array![1.0];
        assert!(score_gradients(one.view(), h.view(), one.view()).is_err());
    }
}
