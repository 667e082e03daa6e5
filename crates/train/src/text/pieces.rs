//! The vocabulary of the masked-word model: WordPiece (Devlin et al. 2019).
//!
//! It has special tokens, every character of the training text at the beginning of a word and (with
//! `##`) inside one, and sub-words learned as merges ([`super::merges`]). A frequent word becomes
//! one piece; other words are cut into pieces, at worst into characters. Merges that later merges
//! have used up are left out, and the words of the lessons' examples are always whole.

use super::merges::{self, INSIDE};
use crate::Result;
use engine::token::tokenizer::Tokenizer;
use engine::token::word_piece::{WordPiece, WordPieceFiles};
use std::collections::{BTreeMap, BTreeSet};

/// Merges that are learned.
const MERGES: usize = 4_600;
/// A piece that occurs less often in the training text is left out.
const FEWEST_USES: usize = 24;
/// Words of the lessons' examples that are whole, however many merges there are.
const EXAMPLES: [&str; 3] = ["bites", "mat", "telescope"];
/// The words that the vocabulary of the first version had.
pub const FIRST_WORDS: usize = 3_000;
/// The special tokens, in the order of their ids.
const SPECIAL: [&str; 5] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];
const BEGIN: usize = 2;
const SEPARATOR: usize = 3;
/// The id of `[MASK]`.
pub const MASK: usize = 4;
/// The first id after the special tokens.
pub const FIRST_WORD: usize = SPECIAL.len();
/// A character that stands in fewer texts than this is unknown.
const FEWEST: usize = 5;

/// The vocabulary.
#[derive(Debug, Clone)]
pub struct Pieces {
    tokens: Vec<String>,
    tokenizer: WordPiece,
}

impl Pieces {
    /// The vocabulary of some texts.
    ///
    /// # Errors
    /// None that texts could cause; the type is that of [`WordPiece::new`].
    pub fn new(texts: &[String]) -> Result<Self> {
        let (words, characters) = (counted(texts), characters(texts));
        let is_known = |word: &str| word.chars().all(|c| characters.contains(&c));
        let known: BTreeMap<String, usize> = (words.into_iter())
            .filter(|(word, _)| is_known(word))
            .collect();
        let mut learned = merges::learned(&known, MERGES);
        let is_example = |word: &str| EXAMPLES.contains(&word) && known.contains_key(word);
        for word in EXAMPLES.into_iter().filter(|word| is_example(word)) {
            if !learned.iter().any(|piece| piece == word) {
                learned.push(word.to_owned());
            }
        }
        let all = Self::with(&characters, learned.clone())?;
        let mut uses = vec![0; all.size()];
        for (word, count) in &known {
            all.tokenizer
                .encode(word)?
                .into_iter()
                .for_each(|id| uses[id] += count);
        }
        let first = all.size() - learned.len();
        let uses = &uses[first..];
        let kept = learned.into_iter().zip(uses);
        let kept = kept.filter(|(piece, uses)| **uses >= FEWEST_USES || is_example(piece));
        Self::with(&characters, kept.map(|(piece, _)| piece).collect())
    }

