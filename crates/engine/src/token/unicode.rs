//! The classes of characters by which tokenizers split, and the letters that remain when accents
//! are dropped.
//!
//! The standard library knows letters only together with vowel signs ("alphabetic"); the rules of
//! GPT-2 and BERT are written in general categories, so those are tables here.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::unicode_tables::{FORMATS, LETTERS, MARKS, PUNCTUATION};

/// True for a character in a class, which is given by the borders at which it begins and ends.
fn within(borders: &[u32], character: char) -> bool {
    borders.partition_point(|&border| border <= u32::from(character)) % 2 == 1
}

/// True for general category L.
pub(super) fn is_letter(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_alphabetic();
    }
    within(&LETTERS, character)
}

/// True for general category N.
pub(super) fn is_number(character: char) -> bool {
    character.is_numeric()
}

/// True for general category P.
pub(super) fn is_punctuation(character: char) -> bool {
    within(&PUNCTUATION, character)
}

/// True for invisible characters: control, format and private use (general categories Cc, Cf, Co).
pub(super) fn is_invisible(character: char) -> bool {
    character.is_control()
        || within(&FORMATS, character)
        || matches!(character, '\u{E000}'..='\u{F8FF}' | '\u{F0000}'..='\u{FFFFD}' | '\u{100000}'..='\u{10FFFD}')
}

/// Lines `remaining letters TAB the characters that become them`.
static ACCENTS: &str = include_str!("accents.txt");

/// Appends the remaining letters of a character that is decomposed canonically (NFD) and loses its
/// marks (general category Mn).
pub(super) fn push_without_accents(character: char, out: &mut String) {
    static STAYS: OnceLock<HashMap<char, &'static str>> = OnceLock::new();
    if character.is_ascii() {
        out.push(character);
    } else if let Some(parts) = hangul(character) {
        out.extend(parts.into_iter().flatten());
    } else if !within(&MARKS, character) {
        let stays = STAYS.get_or_init(|| {
            let lines = ACCENTS.lines().filter_map(|line| line.split_once('\t'));
            lines
                .flat_map(|(stays, from)| from.chars().map(move |character| (character, stays)))
                .collect()
        });
        match stays.get(&character) {
            Some(letters) => out.push_str(letters),
            None => out.push(character),
        }
    }
}

/// The two or three letters of a Hangul syllable (The Unicode Standard, section 3.12).
fn hangul(syllable: char) -> Option<[Option<char>; 3]> {
    const SYLLABLES: std::ops::Range<u32> = 0xAC00..0xD7A4;
    const VOWELS: u32 = 21;
    const FINALS: u32 = 28;
    let point = u32::from(syllable);
    if !SYLLABLES.contains(&point) {
        return None;
    }
    let index = point - SYLLABLES.start;
    let last = index % FINALS;
    Some([
        char::from_u32(0x1100 + index / (VOWELS * FINALS)),
        char::from_u32(0x1161 + index / FINALS % VOWELS),
        char::from_u32(0x11A7 + last).filter(|_| last > 0),
    ])
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
            within(&LETTERS, c) == c.is_ascii_alphabetic()
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
