//! Sets of sentences with all their accepted translations.

use super::text::{length, normalised};
use crate::error::{EngineError, Result};

/// An English sentence and its Italian versions, all normalised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// The sentence.
    pub english: String,
    /// Accepted translations; at least one.
    pub italian: Vec<String>,
}

impl Pair {
    /// The English words.
    pub fn words(&self) -> usize {
        length(&self.english)
    }
}

/// The pairs of a set written as the site's own is: on each line English, a tab, and the Italian
/// versions with ` | ` between.
///
/// ```
/// use engine::translate::read_set;
/// let set = read_set("We see.\tVediamo. | Noi vediamo.\n")?;
/// assert_eq!((set[0].english.as_str(), set[0].italian[1].as_str()), ("we see", "noi vediamo"));
/// let error = read_set("We see.\tVediamo.\nWe sleep.\n").unwrap_err().to_string();
/// assert_eq!(error, "read_set: expected English, a tab, and versions with ` | ` between, found \"We sleep.\" on line 2");
/// # Ok::<(), engine::EngineError>(())
/// ```
///
/// # Errors
/// When a line has another form; the message names it.
pub fn read_set(text: &str) -> Result<Vec<Pair>> {
    let mut pairs = Vec::new();
    for (n, line) in text.lines().enumerate() {
        let wrong = || {
            let found: String = line.chars().take(60).collect();
            let expected = "English, a tab, and versions with ` | ` between";
            EngineError::shape(
                "read_set",
                expected,
                format!("\"{found}\" on line {}", n + 1),
            )
        };
        let (english, italian) = line.split_once('\t').ok_or_else(wrong)?;
        let pair = Pair {
            english: normalised(english),
            italian: italian.split(" | ").map(normalised).collect(),
        };
        if pair.english.is_empty() || pair.italian.iter().any(String::is_empty) {
            return Err(wrong());
        }
        pairs.push(pair);
    }
    Ok(pairs)
}
