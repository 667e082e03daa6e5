//! Lines of text and their widths.

use std::sync::{Arc, LazyLock};

use lesson::html::escape;
use resvg::usvg::{Node, Options, Tree, fontdb::Database};

/// The subsets that docs/subset-fonts.sh makes.
const FONTS: [&[u8]; 2] = [
    include_bytes!("../../assets/preview-serif.ttf"),
    include_bytes!("../../assets/preview-sans.ttf"),
];

/// Family for titles.
pub(super) const SERIF: &str = "Notebook Serif";

/// Family for everything else.
pub(super) const SANS: &str = "Notebook Sans";

/// Options of the SVG reader: our two fonts and none of the system's.
pub(super) fn options() -> Options<'static> {
    static DATABASE: LazyLock<Arc<Database>> = LazyLock::new(|| {
        let mut database = Database::new();
        for font in FONTS {
            database.load_font_data(font.to_vec());
        }
        Arc::new(database)
    });
    Options {
        fontdb: Arc::clone(&DATABASE),
        ..Options::default()
    }
}

/// The width of a line of text, in pixels, at a font size in pixels.
///
/// # Errors
/// A sign that the font lacks.
pub(super) fn width(text: &str, family: &str, size: f32) -> Result<f32, String> {
    let svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9999\" height=\"99\"><text font-family=\"{family}\" font-size=\"{size}\" y=\"50\">{}</text></svg>",
        escape(text)
    );
    let tree = Tree::from_str(&svg, &options()).map_err(|error| error.to_string())?;
    let mut widest: f32 = 0.0;
    let mut drawn = 0;
    for node in tree.root().children() {
        let Node::Text(line) = node else { continue };
        widest = widest.max(line.bounding_box().width());
        for glyph in line
            .layouted()
            .iter()
            .flat_map(|span| &span.positioned_glyphs)
        {
            if glyph.id.0 == 0 {
                return Err(format!("{family} has no glyph for {}", glyph.text));
            }
            drawn += 1;
        }
    }
    if drawn == 0 {
        return Err(format!("{family} has no glyph for {text}"));
    }
    Ok(widest)
}

/// A text in lines of at most `room` pixels, at the largest of some font sizes at which it has at
/// most `most` lines; with that size.
///
/// # Errors
/// A text without room even at the last size; a sign that the font lacks.
pub(super) fn fit(
    text: &str,
    family: &str,
    room: f32,
    most: usize,
    sizes: &[f32],
) -> Result<(Vec<String>, f32), String> {
    for &size in sizes {
        let lines = wrap(text, family, room, size)?;
        if lines.len() > most {
            continue;
        }
        let mut is_fit = true;
        for line in &lines {
            is_fit &= width(line, family, size)? <= room;
        }
        if is_fit {
            return Ok((lines, size));
        }
    }
    Err(format!("there is no room for \u{201c}{text}\u{201d}"))
}

/// Lines filled one after the other; a word that is wider than the room has one of its own.
fn wrap(text: &str, family: &str, room: f32, size: f32) -> Result<Vec<String>, String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        if let Some(last) = lines.last_mut() {
            let longer = format!("{last} {word}");
            if width(&longer, family, size)? <= room {
                *last = longer;
                continue;
            }
        }
        lines.push(word.to_owned());
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_as_large_as_its_lines_allow() {
        let long = "Why the scores are scaled by a square root";
        let (lines, size) = fit(long, SERIF, 500.0, 3, &[90.0, 60.0, 40.0]).unwrap();
        assert!(lines.len() <= 3 && size < 90.0, "{lines:?} at {size}");
        assert_eq!(lines.join(" "), long);
        for line in &lines {
            assert!(width(line, SERIF, size).unwrap() <= 500.0, "{line}");
        }
        assert!(fit(long, SERIF, 100.0, 3, &[60.0]).is_err());
    }

    #[test]
    fn widths_grow_with_the_text_and_the_size() {
        let of = |text: &str, size| width(text, SANS, size).unwrap();
        assert!(of("mm", 20.0) > of("mi", 20.0));
        assert!((of("mm", 40.0) / of("mm", 20.0) - 2.0).abs() < 0.01);
        assert!(
            width("\u{3b1}", SANS, 20.0).is_err(),
            "no Greek in the subset"
        );
    }
}
