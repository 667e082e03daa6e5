//! Copy, reverse, sort: tasks whose answers anybody can check, small enough to be learned while one watches.
//!
//! ```text
//! source: L symbols, drawn evenly from 0 … n − 1         answer: the same, reversed, or in order
//! target: start, answer_1 … answer_{L−1}                 to be predicted: answer_1 … answer_L
//! ```
//! A pair is held out if the hash of its source says so (one in eight), so that no held-out source is ever trained on, however long
//! training goes on.
//!
//! ```
//! use engine::grad::{Pairs, Task};
//! use engine::rng::Rng;
//! let task = Task::Reverse { symbols: 10, length: 16 };
//! let pairs = Pairs::draw(task, &mut Rng::new(1), 4, false)?;
//! assert_eq!(pairs.source.lengths, [16; 4]);
//! assert_eq!(pairs.answers[0], Some(pairs.source.ids[15]));
//! assert_eq!(pairs.target.ids[0], task.start());
//! # Ok::<(), engine::EngineError>(())
//! ```

use super::tape::{Tape, Var};
use crate::error::{EngineError, Result};
use crate::model::transformer::Transformer;
use crate::nn::packed::Packed;
use crate::nn::plain::Plain;
use crate::rng::{Rng, mix};
use ndarray::{ArrayView1, ArrayView2};

/// What is to be learned, of sequences of `length` symbols out of `symbols`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// The sequence itself.
    Copy {
        /// n.
        symbols: usize,
        /// L.
        length: usize,
    },
    /// From its end.
    Reverse {
        /// n.
        symbols: usize,
        /// L.
        length: usize,
    },
    /// From the smallest to the largest.
    Sort {
        /// n.
        symbols: usize,
        /// L.
        length: usize,
    },
}

/// One in so many sources is held out.
const HELD_OUT: u64 = 8;

impl Task {
    fn sizes(self) -> (usize, usize) {
        let (Self::Copy { symbols, length }
        | Self::Reverse { symbols, length }
        | Self::Sort { symbols, length }) = self;
        (symbols, length)
    }

    /// The id that starts a target, after all symbols.
    pub fn start(self) -> usize {
        self.sizes().0
    }

    /// V: the symbols and the start.
    pub fn vocabulary(self) -> usize {
        self.sizes().0 + 1
    }

    /// What a source should become.
    pub fn answer(self, source: &[usize]) -> Vec<usize> {
        let mut answer = source.to_vec();
        match self {
            Self::Copy { .. } => {}
            Self::Reverse { .. } => answer.reverse(),
            Self::Sort { .. } => answer.sort_unstable(),
        }
        answer
    }
}

/// Whether a source is kept from training.
fn held_out(source: &[usize]) -> bool {
    let hash = source
        .iter()
        .fold(0, |hash, &id| mix(hash ^ (id as u64 + 1)));
    hash.is_multiple_of(HELD_OUT)
}

/// The first id with the largest logit.
fn likeliest(logits: ArrayView1<'_, f32>) -> usize {
    let larger = |best: usize, id: usize| if logits[id] > logits[best] { id } else { best };
    (0..logits.len()).fold(0, larger)
}

/// Some pairs, one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pairs {
    /// What is read.
    pub source: Packed,
    /// What was answered so far, at each place.
    pub target: Packed,
    /// What comes next, at each place of the target.
    pub answers: Vec<Option<usize>>,
}

impl Pairs {
    /// The shortest sequences that there are enough of for both kinds.
    pub const SHORTEST: usize = 8;

    /// `count` pairs, from those for training or from those that are held out.
    ///
    /// # Errors
    /// When there are no sequences to draw: no symbols, or none of that kind because the sequences are shorter than
    /// [`Self::SHORTEST`].
    pub fn draw(task: Task, rng: &mut Rng, count: usize, held: bool) -> Result<Self> {
        let (symbols, length) = task.sizes();
        if symbols < 2 || length < Self::SHORTEST {
            let expected = format!("at least 2 symbols and a length of {}", Self::SHORTEST);
            let found = format!("{symbols} and {length}");
            return Err(EngineError::value("task", "sizes", expected, found));
        }
        let (mut sources, mut targets, mut answers) = (Vec::new(), Vec::new(), Vec::new());
        while sources.len() < count * length {
            let source: Vec<usize> = (0..length).map(|_| rng.below(symbols)).collect();
            if held_out(&source) != held {
                continue;
            }
            let answer = task.answer(&source);
            targets.push(task.start());
            targets.extend(&answer[..length.saturating_sub(1)]);
            answers.extend(answer.into_iter().map(Some));
            sources.extend(source);
        }
        let lengths = vec![length; count];
        Ok(Self {
            source: Packed::many(sources, lengths.clone())?,
            target: Packed::many(targets, lengths)?,
            answers,
        })
    }

    /// The mean cross-entropy of a Transformer's answers.
    ///
    /// # Errors
    /// When the model has a smaller vocabulary.
    pub fn loss(&self, model: &Transformer, tape: &mut Tape, smoothing: f32) -> Result<Var> {
        let logits = model.run(tape, &self.source, &self.target)?;
        tape.cross_entropy(&logits, &self.answers, smoothing)
    }

    /// What a Transformer writes by itself: the likeliest symbol first, then the likeliest after what it wrote, until the answer is as
    /// long as it should be. It is given no more than that, so that a model without a mask has nothing to look ahead at.
    ///
    /// # Errors
    /// When the model has a smaller vocabulary.
    pub fn written(&self, model: &Transformer) -> Result<Vec<Vec<usize>>> {
        let start = |rows: std::ops::Range<usize>| vec![self.target.ids[rows.start]];
        let mut targets: Vec<Vec<usize>> = self.target.ranges().map(start).collect();
        let longest = self.target.lengths.iter().copied().max().unwrap_or(0);
        for _ in 0..longest {
            let lengths = targets.iter().map(Vec::len).collect();
            let target = Packed::many(targets.concat(), lengths)?;
            let logits = model.run(&mut Plain::silent(), &self.source, &target)?;
            for (target, rows) in targets.iter_mut().zip(target.ranges()) {
                target.push(likeliest(logits.row(rows.end - 1)));
            }
        }
        let lengths = self.target.lengths.iter();
        let written = targets.into_iter().zip(lengths);
        Ok(written
            .map(|(target, &length)| target[1..=length].to_vec())
            .collect())
    }

    /// How many pairs a Transformer answers wholly right, each place predicted from the right beginning. A sequence whose every
    /// place is right so is what the model writes by itself too, if its mask is in use.
    ///
    /// # Errors
    /// When the model has a smaller vocabulary.
    pub fn right(&self, model: &Transformer) -> Result<usize> {
        let logits = model.run(&mut Plain::silent(), &self.source, &self.target)?;
        Ok(self.right_by(logits.view()))
    }

    /// The same by the logits at each place of the targets.
    pub(super) fn right_by(&self, logits: ArrayView2<'_, f32>) -> usize {
        // logits [N, V]
        let predicted = logits.outer_iter().zip(&self.answers).map(|(row, answer)| {
            let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            answer.is_none_or(|id| row[id] == largest)
        });
        let places: Vec<bool> = predicted.collect();
        let whole = self
            .target
            .ranges()
            .filter(|rows| places[rows.clone()].iter().all(|&r| r));
        whole.count()
    }
}
