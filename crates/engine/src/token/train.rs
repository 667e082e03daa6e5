//! Training of a byte-level vocabulary: its merges are learned from text.
//!
//! Start with the 256 bytes. Count every pair of neighbours inside the words of the text, make the
//! most frequent pair a new token, and repeat. Of equally frequent pairs the one with the lower
//! left id is taken, then the one with the lower right id, so the same text gives the same
//! vocabulary everywhere.
//!
//! ```
//! use engine::token::{split::Split, tokenizer::Tokenizer, train::train};
//! let trained = train("low low lower lowest", 3, Split::Gpt2)?;
//! let learned: Vec<_> = trained.merges.iter().map(|merge| (merge.text.as_str(), merge.count)).collect();
//! assert_eq!(learned, [("lo", 4), ("low", 4), (" low", 3)]);
//! assert_eq!(trained.tokenizer.encode("slow low")?.len(), 3);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Sennrich, Haddow and Birch 2016, "Neural machine translation of rare words with subword
//! units", algorithm 1.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};

use super::byte_alphabet::written;
use super::byte_bpe::{ByteBpe, ByteBpeFiles};
use super::split::Split;
use crate::error::Result;

/// One merge that was learned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merge {
    /// The left token of the pair.
    pub left: usize,
    /// The right token of the pair.
    pub right: usize,
    /// The token that the pair becomes.
    pub id: usize,
    /// Its text, with U+FFFD for bytes that are not a whole character.
    pub text: String,
    /// The number of times that the pair occurred in the text when it was chosen.
    pub count: usize,
}

/// A trained vocabulary with its merges.
#[derive(Debug, Clone)]
pub struct Trained {
    /// The tokenizer. Ids 0 to 255 are the bytes, the others are in the order of learning.
    pub tokenizer: ByteBpe,
    /// The merges in order.
    pub merges: Vec<Merge>,
}

/// A word of the text as tokens, and the number of times that it occurs.
struct Word {
    tokens: Vec<usize>,
    count: usize,
}

type Pair = (usize, usize);

/// The count of each pair of neighbours in the text, and the words that have it.
#[derive(Default)]
struct Pairs {
    counts: HashMap<Pair, usize>,
    words: HashMap<Pair, BTreeSet<usize>>,
    /// The counts again, most frequent first. An entry whose count has changed since is skipped.
    queue: BinaryHeap<(usize, Reverse<Pair>)>,
}

impl Pairs {
    fn add(&mut self, word: &Word, index: usize) {
        for pair in neighbours(word) {
            *self.counts.entry(pair).or_default() += word.count;
            self.words.entry(pair).or_default().insert(index);
        }
    }

    fn remove(&mut self, word: &Word) {
        for pair in neighbours(word) {
            if let Some(count) = self.counts.get_mut(&pair) {
                *count -= word.count;
            }
        }
    }

    fn queue(&mut self, pair: Pair) {
        if let Some(&count) = self.counts.get(&pair)
            && count > 0
        {
            self.queue.push((count, Reverse(pair)));
        }
    }

    /// The most frequent pair and its count.
    fn most_frequent(&mut self) -> Option<(Pair, usize)> {
        while let Some((count, Reverse(pair))) = self.queue.pop() {
            if self.counts.get(&pair) == Some(&count) {
                return Some((pair, count));
            }
        }
        None
    }
}

fn neighbours(word: &Word) -> impl Iterator<Item = Pair> {
    word.tokens.windows(2).map(|pair| (pair[0], pair[1]))
}

/// Learns at most `merges` merges from a text; fewer where no pair occurs twice. The time of a
/// merge grows with the length of the different words that have its pair.
///
/// # Errors
/// Those of [`ByteBpe::new`], which no text can cause.
pub fn train(text: &str, merges: usize, split: Split) -> Result<Trained> {
    let mut words = count_words(text, split);
    let mut bytes: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    let mut known: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut pairs = Pairs::default();
    for (index, word) in words.iter().enumerate() {
        pairs.add(word, index);
    }
    let all: Vec<Pair> = pairs.counts.keys().copied().collect();
    all.into_iter().for_each(|pair| pairs.queue(pair));

    let mut learned = Vec::new();
    while learned.len() < merges {
        let Some((pair, count)) = pairs.most_frequent().filter(|&(_, count)| count > 1) else {
            break;
        };
        let token = [bytes[pair.0].as_slice(), &bytes[pair.1]].concat();
        // Two pairs may give the same bytes: then they are the same token.
        let id = *known.entry(token.clone()).or_insert(bytes.len());
        if id == bytes.len() {
            bytes.push(token);
        }
        merge_everywhere(&mut words, &mut pairs, pair, id);
        learned.push(Merge {
            left: pair.0,
            right: pair.1,
            id,
            text: String::from_utf8_lossy(&bytes[id]).into_owned(),
            count,
        });
    }
    let line = |merge: &Merge| {
        let [left, right] = [merge.left, merge.right].map(|id| written(&bytes[id]));
        format!("{left} {right}")
    };
    let tokenizer = ByteBpe::new(ByteBpeFiles {
        tokens: bytes.iter().map(|token| written(token)).collect(),
        merges: learned.iter().map(line).collect(),
        split,
        ..ByteBpeFiles::default()
    })?;
    Ok(Trained {
        tokenizer,
        merges: learned,
    })
}

