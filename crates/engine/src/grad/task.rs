//! Tasks with answers that a reader can check: copy, reverse, sort, small enough to be learned
//! within a minute, and the continuation of a text.
//!
//! ```text
//! source: L symbols, drawn evenly from 0 … n − 1         answer: the same, reversed, or in order
//! target: start, answer_1 … answer_{L−1}                 to be predicted: answer_1 … answer_L
//! ```
//! A pair is held out if the hash of its source says so (one in eight), so no held-out source is
//! ever trained on, however long training continues. Of a text ([`Task::Text`]) sources are
//! passages of L characters and answers the L characters after them; the end of the text is held
//! out. Pairs of one batch may have different lengths. Any [`EncoderDecoder`] can learn them.
//!
//! ```
//! use engine::grad::{Pairs, Task};
//! use engine::rng::Rng;
//! let task = Task::Reverse { symbols: 10, length: 16 };
//! let pairs = Pairs::draw(&task, &mut Rng::new(1), 4, false)?;
//! assert_eq!(pairs.source.lengths, [16; 4]);
//! assert_eq!(pairs.answers[0], Some(pairs.source.ids[15]));
//! assert_eq!(pairs.target.ids[0], task.start());
//! # Ok::<(), engine::EngineError>(())
//! ```

use super::passages::Corpus;
use super::tape::{Tape, Var};
use crate::error::{EngineError, Result};
use crate::model::encoder_decoder::EncoderDecoder;
use crate::nn::packed::Packed;
use crate::nn::plain::Plain;
use crate::rng::{Rng, mix};
use ndarray::{ArrayView1, ArrayView2};
use std::sync::Arc;

/// A task on sequences of `length` symbols out of `symbols`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Task {
    /// The sequence itself.
    Copy {
        /// n.
        symbols: usize,
        /// L.
        length: usize,
    },
    /// The sequence from its end.
    Reverse {
        /// n.
        symbols: usize,
        /// L.
        length: usize,
    },
    /// The sequence from the smallest symbol to the largest.
    Sort {
        /// n.
        symbols: usize,
        /// L.
        length: usize,
    },
    /// The continuation of a text.
    Text {
        /// The text.
        text: Arc<Corpus>,
        /// L.
        length: usize,
    },
}

/// One in so many sources is held out.
const HELD_OUT: u64 = 8;

impl Task {
    /// n and L.
    pub fn sizes(&self) -> (usize, usize) {
        match self {
            Self::Copy { symbols, length }
            | Self::Reverse { symbols, length }
            | Self::Sort { symbols, length } => (*symbols, *length),
            Self::Text { text, length } => (text.characters().len(), *length),
        }
    }

    /// The id that starts a target, after all symbols.
    pub fn start(&self) -> usize {
        self.sizes().0
    }

    /// V: the symbols and the start.
    pub fn vocabulary(&self) -> usize {
        self.sizes().0 + 1
    }

    /// A source of this length with its answer, for training or held out.
    fn pair(&self, rng: &mut Rng, length: usize, held: bool) -> (Vec<usize>, Vec<usize>) {
        if let Self::Text { text, .. } = self {
            let passages = text.part(length, held);
            let begin = rng.below(passages.len() + 1 - 2 * length);
            let (source, answer) = passages[begin..begin + 2 * length].split_at(length);
            return (source.to_vec(), answer.to_vec());
        }
        loop {
            let source: Vec<usize> = (0..length).map(|_| rng.below(self.sizes().0)).collect();
            if held_out(&source) == held {
                let mut answer = source.clone();
                match self {
                    Self::Reverse { .. } => answer.reverse(),
                    Self::Sort { .. } => answer.sort_unstable(),
                    Self::Copy { .. } | Self::Text { .. } => {}
                }
                return (source, answer);
            }
        }
    }

