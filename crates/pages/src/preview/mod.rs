//! Preview images: the picture of 1200 x 630 pixels that another site shows with a link to a page.
//! It has the page's title, its lesson number or description, the name of the site, and a figure of
//! the lesson.

mod card;
mod colours;
mod drawing;
mod paint;
mod typeset;

use std::collections::BTreeMap;
use std::path::Path;

use lesson::{Kind, Lesson};

use crate::about;
use crate::content::Content;
use crate::course::PART;
use crate::error::{BuildError, write_new_bytes};
use crate::machine;
use crate::meta::SITE;
use crate::page::TOOLS;
use crate::reference;
use crate::thumbnail;
use crate::write::address_of;

/// Width of an image, in pixels.
pub(crate) const WIDTH: u16 = 1200;

/// Height of an image, in pixels.
pub(crate) const HEIGHT: u16 = 630;

/// The folder of the images, from the site's root.
pub(crate) const FOLDER: &str = "previews";

/// What the preview image of a page shows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Preview {
    /// File of the image, from the site's root.
    file: String,
    /// Title of the page, plain text.
    title: String,
    /// Part and number of a lesson, plain text; empty for other pages.
    number: String,
    /// One or two sentences about the page, plain text; empty for lessons.
    description: String,
    /// A drawing as HTML or SVG; the site's icon where there is none.
    drawing: Option<String>,
}

/// A preview image that is there: what a page says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Image {
    /// Its file, from the site's root.
    pub(crate) file: String,
    /// What it shows, in words.
    pub(crate) alt: String,
}

/// Writes the images of all pages into `folder`; by the addresses of their pages from the site's
/// root.
///
/// # Errors
/// As [`Preview::write`].
pub(crate) fn write_all(
    content: &Content,
    folder: &Path,
) -> Result<BTreeMap<String, Image>, BuildError> {
    all(content)
        .into_iter()
        .map(|(address, preview)| Ok((address, preview.write(folder)?)))
        .collect()
}

/// Lays out the images of all pages without painting them, so that a site without an address finds
/// the same mistakes.
///
/// # Errors
/// As [`Preview::write`], without those of files.
pub(crate) fn check(content: &Content) -> Result<(), BuildError> {
    for preview in all(content).values() {
        let laid_out = card::of(preview).and_then(|card| paint::tree(&card));
        laid_out.map_err(|message| preview.wrong(&message))?;
    }
    Ok(())
}

/// The previews of all pages, by the addresses of these.
fn all(content: &Content) -> BTreeMap<String, Preview> {
    let mut previews = BTreeMap::new();
    let mut number = 0;
    for page in content
        .lessons
        .iter()
        .chain([&content.home, &content.models])
    {
        let Some(address) = address_of(page) else {
            continue;
        };
        let preview = if matches!(page.kind, Kind::Lesson(_)) {
            number += 1;
            Preview::of_lesson(&address, page, number)
        } else {
            let plain = Preview::of_page(&address, &page.title, &page.description);
            plain.with_figure(page)
        };
        previews.insert(address, preview);
    }
    let own = [
        (machine::NAME, machine::TITLE, machine::DESCRIPTION),
        (about::NAME, about::TITLE, about::DESCRIPTION),
        ("reference", reference::TITLE, reference::DESCRIPTION),
    ];
    let tools = TOOLS
        .iter()
        .map(|tool| (tool.name, tool.title, tool.description));
    for (name, title, description) in own.into_iter().chain(tools) {
        let address = format!("{name}/");
        let preview = Preview::of_page(&address, title, description);
        previews.insert(address, preview);
    }
    previews
}

impl Preview {
    /// The preview of a page of the site's own at `address`, which is relative to the site's root.
    pub(crate) fn of_page(address: &str, title: &str, description: &str) -> Self {
        let name = match address.trim_end_matches('/') {
            "" => "home",
            name => name,
        };
        Self {
            file: format!("{FOLDER}/{name}.png"),
            title: title.to_owned(),
            description: description.to_owned(),
            ..Self::default()
        }
    }

    /// The preview of a lesson with this number.
    pub(crate) fn of_lesson(address: &str, lesson: &Lesson, number: usize) -> Self {
        Self {
            number: format!("Lesson {number} \u{b7} {PART} {}", lesson.part),
            drawing: thumbnail::drawing_of(lesson),
            ..Self::of_page(address, &lesson.title, "")
        }
    }