/// The different words of a text as bytes, in alphabetical order.
fn count_words(text: &str, split: Split) -> Vec<Word> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for word in split.words(text) {
        *counts.entry(word).or_default() += 1;
    }
    let word = |(word, count): (&str, usize)| Word {
        tokens: word.bytes().map(usize::from).collect(),
        count,
    };
    counts.into_iter().map(word).collect()
}

/// Replaces the pair by `id` in every word, and counts the pairs of the words that change again.
fn merge_everywhere(words: &mut [Word], pairs: &mut Pairs, pair: Pair, id: usize) {
    let mut changed = BTreeSet::new();
    for index in pairs.words.remove(&pair).unwrap_or_default() {
        let word = &mut words[index];
        changed.extend(neighbours(word));
        pairs.remove(word);
        word.tokens = replaced(&word.tokens, pair, id);
        pairs.add(word, index);
        changed.extend(neighbours(word));
    }
    for pair in changed {
        pairs.queue(pair);
    }
}

/// The tokens with `id` for every occurrence of the pair, from left to right.
fn replaced(tokens: &[usize], pair: Pair, id: usize) -> Vec<usize> {
    let mut out = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at] == pair.0 && tokens.get(at + 1) == Some(&pair.1) {
            out.push(id);
            at += 2;
        } else {
            out.push(tokens[at]);
            at += 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::tokenizer::Tokenizer;

    /// The same merges, by counting all pairs again before each one.
    fn plainly(text: &str, merges: usize) -> Vec<(Pair, usize)> {
        let mut words = count_words(text, Split::Gpt2);
        let mut steps = Vec::new();
        for step in 0..merges {
            let mut counts: BTreeMap<Pair, usize> = BTreeMap::new();
            for word in &words {
                for pair in neighbours(word) {
                    *counts.entry(pair).or_default() += word.count;
                }
            }
            let best = counts
                .into_iter()
                .max_by_key(|&(pair, count)| (count, Reverse(pair)));
            let Some((pair, count)) = best.filter(|&(_, count)| count > 1) else {
                break;
            };
            for word in &mut words {
                word.tokens = replaced(&word.tokens, pair, 256 + step);
            }
            steps.push((pair, count));
        }
        steps
    }

    #[test]
    fn counting_changes_gives_the_same_merges_as_counting_all() {
        let text =
            "aaaa aaab abab the cat sat on the mat, the bat at the hat. aaaaaaa ééé\n\n\nthat"
                .repeat(2);
        let trained = train(&text, 60, Split::Gpt2).unwrap();
        let found: Vec<_> = trained
            .merges
            .iter()
            .map(|merge| ((merge.left, merge.right), merge.count))
            .collect();
        assert_eq!(found, plainly(&text, 60));
        assert!(found.len() > 25, "{}", found.len());
    }

    #[test]
    fn equal_counts_go_to_the_lower_ids() {
        let trained = train("dc\nba\ndc\nba", 1, Split::Gpt2).unwrap();
        let merge = &trained.merges[0];
        assert_eq!((merge.text.as_str(), merge.count, merge.id), ("ba", 2, 256));
        assert!(train("ab", 9, Split::Gpt2).unwrap().merges.is_empty());
        assert!(train("", 9, Split::Gpt2).unwrap().merges.is_empty());
    }

    #[test]
    fn merges_encode_the_text_in_fewer_tokens() {
        let text = "She sells sea shells by the sea shore. ".repeat(3);
        let tokenizer = train(&text, 40, Split::Gpt2).unwrap().tokenizer;
        let ids = tokenizer.encode(&text).unwrap();
        assert!(ids.len() * 3 < text.len(), "{}", ids.len());
        assert_eq!(tokenizer.decode(&ids).unwrap(), text);
        assert_eq!(
            tokenizer
                .decode(&tokenizer.encode("我 né\0").unwrap())
                .unwrap(),
            "我 né\0"
        );
    }
}
