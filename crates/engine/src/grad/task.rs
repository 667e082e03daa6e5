//! Copy, reverse, sort: tasks whose answers anybody can check, small enough to be learned while one watches; and a text to go on with.
//!
//! ```text
//! source: L symbols, drawn evenly from 0 … n − 1         answer: the same, reversed, or in order
//! target: start, answer_1 … answer_{L−1}                 to be predicted: answer_1 … answer_L
//! ```
//! A pair is held out if the hash of its source says so (one in eight), so that no held-out source is ever trained on, however long
//! training goes on. Of a text ([`Task::Text`]) sources are passages of L characters and answers the L characters after them; the end of
//! the text is held out.
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

use super::tape::{Tape, Var};
use crate::error::{EngineError, Result};
use crate::model::transformer::Transformer;
use crate::nn::packed::Packed;
use crate::nn::plain::Plain;
use crate::rng::{Rng, mix};
use ndarray::{ArrayView1, ArrayView2};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What is to be learned, of sequences of `length` symbols out of `symbols`.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// How a text goes on.
    Text {
        /// The text.
        text: Arc<Text>,
        /// L.
        length: usize,
    },
}

/// A text as ids of its characters.
#[derive(Debug, PartialEq, Eq)]
pub struct Text {
    characters: Vec<char>,
    ids: Vec<usize>,
}

impl Text {
    /// The ids are in the order of the characters' code points.
    pub fn new(text: &str) -> Self {
        let characters: BTreeSet<char> = text.chars().collect();
        let characters: Vec<char> = characters.into_iter().collect();
        let id = |c: char| characters.binary_search(&c).unwrap_or_default();
        Self {
            ids: text.chars().map(id).collect(),
            characters,
        }
    }

    /// The different characters, by id.
    pub fn characters(&self) -> &[char] {
        &self.characters
    }

    /// How many characters a text needs for passages of `length`: of the last eighth, or as much as holds one passage and its answer,
    /// nothing is trained on, and the rest should be several times as long.
    pub fn fewest(length: usize) -> usize {
        8 * length
    }

    /// What is trained on and what is held out.
    fn parts(&self, length: usize) -> (&[usize], &[usize]) {
        let held = (self.ids.len() / 8).max(2 * length).min(self.ids.len());
        self.ids.split_at(self.ids.len() - held)
    }
}

/// One in so many sources is held out.
const HELD_OUT: u64 = 8;

impl Task {
    fn sizes(&self) -> (usize, usize) {
        match self {
            Self::Copy { symbols, length }
            | Self::Reverse { symbols, length }
            | Self::Sort { symbols, length } => (*symbols, *length),
            Self::Text { text, length } => (text.characters.len(), *length),
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

    /// A source with what should become of it, from those for training or from those that are held out.
    fn pair(&self, rng: &mut Rng, held: bool) -> (Vec<usize>, Vec<usize>) {
        if let Self::Text { text, length } = self {
            let (training, rest) = text.parts(*length);
            let passages = if held { rest } else { training };
            let begin = rng.below(passages.len() + 1 - 2 * length);
            let (source, answer) = passages[begin..begin + 2 * length].split_at(*length);
            return (source.to_vec(), answer.to_vec());
        }
        let (symbols, length) = self.sizes();
        loop {
            let source: Vec<usize> = (0..length).map(|_| rng.below(symbols)).collect();
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

    /// Refuses what there is nothing to draw of.
    fn check(&self) -> Result<()> {
        let (symbols, length) = self.sizes();
        let refuse = |expected: String, found: String| {
            Err(EngineError::value("task", "sizes", expected, found))
        };
        if symbols < 2 || length < Pairs::SHORTEST {
            let expected = format!("at least 2 symbols and a length of {}", Pairs::SHORTEST);
            return refuse(expected, format!("{symbols} and {length}"));
        }
        match self {
            Self::Text { text, .. } if text.ids.len() < Text::fewest(length) => {
                let expected = format!("at least {} characters", Text::fewest(length));
                refuse(expected, text.ids.len().to_string())
            }
            _ => Ok(()),
        }
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
    /// When there are no sequences to draw: no symbols, sequences shorter than [`Self::SHORTEST`], or a text shorter than
    /// [`Text::fewest`].
    pub fn draw(task: &Task, rng: &mut Rng, count: usize, held: bool) -> Result<Self> {
        task.check()?;
        let (_, length) = task.sizes();
        let (mut sources, mut targets, mut answers) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..count {
            let (source, answer) = task.pair(rng, held);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_goes_on_and_its_end_is_never_trained_on() {
        let text: String = (0..200u8).map(|n| char::from(b'a' + n % 26)).collect();
        let ids = Text::new(&text).ids;
        let task = Task::Text {
            text: Arc::new(Text::new(&text)),
            length: 8,
        };
        assert_eq!(task.vocabulary(), 27);
        let places = |held| {
            let pairs = Pairs::draw(&task, &mut Rng::new(1), 300, held).unwrap();
            let sources = pairs.source.ids.chunks(8);
            let answers = pairs.answers.chunks(8);
            let mut ends = Vec::new();
            for (source, answer) in sources.zip(answers) {
                let both: Vec<usize> = source
                    .iter()
                    .copied()
                    .chain(answer.iter().flatten().copied())
                    .collect();
                let known = |(_, window): &(usize, &[usize])| *window == both;
                ends.push(
                    ids.windows(16)
                        .enumerate()
                        .filter(known)
                        .map(|(begin, _)| begin + 16)
                        .collect::<Vec<_>>(),
                );
            }
            ends
        };
        // 25 characters are the last eighth: a passage for training ends before them, one that is held out begins in them.
        assert!(
            places(false)
                .iter()
                .all(|ends| ends.iter().any(|&end| end <= 175))
        );
        assert!(
            places(true)
                .iter()
                .all(|ends| ends.iter().any(|&end| end > 175 + 15))
        );
        let short = Task::Text {
            text: Arc::new(Text::new(&text[..63])),
            length: 8,
        };
        let refused = Pairs::draw(&short, &mut Rng::new(1), 1, false).unwrap_err();
        assert!(refused.to_string().contains("64 characters"), "{refused}");
    }
}
