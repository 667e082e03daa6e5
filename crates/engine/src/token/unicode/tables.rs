//! General categories and decompositions as tables, the same in every program.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::borders::{FORMATS, LETTERS, MARKS, PUNCTUATION};

/// True for a character in a class, which is given by the borders at which it begins and ends.
fn within(borders: &[u32], character: char) -> bool {
    borders.partition_point(|&border| border <= u32::from(character)) % 2 == 1
}

/// True for general category L (letters).
pub fn is_letter(character: char) -> bool {
    within(&LETTERS, character)
}

/// True for general category N (numbers).
pub fn is_number(character: char) -> bool {
    character.is_numeric()
}

/// True for letters with their vowel signs, and for numbers (property Alphabetic or general category
/// N).
pub fn is_alphanumeric(character: char) -> bool {
    character.is_alphanumeric()
}

/// A text in lower case, by Unicode's default rules.
pub fn lowercase(text: &str) -> String {
    text.to_lowercase()
}

/// True for general category P (punctuation).
pub fn is_punctuation(character: char) -> bool {
    within(&PUNCTUATION, character)
}

/// True for general category Cf (format).
pub fn is_format(character: char) -> bool {
    within(&FORMATS, character)
}

/// Lines `remaining letters TAB the characters that become them`.
static ACCENTS: &str = include_str!("accents.txt");

/// Appends the remaining letters of a character that is decomposed canonically (NFD) and loses its
/// marks (general category Mn).
pub fn push_without_accents(character: char, out: &mut String) {
    static STAYS: OnceLock<HashMap<char, &'static str>> = OnceLock::new();
    if let Some(parts) = hangul(character) {
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
