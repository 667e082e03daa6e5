//! Sentences as the translators know them.

use crate::token::unicode::lowercase;

/// A sentence in lower case, with straight quotes, single spaces, and without the full stop or
/// exclamation mark at its end, so "We see the sky." and "we see the sky" are one sentence. A
/// question keeps its mark, which changes the meaning.
///
/// ```
/// use engine::translate::normalised;
/// assert_eq!(normalised("  We\u{a0}see the sky!. "), "we see the sky");
/// assert_eq!(normalised("L’hai visto ?"), "l'hai visto?");
/// ```
pub fn normalised(sentence: &str) -> String {
    let mut out = String::with_capacity(sentence.len());
    for character in lowercase(sentence).chars() {
        match character {
            '’' | '‘' | '`' | '´' => out.push('\''),
            '“' | '”' | '«' | '»' => out.push('"'),
            '…' => out.push_str("..."),
            // Invisible: a soft hyphen, a space without width.
            '\u{ad}' | '\u{200b}' | '\u{feff}' => {}
            space if space.is_whitespace() => {
                if !out.ends_with(' ') {
                    out.push(' ');
                }
            }
            mark @ ('.' | ',' | '?' | '!' | ';' | ':') => {
                out.truncate(out.trim_end().len());
                out.push(mark);
            }
            other => out.push(other),
        }
    }
    let end = |character: char| matches!(character, '.' | '!' | ' ');
    out.trim_start().trim_end_matches(end).to_owned()
}

/// The number of words of a normalised sentence, which spaces separate.
pub fn length(normalised: &str) -> usize {
    normalised
        .split(' ')
        .filter(|word| !word.is_empty())
        .count()
}