    /// The preview with the figure that stands for a page.
    pub(crate) fn with_figure(mut self, page: &Lesson) -> Self {
        self.drawing = thumbnail::drawing_of(page);
        self
    }

    /// Writes the image into `folder`, unless it is there.
    ///
    /// # Errors
    /// A text without room or without glyphs; a drawing that cannot be painted; a file that cannot
    /// be written.
    pub(crate) fn write(&self, folder: &Path) -> Result<Image, BuildError> {
        let png = self.png().map_err(|message| self.wrong(&message))?;
        write_new_bytes(&folder.join(&self.file), &png)?;
        Ok(Image {
            file: self.file.clone(),
            alt: self.alt(),
        })
    }

    fn wrong(&self, message: &str) -> BuildError {
        BuildError::Other(format!("the preview image {}: {message}", self.file))
    }

    /// The image as a PNG file.
    fn png(&self) -> Result<Vec<u8>, String> {
        let card = card::of(self)?;
        paint::png(&card)
    }

    /// What the image shows, in words.
    fn alt(&self) -> String {
        let figure = match self.drawing {
            Some(_) => "a figure of the page",
            None => "the icon of the site",
        };
        match self.number.split(" \u{b7} ").next() {
            Some(number) if !number.is_empty() => {
                format!("{}: {number} of {SITE}, with {figure}", self.title)
            }
            _ if self.title == SITE => format!("{SITE}, with {figure}"),
            _ => format!("{}: a page of {SITE}, with {figure}", self.title),
        }
    }
}

#[cfg(test)]
mod tests {
    use resvg::tiny_skia::Pixmap;

    use super::*;
    use crate::content::real::content;

    fn real() -> Vec<Preview> {
        all(content()).into_values().collect()
    }

    /// `PREVIEWS=FOLDER cargo test -p pages` writes the images there, to be looked at.
    #[test]
    fn every_page_has_an_image_of_its_own_with_its_whole_title() {
        let all = real();
        let mut files: Vec<&str> = all.iter().map(|preview| preview.file.as_str()).collect();
        for file in ["previews/home.png", "previews/lesson/self-attention.png"] {
            assert!(files.contains(&file), "{files:?}");
        }
        files.sort_unstable();
        files.dedup();
        assert_eq!(files.len(), all.len());
        for preview in &all {
            // An error where a text does not fit or lacks a glyph.
            card::of(preview).unwrap_or_else(|error| panic!("{}: {error}", preview.title));
            if let Ok(folder) = std::env::var("PREVIEWS") {
                preview.write(Path::new(&folder)).unwrap();
            }
        }
    }

    #[test]
    fn an_image_has_the_size_that_sites_ask_for_and_is_always_the_same() {
        let preview = Preview {
            number: "Lesson 1 \u{b7} Part I: x".to_owned(),
            drawing: Some("<svg viewBox=\"0 0 2 1\"><path class=\"s c-key\" stroke-width=\"2\" d=\"M0 0 2 1\"/></svg>".to_owned()),
            ..Preview::of_page("lesson/one/", "A title", "")
        };
        let png = preview.png().unwrap();
        assert_eq!(png, preview.png().unwrap());
        let image = Pixmap::decode_png(&png).unwrap();
        assert_eq!(
            (image.width(), image.height()),
            (WIDTH.into(), HEIGHT.into())
        );
        let first = image.pixels()[0];
        let others = image.pixels().iter().filter(|&&pixel| pixel != first);
        assert!(others.count() > 10_000, "text and drawing are there");
        assert_eq!(
            preview.alt(),
            "A title: Lesson 1 of Transformer Notebook, with a figure of the page"
        );
    }

    #[test]
    fn a_title_without_room_or_glyphs_is_an_error() {
        let of = |title: &str| Preview::of_page("x/", title, "").png();
        assert!(
            of(&"Incomprehensibilities ".repeat(9))
                .unwrap_err()
                .contains("no room")
        );
        assert!(of("\u{5d0}").unwrap_err().contains('\u{5d0}'));
        assert!(of("Fine").is_ok());
    }
}
