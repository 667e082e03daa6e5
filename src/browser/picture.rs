//! Decoding pictures with the browser's own decoders.

use cells::input::Pixels;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    Blob, BlobPropertyBag, CanvasRenderingContext2d, File, HtmlCanvasElement, HtmlImageElement,
    ImageBitmap, Url,
};

use super::picture_header::{self, ENOUGH, Format, Header};

/// Longest side that a picture of a cell keeps.
pub(crate) const LONGEST_SIDE: u32 = 512;

/// Most pixels that are decoded, in millions: four bytes of memory each.
const MOST_MEGAPIXELS: f64 = 64.0;

/// A picture that was read, and what the reader should know of it.
pub(crate) struct Read {
    pub(crate) pixels: Pixels,
    /// Whether it was transparent, moved, or was scaled down a lot.
    pub(crate) note: Option<String>,
}

/// Decodes a file that the reader gave, upright; a side longer than `longest` is scaled down to it by the
/// browser.
///
/// # Errors
/// A sentence for the reader.
pub(crate) async fn from_file(file: &File, longest: u32) -> Result<Read, String> {
    let name = file.name();
    if file.size() == 0.0 {
        return Err(format!(
            "\u{201c}{name}\u{201d} is empty: the file has no bytes."
        ));
    }
    let header = header_of(file).await;
    if let Some((width, height)) = header.and_then(|header| header.size) {
        refuse_size(&name, width, height)?;
    }
    let format = header.map(|header| header.format);
    let decoded = match format {
        Some(Format::Svg) => decode_svg(file, longest).await,
        _ => decode(file, longest).await,
    };
    let decoded = decoded.map_err(|_| unreadable(&name, format))?;
    Ok(Read {
        note: note(&decoded, header),
        pixels: decoded.pixels,
    })
}

/// What the first bytes of a file say.
async fn header_of(file: &File) -> Option<Header> {
    let start = file.slice_with_f64_and_f64(0.0, ENOUGH as f64).ok()?;
    let bytes = JsFuture::from(start.array_buffer()).await.ok()?;
    picture_header::of(&js_sys::Uint8Array::new(&bytes).to_vec())
}

/// Refuses a picture of no pixel, or of so many that decoding it could end the page.
fn refuse_size(name: &str, width: u32, height: u32) -> Result<(), String> {
    let megapixels = f64::from(width) * f64::from(height) / 1e6;
    if megapixels == 0.0 {
        return Err(format!(
            "\u{201c}{name}\u{201d} is a picture without a pixel: {width} \u{d7} {height}."
        ));
    }
    if megapixels > MOST_MEGAPIXELS {
        return Err(format!(
            "\u{201c}{name}\u{201d} has {megapixels:.0} megapixels ({width} \u{d7} {height}). At most {MOST_MEGAPIXELS} are read here, \
             since a browser unpacks them all: save a smaller copy and choose that."
        ));
    }
    Ok(())
}

/// Why a file could not be decoded.
fn unreadable(name: &str, format: Option<Format>) -> String {
    match format {
        None => format!(
            "\u{201c}{name}\u{201d} could not be read as a picture: whatever its name says, its content is of no kind that this \
             browser knows. Try a PNG, JPEG or WebP file."
        ),
        Some(Format::Heic | Format::Avif) => format!(
            "\u{201c}{name}\u{201d} could not be read as a picture: it is damaged, or this browser does not know its kind ({}). Save it \
             as a JPEG or PNG file.",
            format.map_or("", Format::name)
        ),
        Some(format) => format!(
            "\u{201c}{name}\u{201d} could not be read as a picture: it begins as {}, but is damaged or cut off.",
            format.name()
        ),
    }
}

/// What the reader should know of a picture that was read.
fn note(decoded: &Decoded, header: Option<Header>) -> Option<String> {
    let mut notes = Vec::new();
    if header.is_some_and(|header| header.moves) {
        notes.push("Of this animation the first picture is used.".to_owned());
    }
    if decoded.is_transparent {
        notes.push("Where the picture is transparent, it is put on white.".to_owned());
    }
    let (width, height) = decoded.full;
    let Pixels { width: w, .. } = decoded.pixels;
    if width as usize > w {
        let scaled = format!(
            "It was scaled down from {width} \u{d7} {height} to {w} \u{d7} {} pixels.",
            decoded.pixels.height
        );
        notes.push(scaled);
    }
    (!notes.is_empty()).then(|| notes.join(" "))
}

/// A sample of the site: drawn, or fetched and decoded.
///
/// # Errors
/// A sentence for the reader.
pub(crate) async fn sample(name: &str) -> Result<Pixels, String> {
    match cells::picture::file(name) {
        Some(file) => from_url(&super::address::site_url(&format!("pictures/{file}"))).await,
        None => cells::picture::draw(name).ok_or_else(|| "This sample does not exist.".to_owned()),
    }
}

async fn from_url(url: &str) -> Result<Pixels, String> {
    let failed =
        "This sample picture could not be fetched. Check the connection and choose it again.";
    let response = gloo_net::http::Request::get(url)
        .send()
        .await
        .map_err(|_| failed.to_owned())?;
    let bytes = if response.ok() {
        response.binary().await.ok()
    } else {
        None
    }
    .ok_or_else(|| failed.to_owned())?;
    let parts = js_sys::Array::of1(&js_sys::Uint8Array::from(bytes.as_slice()));
    let blob = Blob::new_with_u8_array_sequence(&parts).map_err(|_| failed.to_owned())?;
    let decoded = decode(&blob, LONGEST_SIDE).await;
    decoded
        .map(|decoded| decoded.pixels)
        .map_err(|_| failed.to_owned())
}

