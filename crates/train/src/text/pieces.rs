//! The vocabulary of the masked-word model: whole words, and characters for all others.
//!
//! It is a WordPiece vocabulary (Devlin et al. 2019): special tokens, the most frequent words of
//! the training text, and every character that it has, at the beginning of a word and (with `##`)
//! inside one, so that a word that is not frequent is spelled.

use crate::Result;
use engine::token::tokenizer::Tokenizer;
use engine::token::word_piece::{WordPiece, WordPieceFiles};
use std::collections::{BTreeMap, BTreeSet};

/// Words that have a token of their own.
pub const WORDS: usize = 3_000;
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
        let mut words: BTreeMap<String, usize> = BTreeMap::new();
        let mut characters: BTreeMap<char, usize> = BTreeMap::new();
        for text in texts {
            for word in cut(text) {
                *words.entry(word).or_default() += 1;
            }
            let different: BTreeSet<char> = text.to_lowercase().chars().collect();
            for character in different.into_iter().filter(|c| !c.is_whitespace()) {
                *characters.entry(character).or_default() += 1;
            }
        }
        let mut words: Vec<(String, usize)> = words.into_iter().collect();
        // Equally frequent ones stay in alphabetical order.
        words.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        let words = words.into_iter().map(|(word, _)| word);
        let words: Vec<String> = words
            .filter(|word| word.chars().count() > 1)
            .take(WORDS)
            .collect();
        let characters = characters.into_iter().filter(|&(_, count)| count >= FEWEST);
        let characters: Vec<char> = characters.map(|(character, _)| character).collect();
        let mut tokens: Vec<String> = SPECIAL.map(str::to_owned).to_vec();
        tokens.extend(characters.iter().map(char::to_string));
        let inside = characters.iter().filter(|c| c.is_alphanumeric());
        tokens.extend(inside.map(|character| format!("##{character}")));
        tokens.extend(words);
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

    /// Returns whether the token at a position is a whole word: letters alone, and no later token
    /// continues it.
    pub fn is_word(&self, ids: &[usize], place: usize) -> bool {
        let token = |place: usize| self.tokens[ids[place]].as_str();
        let is_alone = !token(place + 1).starts_with("##") || token(place + 1).len() == 2;
        is_alone && token(place).chars().all(char::is_alphabetic)
    }
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
    fn frequent_words_are_whole_and_others_are_spelled() {
        let texts = vec!["The cat didn't sit, the cat sat.".to_owned(); FEWEST];
        let pieces = Pieces::new(&texts).unwrap();
        let ids = pieces.ids("The cats didn't.").unwrap();
        let shown: Vec<&str> = ids.iter().map(|&id| pieces.tokens[id].as_str()).collect();
        assert_eq!(
            shown,
            ["[CLS]", "the", "cat", "##s", "didn", "'", "t", ".", "[SEP]"]
        );
        let whole: Vec<usize> = (1..8)
            .filter(|&place| pieces.is_word(&ids, place))
            .collect();
        assert_eq!(whole, [1, 4, 6]);
        assert_eq!(pieces.tokens[MASK], "[MASK]");
        let again = WordPiece::new(WordPieceFiles::from_vocab_txt(&pieces.vocab_txt())).unwrap();
        assert_eq!(
            again.encode("the cat").unwrap(),
            ids_of(&pieces, &["the", "cat"])
        );
    }

    fn ids_of(pieces: &Pieces, words: &[&str]) -> Vec<usize> {
        let place = |word: &&str| {
            pieces
                .tokens
                .iter()
                .position(|token| token == word)
                .unwrap()
        };
        words.iter().map(place).collect()
    }
}