    /// The vocabulary of the first version of the model: the most frequent words, and characters.
    /// Its questions are still those that the model is measured on.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn first(texts: &[String]) -> Result<Self> {
        let mut words: Vec<(String, usize)> = counted(texts).into_iter().collect();
        // Equally frequent ones stay in alphabetical order.
        words.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        let words = words.into_iter().map(|(word, _)| word);
        let words = words.filter(|word| word.chars().count() > 1);
        Self::with(&characters(texts), words.take(FIRST_WORDS).collect())
    }

    /// Special tokens, characters, and other pieces.
    fn with(characters: &BTreeSet<char>, pieces: Vec<String>) -> Result<Self> {
        let mut tokens: Vec<String> = SPECIAL.map(str::to_owned).to_vec();
        tokens.extend(characters.iter().map(char::to_string));
        let inside = characters.iter().filter(|c| c.is_alphanumeric());
        tokens.extend(inside.map(|character| format!("{INSIDE}{character}")));
        tokens.extend(pieces);
        let tokenizer = WordPiece::new(WordPieceFiles::named(tokens.clone()))?;
        Ok(Self { tokens, tokenizer })
    }

    /// The number of tokens.
    pub fn size(&self) -> usize {
        self.tokens.len()
    }

    /// The file that the vocabulary is loaded from.
    pub fn vocab_txt(&self) -> String {
        let mut file = self.tokens.join("\n");
        file.push('\n');
        file
    }

    /// `[CLS]`, the pieces of a text, `[SEP]`.
    ///
    /// # Errors
    /// None that a text could cause; the type is the tokenizer's.
    pub fn ids(&self, text: &str) -> Result<Vec<usize>> {
        let mut ids = vec![BEGIN];
        ids.extend(self.tokenizer.encode(text)?);
        ids.push(SEPARATOR);
        Ok(ids)
    }

    /// The id of a word that is one piece.
    pub fn whole(&self, word: &str) -> Option<usize> {
        self.tokens.iter().position(|token| token == word)
    }

    /// The text of a piece, with `##` where it continues a word.
    pub fn token(&self, id: usize) -> &str {
        &self.tokens[id]
    }

    /// Returns whether a piece continues a word.
    pub fn is_inside(&self, id: usize) -> bool {
        let token = self.token(id);
        token.starts_with(INSIDE) && token.len() > INSIDE.len()
    }

    /// Returns whether the token at a position is a whole word: letters alone, and no later token
    /// continues it.
    pub fn is_word(&self, ids: &[usize], place: usize) -> bool {
        !self.is_inside(ids[place + 1]) && self.token(ids[place]).chars().all(char::is_alphabetic)
    }
}

/// The words of some texts with the number of times that each occurs.
fn counted(texts: &[String]) -> BTreeMap<String, usize> {
    let mut words = BTreeMap::new();
    for word in texts.iter().flat_map(|text| cut(text)) {
        *words.entry(word).or_default() += 1;
    }
    words
}

/// The characters of some texts, but for those that few of them have.
fn characters(texts: &[String]) -> BTreeSet<char> {
    let mut counts: BTreeMap<char, usize> = BTreeMap::new();
    for text in texts {
        let different: BTreeSet<char> = text.to_lowercase().chars().collect();
        for character in different.into_iter().filter(|c| !c.is_whitespace()) {
            *counts.entry(character).or_default() += 1;
        }
    }
    let frequent = counts.into_iter().filter(|&(_, count)| count >= FEWEST);
    frequent.map(|(character, _)| character).collect()
}

/// The words of a text as BERT's rules cut it: in lower case, punctuation apart.
fn cut(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut inside = false;
    for character in text.to_lowercase().chars() {
        let is_part = character.is_alphanumeric();
        match words.last_mut() {
            Some(word) if inside && is_part => word.push(character),
            _ if character.is_whitespace() => {}
            _ => words.push(character.to_string()),
        }
        inside = is_part;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequent_words_are_whole_and_others_are_cut() {
        let text = "The cat didn't sit, the cat sat. The mat!".to_owned();
        let mut texts = vec![text; FEWEST_USES];
        texts.push("A cast".to_owned());
        let pieces = Pieces::new(&texts).unwrap();
        let ids = pieces.ids("The casts didn't.").unwrap();
        let shown: Vec<&str> = ids.iter().map(|&id| pieces.token(id)).collect();
        assert_eq!(
            shown,
            [
                "[CLS]", "the", "c", "##a", "##s", "##t", "##s", "didn", "'", "t", ".", "[SEP]"
            ]
        );
        let whole: Vec<usize> = (1..11)
            .filter(|&place| pieces.is_word(&ids, place))
            .collect();
        assert_eq!(whole, [1, 7, 9]);
        assert_eq!(pieces.token(MASK), "[MASK]");
        assert!(pieces.whole("mat").is_some() && pieces.whole("telescope").is_none());
        let again = WordPiece::new(WordPieceFiles::from_vocab_txt(&pieces.vocab_txt())).unwrap();
        assert_eq!(
            again.encode("the cat").unwrap(),
            ["the", "cat"].map(|word| pieces.whole(word).unwrap())
        );
    }

    #[test]
    fn the_first_version_had_words_and_characters() {
        let texts = vec!["The cat didn't sit, the cat sat.".to_owned(); FEWEST];
        let pieces = Pieces::first(&texts).unwrap();
        let ids = pieces.ids("The cats didn't.").unwrap();
        let shown: Vec<&str> = ids.iter().map(|&id| pieces.token(id)).collect();
        assert_eq!(
            shown,
            ["[CLS]", "the", "cat", "##s", "didn", "'", "t", ".", "[SEP]"]
        );
    }
}
