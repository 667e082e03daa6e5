//! The classes of characters by which tokenizers split, and the letters that remain when accents
//! are dropped.
//!
//! The standard library knows letters only together with vowel signs ("alphabetic"); the rules of
//! GPT-2 and BERT are written in general categories. They come from tables, or from the browser
//! where that is there anyway (feature `browser`): the tables are 14 kB after gzip.

mod borders;
#[cfg(all(feature = "browser", target_family = "wasm"))]
pub mod browser;
pub mod tables;

#[cfg(all(feature = "browser", target_family = "wasm"))]
use browser as source;
#[cfg(not(all(feature = "browser", target_family = "wasm")))]
use tables as source;

/// True for general category L.
pub(super) fn is_letter(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_alphabetic();
    }
    source::is_letter(character)
}

/// True for general category N.
pub(super) fn is_number(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_digit();
    }
    source::is_number(character)
}

/// True for letters with their vowel signs, and for numbers (property Alphabetic or general category
/// N).
pub fn is_alphanumeric(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_alphanumeric();
    }
    source::is_alphanumeric(character)
}

/// A text in lower case.
pub(crate) fn lowercase(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    source::lowercase(text)
}

/// True for general category P.
pub(super) fn is_punctuation(character: char) -> bool {
    source::is_punctuation(character)
}

/// True for invisible characters: control, format and private use (general categories Cc, Cf, Co).
pub(super) fn is_invisible(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{E000}'..='\u{F8FF}' | '\u{F0000}'..='\u{FFFFD}' | '\u{100000}'..='\u{10FFFD}')
        || !character.is_ascii() && source::is_format(character)
}

/// Appends the remaining letters of a character that is decomposed canonically (NFD) and loses its
/// marks (general category Mn).
pub(super) fn push_without_accents(character: char, out: &mut String) {
    if character.is_ascii() {
        out.push(character);
    } else {
        source::push_without_accents(character, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        let mut out = String::new();
        text.chars()
            .for_each(|character| push_without_accents(character, &mut out));
        out
    }

    #[test]
    fn letters_are_general_category_l() {
        assert!("aZéßЖ我ªカ𝒳".chars().all(is_letter));
        // A vowel sign and a letter-like number are alphabetic, but no letters.
        assert!("\u{17B6}\u{2160}ⓐ1 _".chars().all(|c| !is_letter(c)));
        assert!("3½Ⅷ٣".chars().all(is_number));
    }

    #[test]
    fn tables_agree_with_ascii() {
        assert!((0..128u8).map(char::from).all(|c| {
            tables::is_letter(c) == c.is_ascii_alphabetic()
                && (!is_punctuation(c) || c.is_ascii_punctuation())
        }));
    }

    #[test]
    fn accents_go_and_letters_stay() {
        assert_eq!(
            plain("Cửa Việt, Führer, naïve, Ἀθῆναι"),
            "Cua Viet, Fuhrer, naive, Αθηναι"
        );
        assert_eq!(plain("cafe\u{301} ß ø 我 \u{F900}"), "cafe ß ø 我 \u{8C48}");
        assert_eq!(plain("각가"), "\u{1100}\u{1161}\u{11A8}\u{1100}\u{1161}");
        assert_eq!(plain("\u{344}"), "");
    }

    #[test]
    fn invisible_characters() {
        assert!(
            "\u{0}\u{7F}\u{AD}\u{200D}\u{E000}\u{FEFF}"
                .chars()
                .all(is_invisible)
        );
        assert!("a \u{301}我".chars().all(|c| !is_invisible(c)));
    }
}
