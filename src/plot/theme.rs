//! Colours and type of the page, for what is drawn outside the DOM.

use std::cell::RefCell;

use leptos::prelude::*;

use crate::browser::theme::{changes, style};
use crate::display::Concept;

/// Colours and type of one drawing.
#[derive(Debug, Clone, PartialEq)]
pub struct Theme {
    /// Text.
    pub ink: [u8; 3],
    /// Axis numbers.
    pub soft: [u8; 3],
    /// Lines of the grid.
    pub rule: [u8; 3],
    /// Behind the drawing.
    pub sheet: [u8; 3],
    /// Font family, as CSS lists it.
    pub font: String,
    /// Accent colours, by [`Concept`].
    pub concepts: [[u8; 3]; 9],
    /// Pixels of the drawing per CSS pixel.
    pub scale: f64,
    /// Factor of font sizes: a backend may print them smaller than asked.
    pub text: f64,
}

const CONCEPTS: [Concept; 9] = [
    Concept::Query,
    Concept::Key,
    Concept::Value,
    Concept::Position,
    Concept::Residual,
    Concept::Output,
    Concept::Score,
    Concept::Weight,
    Concept::Plain,
];

impl Default for Theme {
    /// Ink on white, for where there is no page.
    fn default() -> Self {
        Self {
            ink: [0x22, 0x20, 0x1b],
            soft: [0x5a, 0x54, 0x48],
            rule: [0xe2, 0xd9, 0xc7],
            sheet: [255, 255, 255],
            font: "sans-serif".to_owned(),
            concepts: [[0x5a, 0x54, 0x48]; 9],
            scale: 1.0,
            text: 1.0,
        }
    }
}

impl Theme {
    /// The theme that the page has now.
    pub fn current() -> Self {
        // It is read once for each change: to ask for a colour has the browser lay out the page at
        // once.
        let now = changes().get_untracked();
        let known = KNOWN.with_borrow(|known| known.clone().filter(|(read_at, _)| *read_at == now));
        let (_, theme) = known.unwrap_or_else(|| {
            let read = (now, Self::read());
            KNOWN.set(Some(read.clone()));
            read
        });
        theme
    }

    fn read() -> Self {
        let plain = Self::default();
        let Some(style) = style() else {
            return plain;
        };
        let colour =
            |name: &str, otherwise: [u8; 3]| parse_hex(&style.value(name)).unwrap_or(otherwise);
        let ink = colour("--ink", plain.ink);
        let font = style.value("--sans");
        Self {
            ink,
            soft: colour("--ink-soft", ink),
            rule: colour("--rule", plain.rule),
            sheet: colour("--sheet", plain.sheet),
            font: if font.is_empty() { plain.font } else { font },
            concepts: CONCEPTS.map(|c| colour(c.variable(), ink)),
            ..plain
        }
    }

    /// The accent colour of a concept.
    pub fn concept(&self, concept: Concept) -> [u8; 3] {
        let index = CONCEPTS
            .iter()
            .position(|&c| c == concept)
            .unwrap_or(CONCEPTS.len() - 1);
        self.concepts[index]
    }
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