    /// Refuses a length of which there is not enough to draw.
    fn check(&self, length: usize) -> Result<()> {
        let (symbols, _) = self.sizes();
        let refuse = |expected: String, found: String| {
            Err(EngineError::value("task", "sizes", expected, found))
        };
        match self {
            Self::Text { text, .. } if text.len() < Corpus::fewest(length) => {
                let expected = format!("a text of at least {} characters", Corpus::fewest(length));
                refuse(expected, text.len().to_string())
            }
            Self::Text { .. } => Ok(()),
            _ => {
                let power = u32::try_from(length).unwrap_or(u32::MAX);
                let all = symbols.checked_pow(power);
                if all.is_none_or(|all| all >= Pairs::FEWEST) {
                    return Ok(());
                }
                let expected = format!("at least {} different sequences", Pairs::FEWEST);
                refuse(expected, format!("{length} symbols of {symbols} kinds"))
            }
        }
    }
}

/// True when a source is held out from training.
fn held_out(source: &[usize]) -> bool {
    let hash = source
        .iter()
        .fold(0, |hash, &id| mix(hash ^ (id as u64 + 1)));
    hash.is_multiple_of(HELD_OUT)
}

/// The first id with the largest logit; 0 where a model that diverged has none.
fn most_likely(logits: ArrayView1<'_, f32>) -> usize {
    let larger = |best: usize, id: usize| if logits[id] > logits[best] { id } else { best };
    (0..logits.len()).fold(0, larger)
}

/// Pairs of source and answer, one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pairs {
    /// The sources.
    pub source: Packed,
    /// The answers so far, at each position (teacher forcing).
    pub target: Packed,
    /// The next symbol, at each position of the target.
    pub answers: Vec<Option<usize>>,
}

impl Pairs {
    /// The least number of different sequences of a length, enough for both kinds.
    pub const FEWEST: usize = 256;

    /// `count` pairs of the task's length, from those for training or from those that are held out.
    ///
    /// # Errors
    /// As [`Self::draw_lengths`].
    pub fn draw(task: &Task, rng: &mut Rng, count: usize, held: bool) -> Result<Self> {
        Self::draw_lengths(task, rng, &vec![task.sizes().1; count], held)
    }

    /// A pair of each of these lengths, whatever the task's, from those for training or from those
    /// that are held out.
    ///
    /// # Errors
    /// When there are fewer than [`Self::FEWEST`] sequences of one of the lengths, and so perhaps
    /// none of that kind; or when a text is shorter than [`Corpus::fewest`].
    pub fn draw_lengths(task: &Task, rng: &mut Rng, lengths: &[usize], held: bool) -> Result<Self> {
        let (mut sources, mut targets, mut answers) = (Vec::new(), Vec::new(), Vec::new());
        for &length in lengths {
            task.check(length)?;
            let (source, answer) = task.pair(rng, length, held);
            targets.push(task.start());
            targets.extend(&answer[..length.saturating_sub(1)]);
            answers.extend(answer.into_iter().map(Some));
            sources.extend(source);
        }
        Ok(Self {
            source: Packed::many(sources, lengths.to_vec())?,
            target: Packed::many(targets, lengths.to_vec())?,
            answers,
        })
    }

    /// The mean cross-entropy of a model's answers.
    ///
    /// # Errors
    /// When the model has a smaller vocabulary.
    pub fn loss(
        &self,
        model: &impl EncoderDecoder,
        tape: &mut Tape,
        smoothing: f32,
    ) -> Result<Var> {
        let logits = model.run(tape, &self.source, &self.target)?;
        tape.cross_entropy(&logits, &self.answers, smoothing)
    }

    /// The answers of a free-running model: at each step the most likely symbol after those that it
    /// wrote, until the answer has its length. Later positions are not in its input, so a model
    /// without a mask has nothing to look ahead at.
    ///
    /// # Errors
    /// When the model has a smaller vocabulary.
    pub fn written(&self, model: &impl EncoderDecoder) -> Result<Vec<Vec<usize>>> {
        let start = |rows: std::ops::Range<usize>| vec![self.target.ids[rows.start]];
        let mut targets: Vec<Vec<usize>> = self.target.ranges().map(start).collect();
        let longest = self.target.lengths.iter().copied().max().unwrap_or(0);
        for _ in 0..longest {
            let lengths = targets.iter().map(Vec::len).collect();
            let target = Packed::many(targets.concat(), lengths)?;
            let logits = model.run(&mut Plain::silent(), &self.source, &target)?;
            for (target, rows) in targets.iter_mut().zip(target.ranges()) {
                target.push(most_likely(logits.row(rows.end - 1)));
            }
        }
        let lengths = self.target.lengths.iter();
        let written = targets.iter().zip(lengths);
        let answer = |(target, &length): (&Vec<usize>, &usize)| target[1..=length].to_vec();
        Ok(written.map(answer).collect())
    }

