//! Sub-words learned as merges of characters inside words.
//!
//! ```text
//! start:  each word is its characters, with ## before all but the first        cats: c ##a ##t ##s
//! repeat: the most frequent pair of neighbours becomes one piece               ##a ##t -> ##at
//! ```
//! Of equally frequent pairs the one that comes first in the alphabet is merged, so the same words
//! give the same pieces everywhere.
//!
//! Source: Sennrich, Haddow and Birch 2016, algorithm 1, with the marks of WordPiece (Devlin et al.
//! 2019).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// What marks a piece that continues a word.
pub const INSIDE: &str = "##";

type Pair = (String, String);

/// The count of each pair of neighbours, and the words that contain it.
#[derive(Default)]
struct Pairs {
    counts: BTreeMap<Pair, usize>,
    words: BTreeMap<Pair, BTreeSet<usize>>,
    /// The counts again: the last is the most frequent pair.
    order: BTreeSet<(usize, Reverse<Pair>)>,
}

impl Pairs {
    /// Adds `count` to the pair's count, or subtracts it.
    fn change(&mut self, pair: Pair, word: usize, count: usize, is_added: bool) {
        let known = self.counts.entry(pair.clone()).or_default();
        self.order.remove(&(*known, Reverse(pair.clone())));
        *known = match is_added {
            true => *known + count,
            false => known.saturating_sub(count),
        };
        if *known > 0 {
            self.order.insert((*known, Reverse(pair.clone())));
        }
        if is_added {
            self.words.entry(pair).or_default().insert(word);
        }
    }
}

/// The pieces of the first `count` merges in some words, in the order of learning; each word comes
/// with its number of occurrences. Characters are not among them.
pub fn learned(words: &BTreeMap<String, usize>, count: usize) -> Vec<String> {
    let mut pieces: Vec<(Vec<String>, usize)> = (words.iter())
        .map(|(word, &count)| (characters(word), count))
        .collect();
    let mut pairs = Pairs::default();
    for (at, (word, count)) in pieces.iter().enumerate() {
        for pair in neighbours(word) {
            pairs.change(pair, at, *count, true);
        }
    }
    let mut learned = Vec::new();
    while learned.len() < count {
        let Some((_, Reverse(pair))) = pairs.order.last().cloned() else {
            break;
        };
        let merged = merged(&pair);
        for at in pairs.words.remove(&pair).unwrap_or_default() {
            let (word, count) = &mut pieces[at];
            for old in neighbours(word) {
                pairs.change(old, at, *count, false);
            }
            merge(word, &pair, &merged);
            for new in neighbours(word) {
                pairs.change(new, at, *count, true);
            }
        }
        learned.push(merged);
    }
    learned
}

/// The characters of a word as pieces.
fn characters(word: &str) -> Vec<String> {
    let piece = |(at, character): (usize, char)| match at {
        0 => character.to_string(),
        _ => format!("{INSIDE}{character}"),
    };
    word.chars().enumerate().map(piece).collect()
}

fn neighbours(word: &[String]) -> Vec<Pair> {
    let pairs = word.windows(2);
    pairs
        .map(|pair| (pair[0].clone(), pair[1].clone()))
        .collect()
}

fn merged((left, right): &Pair) -> String {
    format!("{left}{}", right.strip_prefix(INSIDE).unwrap_or(right))
}

/// Replaces the pair by its merged piece, from the beginning of the word.
fn merge(word: &mut Vec<String>, pair: &Pair, merged: &str) {
    let mut at = 0;
    while at + 1 < word.len() {
        if word[at] == pair.0 && word[at + 1] == pair.1 {
            word[at] = merged.to_owned();
            word.remove(at + 1);
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequent_pairs_become_pieces() {
        let words = [("cat", 5), ("hat", 4), ("cats", 2)];
        let words = words.map(|(word, count)| (word.to_owned(), count));
        let found = learned(&words.into(), 3);
        assert_eq!(found, ["##at", "cat", "hat"]);
    }

    #[test]
    fn a_pair_that_overlaps_itself_is_merged_from_the_left() {
        let words = BTreeMap::from([("xaaa".to_owned(), 1)]);
        assert_eq!(learned(&words, 9), ["##aa", "##aaa", "xaaa"]);
    }

    #[test]
    fn no_pair_is_left_in_a_word_of_one_piece() {
        assert!(learned(&BTreeMap::from([("a".to_owned(), 9)]), 5).is_empty());
    }
}
