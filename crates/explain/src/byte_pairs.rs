//! Byte-pair encoding as it is described on paper: all pairs are counted again before each merge.
//!
//! ```text
//! tokens = the 256 bytes; every word of the text is a list of bytes
//! repeat: the most frequent pair of neighbours becomes a token; replace the pair by it everywhere
//! ```
//! The engine's trainer ([`engine::token::train`]) learns the same merges and counts only what has
//! changed. The plainest vocabularies of all, characters and bytes, are here too.
//!
//! ```
//! use explain::byte_pairs::{cut, learn};
//! let learned = learn("low low lower lowest", 3);
//! let texts: Vec<&[u8]> = learned.merges.iter().map(|merge| learned.text(merge.id)).collect();
//! assert_eq!(texts, [&b"lo"[..], b"low", b" low"]);
//! assert_eq!(learned.merges[0].count, 4);
//! assert_eq!(cut("slow", &learned.merges), [115, 257]); // "s" is byte 115
//! ```
//!
//! Source: Sennrich, Haddow and Birch 2016, "Neural machine translation of rare words with subword
//! units", algorithm 1.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use engine::token::split::Split;

/// A merge: two neighbours become one token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Merge {
    /// The ids of the two tokens.
    pub pair: [usize; 2],
    /// The id of the token that the pair becomes.
    pub id: usize,
    /// The number of times that the pair occurred when it was chosen.
    pub count: usize,
}

/// What was learned from a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Learned {
    /// The bytes of every token, in the order of the ids: first the 256 bytes.
    pub tokens: Vec<Vec<u8>>,
    /// The merges in the order of learning.
    pub merges: Vec<Merge>,
    /// The words of the text as ids, after all merges.
    pub words: Vec<Vec<usize>>,
}

impl Learned {
    /// The bytes of a token; none where there is no such id.
    pub fn text(&self, id: usize) -> &[u8] {
        self.tokens.get(id).map_or(&[], Vec::as_slice)
    }
}

/// Learns at most `most` merges from a text; fewer where no pair occurs twice.
pub fn learn(text: &str, most: usize) -> Learned {
    let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    let (mut words, mut merges) = (words(text), Vec::new());
    while merges.len() < most {
        let Some((pair, count)) = most_frequent_pair(&words) else {
            break;
        };
        let token = pair.map(|id| tokens[id].as_slice()).concat();
        // Two different pairs may spell the same token.
        let known = tokens.iter().position(|other| *other == token);
        let id = known.unwrap_or(tokens.len());
        if known.is_none() {
            tokens.push(token);
        }
        for word in &mut words {
            replace(word, pair, id);
        }
        merges.push(Merge { pair, id, count });
    }
    Learned {
        tokens,
        merges,
        words,
    }
}

/// The pair of neighbours that occurs most often inside the words, if any occurs twice. Of equally
/// frequent pairs it is the one with the lower ids.
pub fn most_frequent_pair(words: &[Vec<usize>]) -> Option<([usize; 2], usize)> {
    let mut counts: BTreeMap<[usize; 2], usize> = BTreeMap::new();
    for pair in words.iter().flat_map(|word| word.windows(2)) {
        *counts.entry([pair[0], pair[1]]).or_default() += 1;
    }
    let best = (counts.into_iter()).max_by_key(|&(pair, count)| (count, Reverse(pair)));
    best.filter(|&(_, count)| count > 1)
}

/// The words of a text as bytes. A space belongs to the word after it.
fn words(text: &str) -> Vec<Vec<usize>> {
    let words = Split::Gpt2.words(text);
    words
        .map(|word| word.bytes().map(usize::from).collect())
        .collect()
}

/// Writes `id` for every occurrence of the pair, from left to right.
fn replace(word: &mut Vec<usize>, pair: [usize; 2], id: usize) {
    let mut at = 0;
    while at + 1 < word.len() {
        if word[at..at + 2] == pair {
            word.splice(at..at + 2, [id]);
        }
        at += 1;
    }
}

/// The ids of a text: its bytes, joined by the merges in their order.
pub fn cut(text: &str, merges: &[Merge]) -> Vec<usize> {
    let mut words = words(text);
    for merge in merges {
        for word in &mut words {
            replace(word, merge.pair, merge.id);
        }
    }
    words.concat()
}

/// The number of each character in Unicode: a vocabulary of characters.
pub fn code_points(text: &str) -> Vec<usize> {
    text.chars().map(|c| u32::from(c) as usize).collect()
}

/// The bytes of a text in UTF-8: a vocabulary of bytes.
pub fn utf8(text: &str) -> Vec<usize> {
    text.bytes().map(usize::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::token::tokenizer::Tokenizer;
    use engine::token::train::train;

    const TEXT: &str = "She sells sea shells by the sea shore. The shells she sells are sea shells, \
                        I'm sure. aaaa aaaab abab \u{e9}t\u{e9} \u{e9}t\u{e9} 1000 100 10";

    /// The engine's trainer, which counts only what changes, learns the same.
    #[test]
    fn the_merges_are_those_of_the_engines_trainer() {
        let (plain, fast) = (learn(TEXT, 100), train(TEXT, 100, Split::Gpt2).unwrap());
        assert!(plain.merges.len() > 20, "{}", plain.merges.len());
        let found: Vec<_> = plain
            .merges
            .iter()
            .map(|merge| (merge.pair, merge.id, merge.count))
            .collect();
        let expected: Vec<_> = fast
            .merges
            .iter()
            .map(|merge| ([merge.left, merge.right], merge.id, merge.count))
            .collect();
        assert_eq!(found, expected);
        assert_eq!(plain.tokens.len(), fast.tokenizer.size());
    }

    /// Merges in the order of learning cut a text as the engine's tokenizer does.
    #[test]
    fn a_text_is_cut_as_the_engine_cuts_it() {
        let tokenizer = train(TEXT, 100, Split::Gpt2).unwrap().tokenizer;
        let merges = learn(TEXT, 100).merges;
        for text in [
            TEXT,
            "He sells shoes by the shore.",
            "s\u{e9}ance 10000!",
            "",
        ] {
            assert_eq!(
                cut(text, &merges),
                tokenizer.encode(text).unwrap(),
                "{text}"
            );
        }
        let learned = learn(TEXT, 100);
        assert_eq!(cut(TEXT, &learned.merges), learned.words.concat());
    }

    #[test]
    fn without_merges_a_text_is_its_bytes() {
        assert_eq!(cut("h\u{e9}!", &[]), [104, 195, 169, 33]);
        assert_eq!(utf8("h\u{e9}!"), [104, 195, 169, 33]);
        assert_eq!(code_points("h\u{e9}\u{1f642}"), [104, 233, 0x1F642]);
        assert_eq!(learn("abc", 9).merges, []);
        assert!(learn("", 9).words.is_empty());
    }
}
