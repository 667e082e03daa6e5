//! A text whose continuation is learned.

use std::collections::BTreeSet;

/// A text as ids of its characters.
#[derive(Debug, PartialEq, Eq)]
pub struct Corpus {
    characters: Vec<char>,
    ids: Vec<usize>,
}

impl Corpus {
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

    /// The number of characters.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// True when it has none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The characters that a text needs for passages of `length`: the last eighth of it, or as much
    /// as holds one passage with its answer, is held out, and the rest should be several times as
    /// long.
    pub fn fewest(length: usize) -> usize {
        8 * length
    }

    /// The part held out for passages of `length`, or the part trained on.
    pub(super) fn part(&self, length: usize, held: bool) -> &[usize] {
        let end = (self.ids.len() / 8).max(2 * length).min(self.ids.len());
        let (training, rest) = self.ids.split_at(self.ids.len() - end);
        if held { rest } else { training }
    }
}

#[cfg(test)]
mod tests {
    use super::super::task::{Pairs, Task};
    use super::*;
    use crate::rng::Rng;
    use std::sync::Arc;

    #[test]
    fn a_text_goes_on_and_its_end_is_never_trained_on() {
        // No two passages of 16 characters are the same.
        let mut rng = Rng::new(5);
        let text: String = (0..200)
            .map(|_| char::from(b'a' + rng.below(26) as u8))
            .collect();
        let (ids, text) = (Corpus::new(&text).ids, Arc::new(Corpus::new(&text)));
        let task = Task::Text { text, length: 8 };
        let ends = |held: bool| -> Vec<usize> {
            let pairs = Pairs::draw(&task, &mut Rng::new(1), 300, held).unwrap();
            let passages = pairs.source.ids.chunks(8).zip(pairs.answers.chunks(8));
            let end = |(source, answer): (&[usize], &[Option<usize>])| {
                let both = source
                    .iter()
                    .copied()
                    .chain(answer.iter().copied().flatten());
                let both: Vec<usize> = both.collect();
                let begin = ids.windows(16).position(|window| window == both);
                begin.unwrap() + 16
            };
            passages.map(end).collect()
        };
        // The last eighth is 25 characters.
        assert_eq!(ends(false).into_iter().max(), Some(175));
        assert_eq!(ends(true).into_iter().min(), Some(175 + 16));
    }

    #[test]
    fn a_text_must_be_long_enough() {
        let text = Arc::new(Corpus::new(&"ab".repeat(31)));
        let task = Task::Text { text, length: 8 };
        let refused = Pairs::draw(&task, &mut Rng::new(1), 1, false).unwrap_err();
        assert!(refused.to_string().contains("64 characters"), "{refused}");
    }
}
