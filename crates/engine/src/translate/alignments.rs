//! Alignments of a translation with its source: the weights of additive attention, from token to
//! token and from word to word.
//!
//! ```text
//! token t of the target, the end among them:  α_t = softmax over the source of the scores for s_{t−1}       [T, S]
//! word to word:  A_ij = mean over the tokens t of word i of Σ over the tokens s of word j of α_ts           [I, J]
//! ```
//! A row of α sums to 1; the weights of a source word's tokens are added. A target word of several
//! tokens has the mean of their rows, so a row of A sums to 1 too.
//!
//! Source: Bahdanau, Cho and Bengio 2015, section 5.2.1 and figure 3; for words of several tokens
//! Clark et al. 2019, "What does BERT look at?", section 4.1.

use super::{LONGEST, Translator};
use crate::error::{EngineError, Result};
use crate::model::seq2seq_attention::AttentiveSeq2Seq;
use crate::sample::greedy;
use crate::shape::{expect, matrix};
use crate::token::tokenizer::Tokenizer;
use crate::trace::Recorder;
use ndarray::{Array2, ArrayView1, ArrayView2, s};
use std::ops::Range;

/// A translation, and the attention weights of each of its tokens.
#[derive(Debug, Clone, PartialEq)]
pub struct Alignments {
    /// `[T]`: the translation, the token for the end included where it was reached.
    pub target: Vec<usize>,
    /// `[T, S]`: row t has the weights of the step that wrote token t.
    pub weights: Array2<f32>,
}

/// As [`Translator::greedy`], with the weights of every step.
///
/// # Errors
/// When the source has no token or an id outside the vocabulary.
pub fn aligned(translator: &Translator<AttentiveSeq2Seq>, source: &[usize]) -> Result<Alignments> {
    // source [S] -> [T], [T, S]
    let model = &translator.model;
    let mut state = model.encode(source, None)?;
    let (mut target, mut weights, mut last) = (Vec::new(), Vec::new(), translator.end());
    while target.len() < LONGEST {
        let mut seen = Recorder::default();
        let name = format!("decoder.steps.{}.attention.weights", state.position);
        let logits = model.step(&mut state, last, Some(&mut seen))?;
        last = greedy(logits.view())?;
        target.push(last);
        weights.extend(seen.get(&name).into_iter().flatten());
        if last == translator.end() {
            break;
        }
    }
    let weights = matrix("alignments", target.len(), source.len(), weights)?;
    Ok(Alignments { target, weights })
}

/// The words that tokens make up, as ranges: a token that begins with a space begins a word, and
/// the special ones are words of their own. Vocabularies of [`Translator`] write every word with
/// the space before it.
///
/// # Errors
/// When there is no token of one of these ids.
pub fn words<M>(translator: &Translator<M>, ids: &[usize]) -> Result<Vec<Range<usize>>> {
    let mut starts = Vec::new();
    for (n, &id) in ids.iter().enumerate() {
        let begins = n == 0
            || id == translator.end()
            || translator.tokenizer().decode(&[id])?.starts_with(' ');
        if begins {
            starts.push(n);
        }
    }
    let ends = starts.iter().copied().skip(1).chain([ids.len()]);
    Ok(starts
        .iter()
        .copied()
        .zip(ends)
        .map(|(a, b)| a..b)
        .collect())
}

/// Weights from word to word: columns of a word are added, rows of a word averaged.
///
/// # Errors
/// When a range goes beyond the weights, or a target word has no token.
pub fn by_words(
    weights: ArrayView2<'_, f32>,
    target: &[Range<usize>],
    source: &[Range<usize>],
) -> Result<Array2<f32>> {
    // weights [T, S], target [I], source [J] -> [I, J]
    let end = |words: &[Range<usize>]| words.iter().map(|word| word.end).max().unwrap_or(0);
    let needed = [
        end(target).max(weights.nrows()),
        end(source).max(weights.ncols()),
    ];
    expect("by_words", "weights", &needed, weights.shape())?;
    let mut out = Array2::zeros((target.len(), source.len()));
    for (i, rows) in target.iter().enumerate() {
        if rows.is_empty() {
            let (expected, found) = ("of at least 1 token", format!("{rows:?}"));
            return Err(EngineError::value("by_words", "word", expected, found));
        }
        for (j, columns) in source.iter().enumerate() {
            let part = weights.slice(s![rows.clone(), columns.clone()]);
            out[[i, j]] = part.sum() / rows.len() as f32;
        }
    }
    Ok(out)
}

/// The column with the largest weight of each row, of equal ones the first.
pub fn heaviest(weights: ArrayView2<'_, f32>) -> Vec<usize> {
    // weights [I, J] -> [I]
    let first = |row: ArrayView1<'_, f32>| {
        let better = |best: (usize, f32), (j, &weight): (usize, &f32)| {
            if weight > best.1 { (j, weight) } else { best }
        };
        row.iter()
            .enumerate()
            .fold((0, f32::NEG_INFINITY), better)
            .0
    };
    weights.rows().into_iter().map(first).collect()
}

/// The number of pairs of lines that cross when each target word is joined to one source word: 0
/// where both sentences have one order.
pub fn crossings(joined: &[usize]) -> usize {
    let later = |i: usize| joined.iter().skip(i + 1);
    let crossed = |(i, &j): (usize, &usize)| later(i).filter(|&&other| other < j).count();
    joined.iter().enumerate().map(crossed).sum()
}
