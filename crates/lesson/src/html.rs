//! Text as HTML.

use std::fmt::Write as _;

/// Escapes text for element content and for attributes in either kind of quotes.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}

/// Escapes text for an attribute in single quotes, leaving double quotes readable: right for JSON.
pub fn escape_single_quoted(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('\'', "&#39;")
}

/// The id that a heading's text gives: lower case letters and digits, joined by hyphens.
pub fn slug(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars().flat_map(char::to_lowercase) {
        if c.is_alphanumeric() {
            out.push(c);
        } else if c != '\'' && c != '\u{2019}' && !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    out.truncate(out.trim_end_matches('-').len());
    out
}

/// A definition list of label and value pairs; nothing for no pairs.
pub fn definitions(class: &str, pairs: &[(String, String)]) -> String {
    if pairs.is_empty() {
        return String::new();
    }
    let mut out = format!("<dl class=\"{class}\">");
    for (label, value) in pairs {
        // Writing to a String cannot fail.
        let _ = write!(out, "<dt>{}</dt><dd>{}</dd>", escape(label), escape(value));
    }
    out.push_str("</dl>");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_read_like_the_heading() {
        assert_eq!(
            slug("What the reader\u{2019}s eye sees: Q, K & V"),
            "what-the-readers-eye-sees-q-k-v"
        );
        assert_eq!(slug("  "), "");
        assert_eq!(slug("\u{c9}tude 2"), "\u{e9}tude-2");
    }

    #[test]
    fn json_survives_single_quotes() {
        assert_eq!(
            escape_single_quoted(r#"{"a":"it's <b>"}"#),
            "{\"a\":\"it&#39;s &lt;b&gt;\"}"
        );
    }
}
