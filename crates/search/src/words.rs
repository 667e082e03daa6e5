//! The words of a text, and the form in which they are compared.

use std::ops::Range;

/// Words that are in most sections and tell none of them apart, sorted.
const COMMON: [&str; 63] = [
    "a", "all", "also", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "do",
    "does", "each", "for", "from", "had", "has", "have", "here", "how", "if", "in", "into", "is",
    "it", "its", "may", "more", "no", "not", "of", "on", "one", "only", "or", "other", "same",
    "so", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "to",
    "two", "was", "what", "when", "where", "which", "who", "why", "will", "with", "you",
];

/// Whether a folded word is too common to be searched for.
fn is_common(word: &str) -> bool {
    COMMON.binary_search(&word).is_ok()
}

/// Whether a folded word tells texts apart: it is neither common nor a number nor a single letter.
pub fn is_telling(word: &str) -> bool {
    let is_number = word.chars().all(|c| c.is_ascii_digit());
    word.chars().count() > 1 && !is_number && !is_common(word)
}

/// The form of a word in which it is compared: small letters without accents.
pub fn fold(word: &str) -> String {
    let small = word.chars().flat_map(char::to_lowercase);
    small.fold(String::with_capacity(word.len()), |mut out, c| {
        match plain(c) {
            Some(letters) => out.push_str(letters),
            None => out.push(c),
        }
        out
    })
}

/// The plain letters for a small letter with an accent; empty for an accent that is a character of
/// its own.
fn plain(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{300}'..='\u{36f}' => "",
        'à'..='å' | 'ā' | 'ă' | 'ą' => "a",
        'æ' => "ae",
        'ç' | 'ć' | 'č' => "c",
        'ď' => "d",
        'è'..='ë' | 'ē' | 'ę' | 'ě' => "e",
        'ğ' => "g",
        'ì'..='ï' | 'ī' | 'ı' => "i",
        'ł' => "l",
        'ñ' | 'ń' | 'ň' => "n",
        'ò'..='ö' | 'ø' | 'ō' | 'ő' => "o",
        'œ' => "oe",
        'ř' => "r",
        'ß' => "ss",
        'ś' | 'š' | 'ş' => "s",
        'ť' => "t",
        'ù'..='ü' | 'ū' | 'ů' | 'ű' => "u",
        'ý' | 'ÿ' => "y",
        'ź' | 'ż' | 'ž' => "z",
        _ => return None,
    })
}

/// The places of the words in a text: runs of letters and digits, with the accents on them.
pub fn words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let is_part = |c: char| c.is_alphanumeric() || ('\u{300}'..='\u{36f}').contains(&c);
    let mut rest = 0;
    std::iter::from_fn(move || {
        let start = rest + text[rest..].find(is_part)?;
        let length = text[start..].find(|c| !is_part(c));
        rest = length.map_or(text.len(), |length| start + length);
        Some(start..rest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_folded_to_small_plain_letters() {
        for (word, folded) in [
            ("Attention", "attention"),
            ("PERCHÉ", "perche"),
            ("perche\u{301}", "perche"),
            ("Straße", "strasse"),
            ("Œuvre", "oeuvre"),
            ("Θ", "θ"),
            ("GPT2", "gpt2"),
        ] {
            assert_eq!(fold(word), folded);
        }
    }

    #[test]
    fn a_text_is_cut_where_letters_and_digits_end() {
        let cut = |text: &'static str| -> Vec<&str> { words(text).map(|at| &text[at]).collect() };
        assert_eq!(
            cut("Self-attention: 3\u{d7}4 \u{2013} l\u{2019}année."),
            ["Self", "attention", "3", "4", "l", "année"]
        );
        assert_eq!(cut("e\u{301}te\u{301}"), ["e\u{301}te\u{301}"]);
        assert_eq!(cut(" ,. "), Vec::<&str>::new());
    }

    #[test]
    fn common_words_can_be_looked_up() {
        assert!(COMMON.is_sorted());
        assert!(is_common("the") && is_common("a") && is_common("you"));
        assert!(!is_common("attention") && !is_common(""));
        for dull in ["the", "2017", "8", "d", ""] {
            assert!(!is_telling(dull), "{dull}");
        }
        assert!(is_telling("gpt") && is_telling("q8"));
    }
}
