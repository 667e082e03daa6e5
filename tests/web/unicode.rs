//! What the engine asks the browser for is what its tables say.

use engine::decimal::decimal;
use engine::token::unicode::{browser, tables};
use js_sys::RegExp;
use wasm_bindgen_test::wasm_bindgen_test;

/// The characters of the languages that a reader may type, and some of all others, but for those
/// that the browser's version of Unicode does not have.
fn characters() -> impl Iterator<Item = char> {
    let unassigned = RegExp::new(r"\p{Cn}", "u");
    let points = (0..0x3400).chain((0x3400..0x2_FFFF).step_by(13));
    let characters = points.filter_map(char::from_u32);
    characters.filter(move |character| !unassigned.test(&character.to_string()))
}

#[wasm_bindgen_test]
fn classes_of_characters_are_those_of_the_tables() {
    for character in characters() {
        let of_browser = [
            browser::is_letter(character),
            browser::is_number(character),
            browser::is_alphanumeric(character),
            browser::is_punctuation(character),
            browser::is_format(character),
        ];
        let of_tables = [
            tables::is_letter(character),
            tables::is_number(character),
            tables::is_alphanumeric(character),
            tables::is_punctuation(character),
            tables::is_format(character),
        ];
        assert_eq!(of_browser, of_tables, "{character:?}");
    }
}

#[wasm_bindgen_test]
fn letters_lose_the_same_accents_and_become_small_in_the_same_way() {
    for character in characters() {
        let (mut of_browser, mut of_tables) = (String::new(), String::new());
        browser::push_without_accents(character, &mut of_browser);
        tables::push_without_accents(character, &mut of_tables);
        assert_eq!(of_browser, of_tables, "{character:?}");
        let text = character.to_string();
        assert_eq!(browser::lowercase(&text), tables::lowercase(&text));
    }
    let greek = "\u{39f}\u{394}\u{3a5}\u{3a3}\u{3a3}\u{395}\u{3a5}\u{3a3} \u{130}";
    assert_eq!(browser::lowercase(greek), tables::lowercase(greek));
}

#[wasm_bindgen_test]
fn numbers_have_the_digits_that_the_standard_library_writes() {
    for number in [
        0.0,
        0.1,
        -2.5,
        1.0 / 3.0,
        100_000.0,
        0.000_123,
        f64::INFINITY,
        f64::NAN,
    ] {
        assert_eq!(decimal(number), number.to_string());
    }
}
