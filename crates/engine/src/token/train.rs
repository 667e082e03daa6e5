//! Learning the merges of a byte-level vocabulary from text.
//!
//! Start with the 256 bytes. Count every pair of neighbours inside the words of the text, make the most frequent pair a new
//! token, and repeat. Of pairs that are equally frequent the one with the lower left id is taken, then the one with the lower
//! right id, so that the same text gives the same vocabulary everywhere.
//!
//! ```
//! use engine::token::{split::Split, tokenizer::Tokenizer, train::train};
//! let trained = train("low low lower lowest", 3, Split::Gpt2)?;
//! let learned: Vec<_> = trained.steps.iter().map(|step| (step.text.as_str(), step.count)).collect();
//! assert_eq!(learned, [("lo", 4), ("low", 4), (" low", 3)]);
//! assert_eq!(trained.tokenizer.encode("slow low")?.len(), 3);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Sennrich, Haddow and Birch 2016, "Neural machine translation of rare words with subword units", algorithm 1.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};

use super::byte_alphabet::written;
use super::byte_bpe::{ByteBpe, ByteBpeFiles};
use super::split::Split;
use crate::error::Result;

/// One merge as it was learned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The left token of the pair.
    pub left: usize,
    /// The right token of the pair.
    pub right: usize,
    /// The token that the pair becomes.
    pub id: usize,
    /// Its text; bytes that are no whole character are shown as U+FFFD.
    pub text: String,
    /// How often the pair stood in the text when it was chosen.
    pub count: usize,
}

/// A vocabulary and how it was learned.
#[derive(Debug, Clone)]
pub struct Trained {
    /// Ready to use. Ids 0 to 255 are the bytes, the others are in the order of learning.
    pub tokenizer: ByteBpe,
    /// The merges in order.
    pub steps: Vec<Step>,
}

/// A word of the text as tokens, and how often it stands there.
struct Word {
    tokens: Vec<usize>,
    count: usize,
}

type Pair = (usize, usize);

/// How often each pair of neighbours stands in the text, and in which words.
#[derive(Default)]
struct Pairs {
    counts: HashMap<Pair, usize>,
    places: HashMap<Pair, BTreeSet<usize>>,
    /// The counts again, most frequent first. An entry whose count has changed since is skipped.
    queue: BinaryHeap<(usize, Reverse<Pair>)>,
}

impl Pairs {
    fn add(&mut self, word: &Word, place: usize) {
        for pair in neighbours(word) {
            *self.counts.entry(pair).or_default() += word.count;
            self.places.entry(pair).or_default().insert(place);
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

/// Learns at most `merges` merges from a text; fewer where no pair stands in it twice. Each merge costs the length of the different
/// words that have its pair.
///
/// # Errors
/// None that a text could cause; the type is that of [`ByteBpe::new`], which checks what was learned.
pub fn train(text: &str, merges: usize, split: Split) -> Result<Trained> {
    let mut words = count_words(text, split);
    let mut bytes: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    let mut known: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut pairs = Pairs::default();
    for (place, word) in words.iter().enumerate() {
        pairs.add(word, place);
    }
    let all: Vec<Pair> = pairs.counts.keys().copied().collect();
    all.into_iter().for_each(|pair| pairs.queue(pair));

    let mut steps = Vec::new();
    while steps.len() < merges {
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
        steps.push(Step {
            left: pair.0,
            right: pair.1,
            id,
            text: String::from_utf8_lossy(&bytes[id]).into_owned(),
            count,
        });
    }
    let line = |step: &Step| {
        format!(
            "{} {}",
            written(&bytes[step.left]),
            written(&bytes[step.right])
        )
    };
    let tokenizer = ByteBpe::new(ByteBpeFiles {
        tokens: bytes.iter().map(|token| written(token)).collect(),
        merges: steps.iter().map(line).collect(),
        split,
        ..ByteBpeFiles::default()
    })?;
    Ok(Trained { tokenizer, steps })
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

/// Puts `id` for the pair in every word, and counts again what stands in the words that change.
fn merge_everywhere(words: &mut [Word], pairs: &mut Pairs, pair: Pair, id: usize) {
    let mut changed = BTreeSet::new();
    for place in pairs.places.remove(&pair).unwrap_or_default() {
        let word = &mut words[place];
        changed.extend(neighbours(word));
        pairs.remove(word);
        word.tokens = replaced(&word.tokens, pair, id);
        pairs.add(word, place);
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

    /// The same by counting everything again before each merge.
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
    fn counting_changes_only_gives_the_same_merges_as_counting_all() {
        let text =
            "aaaa aaab abab the cat sat on the mat, the bat at the hat. aaaaaaa ééé\n\n\nthat"
                .repeat(2);
        let trained = train(&text, 60, Split::Gpt2).unwrap();
        let found: Vec<_> = trained
            .steps
            .iter()
            .map(|step| ((step.left, step.right), step.count))
            .collect();
        assert_eq!(found, plainly(&text, 60));
        assert!(found.len() > 25, "{}", found.len());
    }

    #[test]
    fn equal_counts_go_to_the_lower_ids() {
        let trained = train("dc\nba\ndc\nba", 1, Split::Gpt2).unwrap();
        let step = &trained.steps[0];
        assert_eq!((step.text.as_str(), step.count, step.id), ("ba", 2, 256));
        assert!(train("ab", 9, Split::Gpt2).unwrap().steps.is_empty());
        assert!(train("", 9, Split::Gpt2).unwrap().steps.is_empty());
    }

    #[test]
    fn what_was_learned_encodes_the_text_in_fewer_tokens() {
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
