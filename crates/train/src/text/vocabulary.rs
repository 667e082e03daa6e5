//! The vocabularies, learned by our own byte-pair encoding.

use crate::Result;
use engine::token::added::AddedToken;
use engine::token::byte_bpe::{ByteBpe, ByteBpeFiles};
use engine::token::split::Split;
use engine::token::tokenizer::{SpecialTokens, Tokenizer};
use engine::token::train::train;

/// The token that begins and ends texts.
pub const END: &str = "<|endoftext|>";

/// A byte-level vocabulary of at most `size` tokens, learned from a text: 256 bytes, the merges,
/// and [`END`] as the last one.
///
/// # Errors
/// None that a text could cause; the type is that of [`train`].
pub fn learned(text: &str, size: usize) -> Result<ByteBpe> {
    let trained = train(text, size.saturating_sub(257), Split::Gpt2)?;
    let learned = trained.tokenizer;
    let piece = |id: usize| learned.token(id).unwrap_or_default().to_owned();
    let mut tokens: Vec<String> = (0..learned.size()).map(piece).collect();
    let merges = learned.merges().into_iter();
    let merges = merges.map(|(left, right, _)| format!("{} {}", tokens[left], tokens[right]));
    let merges = merges.collect();
    let end = tokens.len();
    tokens.push(END.to_owned());
    Ok(ByteBpe::new(ByteBpeFiles {
        tokens,
        merges,
        added: vec![AddedToken {
            text: END.to_owned(),
            id: end,
            special: true,
            ..AddedToken::default()
        }],
        special: SpecialTokens {
            begin: Some(end),
            end: Some(end),
            add_begin: true,
            ..SpecialTokens::default()
        },
        ..ByteBpeFiles::default()
    })?)
}

/// Sentences as one text to learn from, each with the space before it with which it is read.
pub fn joined<'a>(sentences: impl Iterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for sentence in sentences {
        text.push(' ');
        text.push_str(sentence);
        text.push('\n');
    }
    text
}

/// Texts as one to learn from, a line each.
pub fn joined_lines(texts: &[String]) -> String {
    let mut text = texts.join("\n");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::token::json;
    use tools::tokenizer_json::tokenizer_json;

    #[test]
    fn a_word_has_one_token_wherever_it_stands() {
        let text = joined(
            ["il gatto dorme", "dorme il gatto"]
                .into_iter()
                .cycle()
                .take(20),
        );
        let vocabulary = learned(&text, 280).unwrap();
        assert_eq!(vocabulary.special().end, Some(vocabulary.size() - 1));
        let ids = vocabulary.encode(" gatto il dorme").unwrap();
        assert_eq!(ids.len(), 3);
        let again = json::tokenizer(&tokenizer_json(&vocabulary).unwrap()).unwrap();
        assert_eq!(again.encode(" gatto il dorme").unwrap(), ids);
        assert_eq!(again.special(), vocabulary.special());
        assert_eq!(again.size(), vocabulary.size());
    }
}
