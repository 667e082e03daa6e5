//! The theme that the page has now, for what is drawn outside the DOM.

use std::cell::RefCell;

use ::plot::Theme;
use leptos::prelude::*;

use crate::browser::theme::{changes, style};

/// The theme that the page has now.
pub fn current() -> Theme {
    // It is read once for each change: to ask for a colour has the browser lay out the page at
    // once.
    let now = changes().get_untracked();
    let known = KNOWN.with_borrow(|known| known.clone().filter(|(read_at, _)| *read_at == now));
    let (_, theme) = known.unwrap_or_else(|| {
        let read = (now, read());
        KNOWN.set(Some(read.clone()));
        read
    });
    theme
}

fn read() -> Theme {
    style().map_or_else(Theme::default, |style| {
        Theme::new(style.value("--sans"), |name| parse_hex(&style.value(name)))
    })
}

/// `#rgb` or `#rrggbb`; what follows (alpha) is left out.
fn parse_hex(text: &str) -> Option<[u8; 3]> {
    let digits: Vec<u8> = text
        .strip_prefix('#')?
        .chars()
        .map(|c| c.to_digit(16).map(|d| d as u8))
        .collect::<Option<_>>()?;
    match digits[..] {
        [r, g, b] | [r, g, b, _] => Some([r, g, b].map(|d| d * 17)),
        [a, b, c, d, e, f, ..] => Some([a * 16 + b, c * 16 + d, e * 16 + f]),
        _ => None,
    }
}

thread_local! {
    /// Number of changes of the theme so far, and the theme read then.
    static KNOWN: RefCell<Option<(u32, Theme)>> = const { RefCell::new(None) };
}

#[cfg(test)]
mod tests {
    use super::parse_hex;

    #[test]
    fn reads_colours() {
        assert_eq!(parse_hex("#1d44a3"), Some([0x1d, 0x44, 0xa3]));
        assert_eq!(parse_hex("#fff"), Some([255, 255, 255]));
        assert_eq!(parse_hex("#1d44a380"), Some([0x1d, 0x44, 0xa3]));
        assert_eq!(parse_hex("red"), None);
        assert_eq!(parse_hex("#12"), None);
    }
}
