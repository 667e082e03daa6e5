//! The layout of a preview image.

use std::fmt::Write as _;

use lesson::html::escape;

use super::colours::{colour, mix};
use super::drawing::{self, Drawing};
use super::typeset::{SANS, SERIF, fit};
use super::{HEIGHT, Preview, WIDTH};
use crate::meta::SITE;

/// The site's icon.
const ICON: &str = include_str!("../../../../public/icon.svg");

/// Room at the edges of the image, in pixels.
const MARGIN: f32 = 72.0;

/// Width of the column of text, in pixels.
const COLUMN: f32 = 512.0;

/// The sheet that the drawing lies on: its place and size, in pixels.
const SHEET: Rectangle = Rectangle {
    x: 640.0,
    y: 105.0,
    width: 488.0,
    height: 420.0,
};

/// Room between the sheet's edge and the drawing, in pixels.
const AROUND: f32 = 36.0;

/// A rectangle of the image, in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rectangle {
    pub(super) x: f32,
    pub(super) y: f32,
    pub(super) width: f32,
    pub(super) height: f32,
}

impl Rectangle {
    /// The rectangle that is smaller by `by` at each side.
    fn inner(self, by: f32) -> Self {
        Self {
            x: self.x + by,
            y: self.y + by,
            width: self.width - 2.0 * by,
            height: self.height - 2.0 * by,
        }
    }
}

/// An image, ready to be painted.
#[derive(Debug)]
pub(super) struct Card {
    /// Everything but a photograph.
    pub(super) svg: String,
    /// The photograph of the drawing, over the rest.
    pub(super) photograph: Option<drawing::Photograph>,
}

/// Lays out the image of a page.
///
/// # Errors
/// A text without room or glyphs, a drawing that is not understood.
pub(super) fn of(preview: &Preview) -> Result<Card, String> {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\">{}<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"{}\"/>",
        drawing::style()?,
        colour("paper")?
    );
    svg.push_str(&text(preview)?);
    let mut photograph = None;
    let inner = SHEET.inner(AROUND);
    match &preview.drawing {
        Some(found) => {
            svg.push_str(&sheet()?);
            match drawing::fitted(found, inner)? {
                Drawing::Svg(drawn) => svg.push_str(&drawn),
                Drawing::Photograph(found) => photograph = Some(found),
            }
        }
        None => svg.push_str(&icon(Rectangle {
            x: SHEET.x + 96.0,
            y: 165.0,
            width: 300.0,
            height: 300.0,
        })),
    }
    svg.push_str("</svg>");
    Ok(Card { svg, photograph })
}

/// The sheet below the drawing, with its edge.
fn sheet() -> Result<String, String> {
    Ok(format!(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"12\" fill=\"{}\" stroke=\"{}\" stroke-width=\"2\"/>",
        SHEET.x,
        SHEET.y,
        SHEET.width,
        SHEET.height,
        colour("sheet")?,
        colour("rule")?
    ))
}

/// The site's icon in a square.
fn icon(at: Rectangle) -> String {
    let size = format!(
        "<svg x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" ",
        at.x, at.y, at.width, at.height
    );
    ICON.replacen("<svg ", &size, 1)
}

