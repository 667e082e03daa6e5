//! Messages for the reader. They may quote a file: its name, or what it calls its parts, which may
//! have any length and any script.

use leptos::prelude::*;

/// The most characters of a word, from its beginning and from its end.
const WORD: (usize, usize) = (50, 30);

/// The most characters of a message, from its beginning and from its end.
const MESSAGE: (usize, usize) = (600, 200);

/// What is wrong; nothing while nothing is.
pub(super) fn problem(error: RwSignal<Option<String>>) -> AnyView {
    let shown = move || {
        let why = error.get();
        why.map(|why| view! { <p class="cell-error">{message(&why)}</p> })
    };
    view! { <div role="alert">{shown}</div> }.into_any()
}

/// A message of at most 800 characters, each word of at most 80, with three dots in place of those
/// that are left out. No word changes the direction of the words around it: one in letters that are
/// written from right to left is isolated, and a character that would turn what follows is shown as
/// U+FFFD.
pub(super) fn message(text: &str) -> String {
    let words = text.split_inclusive(char::is_whitespace);
    let bounded: String = words.map(|word| ends(word, WORD)).collect();
    let bounded = ends(&bounded, MESSAGE);
    let words = bounded.split_inclusive(char::is_whitespace);
    words.map(isolated).collect()
}

/// The first and the last characters of a text, with three dots in place of those between.
pub(super) fn ends(text: &str, (first, last): (usize, usize)) -> String {
    let count = text.chars().count();
    if count <= first + last {
        return text.to_owned();
    }
    let start = text.chars().take(first).chain(['\u{2026}']);
    start.chain(text.chars().skip(count - last)).collect()
}

/// A word, with the white space after it, that leaves the direction of its neighbours alone.
fn isolated(word: &str) -> String {
    let shown = |c: char| if turns(c) { '\u{fffd}' } else { c };
    let word: String = word.chars().map(shown).collect();
    if !word.chars().any(is_right_to_left) {
        return word;
    }
    let letters = word.trim_end();
    format!("\u{2068}{letters}\u{2069}{}", &word[letters.len()..])
}

/// True for a character that has no shape and changes the direction of others.
fn turns(c: char) -> bool {
    matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

/// True for a letter in a block of Unicode for scripts that are written from right to left.
fn is_right_to_left(c: char) -> bool {
    matches!(
        c,
        '\u{590}'..='\u{8ff}'
            | '\u{fb1d}'..='\u{fdff}'
            | '\u{fe70}'..='\u{feff}'
            | '\u{10800}'..='\u{10fff}'
            | '\u{1e800}'..='\u{1efff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_word_loses_its_middle_and_turns_nothing() {
        let long = format!("config.json: found \u{202e}{}: end.", "x".repeat(20_000));
        let shown = message(&long);
        let word = format!("\u{fffd}{}\u{2026}{}: end.", "x".repeat(49), "x".repeat(28));
        assert_eq!(shown, format!("config.json: found {word}"));
    }

    #[test]
    fn a_long_message_keeps_its_beginning_and_its_end() {
        let shown = message(&format!("It begins {}and it ends.", "so ".repeat(9_000)));
        assert_eq!(shown.chars().count(), 801);
        assert!(shown.starts_with("It begins so ") && shown.ends_with(" so and it ends."));
        assert_eq!(message("Nothing  was\nopened."), "Nothing  was\nopened.");
    }

    #[test]
    fn a_word_from_right_to_left_is_isolated() {
        let shown = message("\u{5d0}\u{5d1}.gguf is open.");
        assert_eq!(shown, "\u{2068}\u{5d0}\u{5d1}.gguf\u{2069} is open.");
    }
}