    /// Exact matches with teacher forcing: each position predicted from the correct beginning. A
    /// free-running model writes the same exact matches, unless it looks ahead.
    ///
    /// # Errors
    /// When the model has a smaller vocabulary.
    pub fn right(&self, model: &impl EncoderDecoder) -> Result<usize> {
        let logits = model.run(&mut Plain::silent(), &self.source, &self.target)?;
        Ok(self.whole(&self.right_positions(logits.view())))
    }

    /// Exact matches, given the right positions of each pair.
    pub(super) fn whole(&self, right: &[usize]) -> usize {
        let pairs = right.iter().zip(&self.target.lengths);
        pairs.filter(|(right, length)| right == length).count()
    }

    /// The number of positions of each pair at which the correct symbol has the largest logit.
    pub(super) fn right_positions(&self, logits: ArrayView2<'_, f32>) -> Vec<usize> {
        // logits [N, V] -> [B]
        let predicted = logits.outer_iter().zip(&self.answers).map(|(row, answer)| {
            let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            answer.is_none_or(|id| row[id] == largest)
        });
        let right: Vec<bool> = predicted.collect();
        let count = |rows: std::ops::Range<usize>| right[rows].iter().filter(|&&r| r).count();
        self.target.ranges().map(count).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASK: Task = Task::Reverse {
        symbols: 8,
        length: 16,
    };

    /// Each pair has the length that was asked for, is of the right kind, and is answered by the
    /// task.
    #[test]
    fn pairs_of_many_lengths_are_packed() {
        let lengths = [4, 16, 7, 4, 20];
        for held in [false, true] {
            let pairs = Pairs::draw_lengths(&TASK, &mut Rng::new(3), &lengths, held).unwrap();
            assert_eq!(pairs.source.lengths, lengths);
            assert_eq!(pairs.target.lengths, lengths);
            for rows in pairs.source.ranges() {
                let source = &pairs.source.ids[rows.clone()];
                assert_eq!(held_out(source), held);
                let answer = pairs.answers[rows.clone()].iter().flatten().copied();
                assert!(answer.eq(source.iter().rev().copied()));
                assert_eq!(pairs.target.ids[rows.start], TASK.start());
            }
        }
    }

    /// Of 64 sequences perhaps none is held out; 256 are enough.
    #[test]
    fn too_few_sequences_are_refused() {
        let task = Task::Copy {
            symbols: 4,
            length: 8,
        };
        let drawn = |length| Pairs::draw_lengths(&task, &mut Rng::new(1), &[8, length], true);
        let error = drawn(3).unwrap_err().to_string();
        assert!(
            error.contains("256") && error.contains("3 symbols"),
            "{error}"
        );
        assert!(drawn(4).is_ok());
        assert!(drawn(100).is_ok(), "a power beyond all numbers");
    }

    #[test]
    fn right_positions_are_counted_for_each_pair() {
        let pairs = Pairs::draw_lengths(&TASK, &mut Rng::new(5), &[4, 5], false).unwrap();
        let mut logits = ndarray::Array2::zeros((9, TASK.vocabulary()));
        for (place, answer) in pairs.answers.iter().enumerate() {
            // The third position of the second pair is wrong.
            let said = if place == 6 {
                TASK.start()
            } else {
                answer.unwrap()
            };
            logits[[place, said]] = 1.0;
        }
        let right = pairs.right_positions(logits.view());
        assert_eq!(right, [4, 4]);
        assert_eq!(pairs.whole(&right), 1);
    }
}
