//! Colours and type of the page, for what is drawn outside the DOM.

use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::wasm_bindgen::closure::Closure;
use leptos::web_sys::{CssStyleDeclaration, MutationObserver, MutationObserverInit};

use crate::widgets::Concept;

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
    /// What font sizes are multiplied by: a backend may print them smaller than asked.
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
        // It is read once for each change: to ask for a colour has the browser lay out the page at once.
        theme_changes();
        let known = KNOWN.with_borrow(Clone::clone);
        known.unwrap_or_else(|| {
            let read = Self::read();
            KNOWN.set(Some(read.clone()));
            read
        })
    }

    fn read() -> Self {
        let plain = Self::default();
        let root = document().document_element();
        let Some(style) = root.and_then(|root| window().get_computed_style(&root).ok().flatten())
        else {
            return plain;
        };
        let colour = |name: &str, otherwise: [u8; 3]| read(&style, name).unwrap_or(otherwise);
        let ink = colour("--ink", plain.ink);
        let font = style.get_property_value("--sans").unwrap_or_default();
        let font = font.trim();
        Self {
            ink,
            soft: colour("--ink-soft", ink),
            rule: colour("--rule", plain.rule),
            sheet: colour("--sheet", plain.sheet),
            font: if font.is_empty() {
                plain.font
            } else {
                font.to_owned()
            },
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

fn read(style: &CssStyleDeclaration, name: &str) -> Option<[u8; 3]> {
    parse_hex(style.get_property_value(name).ok()?.trim())
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
    static KNOWN: std::cell::RefCell<Option<Theme>> = const { std::cell::RefCell::new(None) };
    static CHANGES: std::cell::OnceCell<ArcRwSignal<u32>> = const { std::cell::OnceCell::new() };
}

/// Counts changes of the theme, by the reader's switch or by the system. One watcher serves all drawings of the page.
pub(crate) fn theme_changes() -> ArcRwSignal<u32> {
    CHANGES.with(|cell| cell.get_or_init(watch).clone())
}

fn watch() -> ArcRwSignal<u32> {
    let count = ArcRwSignal::new(0_u32);
    let bump = {
        let count = count.clone();
        Closure::<dyn FnMut()>::new(move || {
            KNOWN.set(None);
            count.update(|n| *n = n.wrapping_add(1));
        })
    };
    let function = bump.as_ref().unchecked_ref();
    if let (Ok(observer), Some(root)) = (
        MutationObserver::new(function),
        document().document_element(),
    ) {
        let options = MutationObserverInit::new();
        options.set_attributes(true);
        options.set_attribute_filter(&js_sys::Array::of1(&"data-theme".into()));
        // Where the browser refuses, drawings keep the colours they have.
        observer.observe_with_options(&root, &options).ok();
    }
    if let Ok(Some(query)) = window().match_media("(prefers-color-scheme: dark)") {
        query
            .add_event_listener_with_callback("change", function)
            .ok();
    }
    // The watcher lives as long as the page.
    bump.forget();
    count
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
