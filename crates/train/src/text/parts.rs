//! Texts as the masked-word model reads them: in parts that fit into its context.

use super::pieces::Pieces;
use super::stories::sentences;
use crate::Result;
use std::ops::{Range, RangeInclusive};

/// The positions of each word's pieces, without the ends of the text.
pub fn words(pieces: &Pieces, ids: &[usize]) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    for place in 1..ids.len() - 1 {
        match words.last_mut() {
            Some(word) if pieces.is_inside(ids[place]) => word.end = place + 1,
            _ => words.push(place..place + 1),
        }
    }
    words
}

/// A text as the model reads it: whole, or in parts of as many whole sentences as fit. `lengths` are
/// the fewest and the most pieces of a part, its ends counted; a text or a sentence of a long text
/// that has fewer or more is left out.
///
/// # Errors
/// None that a text could cause; the type is the tokenizer's.
pub fn parts(
    pieces: &Pieces,
    text: &str,
    lengths: RangeInclusive<usize>,
) -> Result<Vec<Vec<usize>>> {
    let whole = pieces.ids(text)?;
    if whole.len() <= *lengths.end() {
        let is_enough = lengths.contains(&whole.len());
        return Ok(Vec::from_iter(is_enough.then_some(whole)));
    }
    let mut parts: Vec<Vec<usize>> = Vec::new();
    let mut is_open = false;
    for sentence in sentences(text) {
        let ids = pieces.ids(sentence)?;
        if !lengths.contains(&ids.len()) {
            is_open = false;
            continue;
        }
        match parts.last_mut() {
            // Both have two ends.
            Some(part) if is_open && part.len() + ids.len() - 2 <= *lengths.end() => {
                part.pop();
                part.extend_from_slice(&ids[1..]);
            }
            _ => parts.push(ids),
        }
        is_open = true;
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces() -> Pieces {
        let text = "The cat sat. The dog ran. It slept!".to_owned();
        Pieces::new(&vec![text; 30]).unwrap()
    }

    #[test]
    fn long_texts_are_cut_between_sentences() {
        let pieces = pieces();
        let shown = |text: &str, lengths| -> Vec<String> {
            let parts = parts(&pieces, text, lengths).unwrap();
            let token = |&id: &usize| pieces.token(id).to_owned();
            let joined = |part: &Vec<usize>| part.iter().map(token).collect::<Vec<_>>().join(" ");
            parts.iter().map(joined).collect()
        };
        let text = "The cat sat. The dog ran. It slept!";
        assert_eq!(shown(text, 4..=64).len(), 1);
        assert_eq!(
            shown(text, 4..=10),
            [
                "[CLS] the cat sat . the dog ran . [SEP]",
                "[CLS] it slept ! [SEP]"
            ]
        );
        // The last sentence has too few pieces, and none of the others fits with another.
        assert_eq!(shown(text, 6..=9).len(), 2);
        assert!(shown("It", 4..=9).is_empty());
    }

    #[test]
    fn a_word_is_all_its_pieces() {
        let pieces = pieces();
        let ids = pieces.ids("The cats sat").unwrap();
        let found = words(&pieces, &ids);
        assert_eq!(found, [1..2, 2..4, 4..5]);
    }
}
