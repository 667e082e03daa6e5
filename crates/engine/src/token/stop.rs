//! Stop strings, which end a text that comes in parts.

use crate::error::{EngineError, Result};

/// A search for stop strings in a text that comes in parts. Text that may be the beginning of a
/// stop string is held back.
///
/// ```
/// use engine::token::stop::StopStrings;
/// let mut stop = StopStrings::new(vec!["\nYou:".to_owned()])?;
/// assert_eq!(stop.push("Yes.\nYo"), ("Yes.".to_owned(), None));
/// assert_eq!(stop.push("hoho"), ("\nYohoho".to_owned(), None));
/// assert_eq!(stop.push("!\nYou: no"), ("!".to_owned(), Some("\nYou:".to_owned())));
/// # Ok::<(), engine::EngineError>(())
/// ```
#[derive(Debug, Clone)]
pub struct StopStrings {
    stops: Vec<String>,
    held: String,
}

impl StopStrings {
    /// A search for some strings, which may be none.
    ///
    /// # Errors
    /// When one of them is empty.
    pub fn new(stops: Vec<String>) -> Result<Self> {
        if stops.iter().any(String::is_empty) {
            let (operation, found) = ("stop strings", "\"\"");
            return Err(EngineError::value(operation, "text", "not empty", found));
        }
        Ok(Self {
            stops,
            held: String::new(),
        })
    }

    /// Takes more text. Returns the text that is known to be before any stop string, and the stop
    /// string that is complete first, the longest of those that end together. The text after it is
    /// dropped.
    pub fn push(&mut self, more: &str) -> (String, Option<String>) {
        let before = self.held.len();
        self.held.push_str(more);
        for (at, character) in self.held.char_indices().filter(|&(at, _)| at >= before) {
            let text = &self.held[..at + character.len_utf8()];
            let ended = |stop: &&String| text.ends_with(stop.as_str());
            let found = self.stops.iter().filter(ended);
            if let Some(stop) = found.max_by_key(|stop| stop.len()).cloned() {
                let text = text[..text.len() - stop.len()].to_owned();
                self.held.clear();
                return (text, Some(stop));
            }
        }
        let may_begin = |at: &usize| {
            let rest = &self.held[*at..];
            self.stops.iter().any(|stop| stop.starts_with(rest))
        };
        let mut starts = self.held.char_indices().map(|(at, _)| at);
        let known = starts.find(may_begin).unwrap_or(self.held.len());
        let held = self.held.split_off(known);
        (std::mem::replace(&mut self.held, held), None)
    }

    /// The text that was held back, when no more text comes.
    pub fn finish(&mut self) -> String {
        std::mem::take(&mut self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text before the stop string and the stop string, with the text given in parts of some
    /// characters.
    fn in_parts(text: &str, stops: &[&str], size: usize) -> (String, Option<String>) {
        let mut stop =
            StopStrings::new(stops.iter().map(|&stop| stop.to_owned()).collect()).unwrap();
        let characters: Vec<char> = text.chars().collect();
        let mut given = String::new();
        for part in characters.chunks(size) {
            let (text, found) = stop.push(&part.iter().collect::<String>());
            given += &text;
            if found.is_some() {
                return (given, found);
            }
        }
        (given + &stop.finish(), None)
    }

    #[test]
    fn parts_of_any_size_give_the_same_text() {
        let cases: [(&str, &[&str], &str, Option<&str>); 7] = [
            ("one two three", &["two"], "one ", Some("two")),
            ("aabaabaac", &["aabaac"], "aab", Some("aabaac")),
            // The one that is complete first.
            ("xabc", &["abc", "b"], "xa", Some("b")),
            // Of two that end together the longest.
            ("xéab", &["b", "éab"], "x", Some("éab")),
            ("never", &["vern", "r!"], "never", None),
            ("", &["a"], "", None),
            ("all of it", &[], "all of it", None),
        ];
        for (text, stops, before, stop) in cases {
            for size in 1..=10 {
                let found = in_parts(text, stops, size);
                assert_eq!(
                    found,
                    (before.to_owned(), stop.map(str::to_owned)),
                    "{text:?} {size}"
                );
            }
        }
    }

    #[test]
    fn nothing_is_held_back_without_need() {
        let mut stop = StopStrings::new(vec!["END".to_owned()]).unwrap();
        assert_eq!(stop.push("the E").0, "the ");
        assert_eq!(stop.push("E").0, "E");
        assert_eq!(stop.push("Nd").0, "ENd");
        assert_eq!(stop.finish(), "");
        assert!(StopStrings::new(vec![String::new()]).is_err());
    }
}
