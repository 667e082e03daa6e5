//! What the masked-word model is measured on: held-out texts with one word hidden.
//!
//! The texts, and the word of each that is hidden, are those of the first version of the model, so
//! both versions are measured on the same questions. A question holds words and not ids: each
//! version reads it with its own vocabulary.

use super::corpus::Corpus;
use super::pieces::{self, Pieces};
use crate::Result;
use engine::rng::Rng;

/// The most pieces of a text, its ends counted, in the first version.
const CONTEXT: usize = 48;
/// Held-out texts of which a word is hidden: for validation, and for the card.
const LOOKED_AT: usize = 1_000;
const MEASURED: usize = 4_000;

/// A text with one word hidden.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The words and punctuation marks before the hidden word, with spaces between them.
    pub before: String,
    /// The hidden word, in lower case.
    pub answer: String,
    /// What follows the hidden word.
    pub after: String,
}

/// A question as the model reads it.
#[derive(Debug, Clone)]
pub struct Asked {
    /// `[CLS]`, the pieces with [`pieces::MASK`] for the hidden word, `[SEP]`.
    pub ids: Vec<usize>,
    /// The position of the hidden word.
    pub place: usize,
    /// The id of the hidden word; `None` where it is not one piece, so that no answer is right.
    pub answer: Option<usize>,
}

/// The questions for validation and for the card.
///
/// # Errors
/// None that texts could cause; the type is that of [`Pieces::first`].
pub fn questions(first: &Corpus) -> Result<(Vec<Question>, Vec<Question>)> {
    let pieces = Pieces::first(&first.training)?;
    let of = |texts: &[String], most: usize| {
        let mut all = Vec::new();
        for text in texts {
            let ids = pieces.ids(text)?;
            if (4..=CONTEXT).contains(&ids.len()) {
                all.push(ids);
            }
        }
        let asked = all.iter().enumerate();
        let asked = asked.filter_map(|(n, ids)| question(&pieces, ids, n));
        Ok::<_, crate::TrainError>(asked.take(most).collect())
    };
    Ok((
        of(&first.validation, LOOKED_AT)?,
        of(&first.test, MEASURED)?,
    ))
}

/// A text with one of its whole words hidden, the same one each time; `None` where it has none.
fn question(pieces: &Pieces, ids: &[usize], n: usize) -> Option<Question> {
    let words: Vec<usize> = (1..ids.len() - 1)
        .filter(|&place| pieces.is_word(ids, place))
        .collect();
    let mut rng = Rng::named(n as u64, "masked word");
    let place = *words.get(rng.below(words.len()))?;
    Some(Question {
        before: text(pieces, &ids[1..place]),
        answer: pieces.token(ids[place]).to_owned(),
        after: text(pieces, &ids[place + 1..ids.len() - 1]),
    })
}

/// Pieces as words with spaces between them.
fn text(pieces: &Pieces, ids: &[usize]) -> String {
    let mut text = String::new();
    for &id in ids {
        match pieces.is_inside(id) {
            true => text.push_str(&pieces.token(id)[2..]),
            false => {
                text.push(' ');
                text.push_str(pieces.token(id));
            }
        }
    }
    text.trim_start().to_owned()
}

impl Question {
    /// The question in the ids of a vocabulary.
    ///
    /// # Errors
    /// None that a text could cause; the type is the tokenizer's.
    pub fn asked(&self, pieces: &Pieces) -> Result<Asked> {
        let mut ids = pieces.ids(&self.before)?;
        ids.pop();
        let place = ids.len();
        ids.push(pieces::MASK);
        ids.extend(pieces.ids(&self.after)?.into_iter().skip(1));
        Ok(Asked {
            ids,
            place,
            answer: pieces.whole(&self.answer),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_read_with_another_vocabulary() {
        let texts = vec!["The cat didn't sit, the cat sat.".to_owned(); 30];
        let first = Pieces::first(&texts).unwrap();
        let ids = first.ids("The cats sat.").unwrap();
        let questions: Vec<Question> = (0..20).filter_map(|n| question(&first, &ids, n)).collect();
        let expected = |before: &str, answer: &str, after: &str| Question {
            before: before.to_owned(),
            answer: answer.to_owned(),
            after: after.to_owned(),
        };
        assert!(questions.contains(&expected("the cats", "sat", ".")));
        assert!(questions.contains(&expected("", "the", "cats sat .")));
        let pieces = Pieces::new(&texts).unwrap();
        let asked = expected("the cats", "sat", ".").asked(&pieces).unwrap();
        assert_eq!(asked.place, 4);
        assert_eq!(asked.answer, pieces.whole("sat"));
        assert_eq!(asked.ids.len(), 7);
        assert_eq!(asked.ids[asked.place], pieces::MASK);
    }
}
