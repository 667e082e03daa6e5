//! General categories and decompositions from the browser, which knows some version of Unicode; the
//! classes of a character do not change after the version that brought it.

use std::thread::LocalKey;

use js_sys::{JsString, RegExp};

thread_local! {
    static LETTER: RegExp = RegExp::new(r"\p{L}", "u");
    static NUMBER: RegExp = RegExp::new(r"\p{N}", "u");
    static ALPHANUMERIC: RegExp = RegExp::new(r"[\p{Alphabetic}\p{N}]", "u");
    static PUNCTUATION: RegExp = RegExp::new(r"\p{P}", "u");
    static FORMAT: RegExp = RegExp::new(r"\p{Cf}", "u");
    static MARK: RegExp = RegExp::new(r"\p{Mn}", "u");
}

fn is(class: &'static LocalKey<RegExp>, character: char) -> bool {
    class.with(|class| class.test(character.encode_utf8(&mut [0; 4])))
}

/// True for general category L (letters).
pub fn is_letter(character: char) -> bool {
    is(&LETTER, character)
}

/// True for general category N (numbers).
pub fn is_number(character: char) -> bool {
    is(&NUMBER, character)
}

/// True for letters with their vowel signs, and for numbers (property Alphabetic or general category
/// N).
pub fn is_alphanumeric(character: char) -> bool {
    is(&ALPHANUMERIC, character)
}

/// A text in lower case, by Unicode's default rules.
pub fn lowercase(text: &str) -> String {
    JsString::from(text).to_lower_case().into()
}

/// True for general category P (punctuation).
pub fn is_punctuation(character: char) -> bool {
    is(&PUNCTUATION, character)
}

/// True for general category Cf (format).
pub fn is_format(character: char) -> bool {
    is(&FORMAT, character)
}

/// Appends the remaining letters of a character that is decomposed canonically (NFD) and loses its
/// marks (general category Mn).
pub fn push_without_accents(character: char, out: &mut String) {
    let character: JsString = character.into();
    let parts = String::from(character.normalize("NFD"));
    out.extend(parts.chars().filter(|&part| !is(&MARK, part)));
}