/// The name of the site at the top; the title, with the number of the lesson above it or the
/// description below it, about the middle.
fn text(preview: &Preview) -> Result<String, String> {
    let mut out = String::new();
    let is_home = preview.title == SITE;
    if !is_home {
        out.push_str(&icon(Rectangle {
            x: MARGIN,
            y: MARGIN,
            width: 48.0,
            height: 48.0,
        }));
        line(
            &mut out,
            SITE,
            SANS,
            30.0,
            (MARGIN + 64.0, 106.0),
            colour("ink-soft")?,
        );
    }
    let (title, size) = fit(
        &preview.title,
        SERIF,
        COLUMN,
        4,
        &[80.0, 72.0, 64.0, 56.0, 50.0],
    )?;
    let number = match preview.number.as_str() {
        "" => None,
        number => Some(fit(number, SANS, COLUMN, 2, &[30.0, 26.0])?),
    };
    let description = match preview.description.as_str() {
        "" => None,
        text => Some(shortened(text)?),
    };
    let leading = |(lines, size): &(Vec<String>, f32)| lines.len() as f32 * size * 1.35;
    let gap = 24.0;
    let above = number.as_ref().map_or(0.0, |block| leading(block) + 8.0);
    let below = description
        .as_ref()
        .map_or(0.0, |block| leading(block) + gap);
    let height = above + title.len() as f32 * size * 1.12 + below;
    // Below the site's name, which the middle of a short text stays clear of.
    let (top, bottom) = (
        if is_home { MARGIN } else { 140.0 },
        f32::from(HEIGHT) - MARGIN,
    );
    let mut y = ((f32::from(HEIGHT) - height) / 2.0).clamp(top, (bottom - height).max(top));
    if y + height > bottom + 1.0 {
        return Err(format!(
            "there is no room for \u{201c}{}\u{201d}",
            preview.title
        ));
    }
    if let Some((lines, size)) = &number {
        let accent = mix(colour("link-line")?, colour("ink")?, 0.15);
        y = block(&mut out, lines, (SANS, *size, 1.35), y, &accent) + 8.0;
    }
    y = block(&mut out, &title, (SERIF, size, 1.12), y, colour("ink")?) + gap;
    if let Some((lines, size)) = &description {
        block(&mut out, lines, (SANS, *size, 1.35), y, colour("ink-soft")?);
    }
    Ok(out)
}

/// Most lines of a description.
const DESCRIPTION_LINES: usize = 5;

/// A description in lines: its first sentences that have room, all of them if they can.
fn shortened(text: &str) -> Result<(Vec<String>, f32), String> {
    let mut rest = text;
    loop {
        if let Ok(found) = fit(rest, SANS, COLUMN, DESCRIPTION_LINES, &[30.0, 26.0]) {
            return Ok(found);
        }
        let end = rest.trim_end_matches('.').rfind([':', '.', ';']);
        match end {
            Some(end) => rest = &text[..end],
            None => return fit(text, SANS, COLUMN, DESCRIPTION_LINES, &[26.0]),
        }
    }
}

/// Adds lines below `top`, of a family, a size and a leading; the bottom of the last.
fn block(
    out: &mut String,
    lines: &[String],
    (family, size, leading): (&str, f32, f32),
    top: f32,
    fill: &str,
) -> f32 {
    for (i, text) in lines.iter().enumerate() {
        let baseline = top + i as f32 * size * leading + size * 0.92;
        line(out, text, family, size, (MARGIN, baseline), fill);
    }
    top + lines.len() as f32 * size * leading
}

/// Adds a line of text that begins at a place of its baseline.
fn line(out: &mut String, text: &str, family: &str, size: f32, (x, y): (f32, f32), fill: &str) {
    let text = escape(text);
    // Writing to a String cannot fail.
    let _ = write!(
        out,
        "<text x=\"{x}\" y=\"{y:.1}\" font-family=\"{family}\" font-size=\"{size}\" fill=\"{fill}\">{text}</text>"
    );
}

#[cfg(test)]
mod tests {
    use super::super::typeset::width;
    use super::*;

    #[test]
    fn the_name_of_the_site_has_room() {
        assert!(width(SITE, SANS, 30.0).unwrap() < COLUMN - 64.0);
    }

    #[test]
    fn a_long_description_loses_its_last_sentences() {
        let long = format!(
            "First sentence. {}",
            "Second one goes on and on, ".repeat(20)
        );
        let (lines, _) = shortened(&long).unwrap();
        assert_eq!(lines.join(" "), "First sentence");
    }

    #[test]
    fn a_page_without_a_drawing_has_the_icon() {
        let card = of(&Preview::of_page("lab/", "Lab", "Open a model.")).unwrap();
        assert_eq!(card.svg.matches("A causal attention matrix").count(), 2);
        assert!(card.photograph.is_none());
    }
}
