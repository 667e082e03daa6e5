//! JSON texts, read by this crate or by the program that it runs in.
//!
//! A browser has a reader of JSON. A program in a tab that reads only small files of its own leaves
//! the work to it, and does not have to bring a reader along.

use serde_json::Value;

/// Reads a text as one JSON value; the error says what is wrong with the text.
pub type ReadJson = fn(&str) -> Result<Value, String>;

/// Reads a text as one JSON value, with this crate's own reader.
///
/// # Errors
/// When the text is not JSON; the message says where.
pub fn read(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_whole_or_refused() {
        assert_eq!(read(r#"{"a": [1, null]}"#).unwrap()["a"][0], 1);
        let error = read("{} x").unwrap_err();
        assert!(error.contains("trailing characters"), "{error}");
    }
}