/// A picture in memory.
struct Decoded {
    pixels: Pixels,
    is_transparent: bool,
    /// Width and height before it was scaled down.
    full: (u32, u32),
}

async fn decode(blob: &Blob, longest_side: u32) -> Result<Decoded, JsValue> {
    let window = super::dom::window().ok_or(JsValue::NULL)?;
    // The browser turns a photograph as its EXIF data say, and gives the first picture of an animation.
    let bitmap: ImageBitmap = JsFuture::from(create_bitmap(&window, blob)?)
        .await?
        .dyn_into()?;
    let full = (bitmap.width(), bitmap.height());
    let (context, size) = canvas_for(full, longest_side)?;
    let (width, height) = (f64::from(size.0), f64::from(size.1));
    context.draw_image_with_image_bitmap_and_dw_and_dh(&bitmap, 0.0, 0.0, width, height)?;
    bitmap.close();
    on_white(&context, size, full)
}

/// Side in pixels of an SVG that does not say how large it is.
const SVG_SIDE: u32 = 512;

/// An SVG, which only an element of a page decodes; what it links to is not fetched, and no script in it
/// runs.
async fn decode_svg(blob: &Blob, longest_side: u32) -> Result<Decoded, JsValue> {
    let options = BlobPropertyBag::new();
    options.set_type("image/svg+xml");
    let typed = Blob::new_with_blob_sequence_and_options(&js_sys::Array::of1(blob), &options)?;
    let url = Url::create_object_url_with_blob(&typed)?;
    let image = HtmlImageElement::new()?;
    image.set_src(&url);
    let loaded = JsFuture::from(image.decode()).await;
    let sides = [image.natural_width(), image.natural_height()];
    let drawn = loaded.and_then(|_| {
        let [width, height] = sides.map(|side| if side == 0 { SVG_SIDE } else { side });
        let (context, size) = canvas_for((width, height), longest_side)?;
        let (wide, high) = (f64::from(size.0), f64::from(size.1));
        context.draw_image_with_html_image_element_and_dw_and_dh(&image, 0.0, 0.0, wide, high)?;
        // Drawn at this size from lines and areas: nothing was scaled down.
        on_white(&context, size, size)
    });
    let _ = Url::revoke_object_url(&url);
    drawn
}

/// An empty canvas for a picture, which is made smaller where a side is longer than this.
fn canvas_for(
    (full_width, full_height): (u32, u32),
    longest_side: u32,
) -> Result<(CanvasRenderingContext2d, (u32, u32)), JsValue> {
    let longest = full_width.max(full_height).max(1);
    let shrink = (f64::from(longest_side) / f64::from(longest)).min(1.0);
    let side = |full: u32| ((f64::from(full) * shrink).round() as u32).max(1);
    let (width, height) = (side(full_width), side(full_height));
    let document = super::dom::document().ok_or(JsValue::NULL)?;
    let canvas: HtmlCanvasElement = document.create_element("canvas")?.dyn_into()?;
    canvas.set_width(width);
    canvas.set_height(height);
    // Its pixels are read: the browser keeps them where they can be.
    let options = js_sys::Object::new();
    js_sys::Reflect::set(&options, &"willReadFrequently".into(), &true.into())?;
    let context = canvas.get_context_with_context_options("2d", &options)?;
    let context = context.ok_or(JsValue::NULL)?.dyn_into()?;
    Ok((context, (width, height)))
}

/// The pixels of a canvas; what is transparent is put on white, as it would be on paper.
fn on_white(
    context: &CanvasRenderingContext2d,
    (width, height): (u32, u32),
    full: (u32, u32),
) -> Result<Decoded, JsValue> {
    let data = context.get_image_data(0.0, 0.0, f64::from(width), f64::from(height))?;
    let data = data.data();
    let mut rgb = Vec::with_capacity(data.len() / 4 * 3);
    let mut is_transparent = false;
    for pixel in data.chunks_exact(4) {
        let alpha = u32::from(pixel[3]);
        is_transparent |= alpha < 255;
        let mixed = |colour: u8| (u32::from(colour) * alpha + 255 * (255 - alpha) + 127) / 255;
        rgb.extend([0, 1, 2].map(|n| mixed(pixel[n]) as u8));
    }
    Ok(Decoded {
        pixels: Pixels {
            width: width as usize,
            height: height as usize,
            rgb,
        },
        is_transparent,
        full,
    })
}

/// `createImageBitmap` called through reflection, so that a missing function is an error and no
/// throw.
fn create_bitmap(window: &web_sys::Window, blob: &Blob) -> Result<js_sys::Promise, JsValue> {
    let function = js_sys::Reflect::get(window, &JsValue::from_str("createImageBitmap"))?;
    let function: js_sys::Function = function.dyn_into()?;
    function.call1(window, blob)?.dyn_into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_without_a_pixel_or_with_too_many_is_refused() {
        for (width, height) in [(0, 0), (0, 16), (16, 0)] {
            let why = refuse_size("dot.png", width, height).unwrap_err();
            let size = format!("without a pixel: {width} \u{d7} {height}.");
            assert!(why.contains("dot.png") && why.ends_with(&size), "{why}");
        }
        for (width, height) in [(1, 1), (8000, 8000), (1, 64_000_000)] {
            assert_eq!(refuse_size("dot.png", width, height), Ok(()));
        }
        for (width, height) in [(8001, 8000), (u32::MAX, u32::MAX)] {
            let why = refuse_size("wall.png", width, height).unwrap_err();
            assert!(
                why.contains("At most 64") && why.contains(&width.to_string()),
                "{why}"
            );
        }
    }
}
