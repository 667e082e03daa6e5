//! Painting: from SVG to pixels.

use resvg::tiny_skia::{Color, FilterQuality, Paint, Pixmap, PixmapPaint, Rect, Transform};
use resvg::usvg::{Group, ImageKind, Node, Tree};

use super::card::Card;
use super::drawing::Photograph;
use super::typeset::options;
use super::{HEIGHT, WIDTH};

/// Paints an image; the PNG file.
///
/// # Errors
/// What the reader of SVG or of PNG has to say.
pub(super) fn png(card: &Card) -> Result<Vec<u8>, String> {
    let tree = tree(card)?;
    let mut pixels = Pixmap::new(WIDTH.into(), HEIGHT.into()).ok_or("no pixels")?;
    resvg::render(&tree, Transform::identity(), &mut pixels.as_mut());
    if let Some(photograph) = &card.photograph {
        paint(&mut pixels, photograph)?;
    }
    pixels.encode_png().map_err(|error| error.to_string())
}

/// An image as the reader of SVG understands it.
///
/// # Errors
/// What the reader of SVG has to say.
pub(super) fn tree(card: &Card) -> Result<Tree, String> {
    Tree::from_str(&card.svg, &options()).map_err(|error| error.to_string())
}

/// Paints a photograph and its grid over the rest.
fn paint(pixels: &mut Pixmap, photograph: &Photograph) -> Result<(), String> {
    let found = decoded(&photograph.href)?;
    let at = photograph.at;
    let place = Transform::from_scale(
        at.width / found.width() as f32,
        at.height / found.height() as f32,
    )
    .post_translate(at.x, at.y);
    let smooth = PixmapPaint {
        quality: FilterQuality::Bilinear,
        ..PixmapPaint::default()
    };
    pixels.draw_pixmap(0, 0, found.as_ref(), &smooth, place, None);
    let Some(patch) = photograph.patch.filter(|patch| *patch > 0.01) else {
        return Ok(());
    };
    let mut white = Paint::default();
    white.set_color(Color::from_rgba8(0xff, 0xff, 0xff, 0xbf));
    let lines = (1.0 / patch).round() as u8;
    for line in 1..lines {
        let by = f32::from(line) * patch;
        let across = Rect::from_xywh(at.x, at.y + by * at.height - 1.0, at.width, 2.0);
        let down = Rect::from_xywh(at.x + by * at.width - 1.0, at.y, 2.0, at.height);
        for rectangle in [across, down].into_iter().flatten() {
            pixels.fill_rect(rectangle, &white, Transform::identity(), None);
        }
    }
    Ok(())
}

/// The pixels of a PNG picture in a data address, which the reader of SVG decodes from base64.
fn decoded(href: &str) -> Result<Pixmap, String> {
    let svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9\" height=\"9\"><image width=\"9\" height=\"9\" href=\"{href}\"/></svg>"
    );
    let tree = Tree::from_str(&svg, &options()).map_err(|error| error.to_string())?;
    let data = first_png(tree.root()).ok_or("a picture that is not PNG")?;
    Pixmap::decode_png(&data).map_err(|error| error.to_string())
}

/// The first PNG file of a group.
fn first_png(group: &Group) -> Option<Vec<u8>> {
    group.children().iter().find_map(|node| match node {
        Node::Group(inner) => first_png(inner),
        Node::Image(image) => match image.kind() {
            ImageKind::PNG(data) => Some(data.to_vec()),
            _ => None,
        },
        _ => None,
    })
}
