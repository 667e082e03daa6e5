//! Decoding pictures with the browser's own decoders.

use cells::input::Pixels;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, CanvasRenderingContext2d, File, HtmlCanvasElement, ImageBitmap};

/// Longest side that a picture of a cell keeps.
pub(crate) const LONGEST_SIDE: u32 = 512;

/// Decodes a file that the reader gave; a side longer than `longest` is scaled down to it by the
/// browser.
///
/// # Errors
/// A sentence for the reader.
pub(crate) async fn from_file(file: &File, longest: u32) -> Result<Pixels, String> {
    let name = file.name();
    decode(file, longest).await.map_err(|_| {
        format!(
            "\u{201c}{name}\u{201d} could not be read as a picture. It may be damaged, too large for this browser, or of a \
             kind it does not know. Try a PNG, JPEG or WebP file."
        )
    })
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
    decode(&blob, LONGEST_SIDE)
        .await
        .map_err(|_| failed.to_owned())
}

async fn decode(blob: &Blob, longest_side: u32) -> Result<Pixels, JsValue> {
    let window = super::dom::window().ok_or(JsValue::NULL)?;
    let bitmap: ImageBitmap = JsFuture::from(create_bitmap(&window, blob)?)
        .await?
        .dyn_into()?;
    let (full_width, full_height) = (bitmap.width(), bitmap.height());
    let longest = full_width.max(full_height).max(1);
    let shrink = (f64::from(longest_side) / f64::from(longest)).min(1.0);
    let side = |full: u32| ((f64::from(full) * shrink).round() as u32).max(1);
    let (width, height) = (side(full_width), side(full_height));
    let document = super::dom::document().ok_or(JsValue::NULL)?;
    let canvas: HtmlCanvasElement = document.create_element("canvas")?.dyn_into()?;
    canvas.set_width(width);
    canvas.set_height(height);
    let context: CanvasRenderingContext2d = canvas
        .get_context("2d")?
        .ok_or(JsValue::NULL)?
        .dyn_into()
        .map_err(JsValue::from)?;
    // A transparent picture is put on white, as it would on paper.
    context.set_fill_style_str("#fff");
    context.fill_rect(0.0, 0.0, f64::from(width), f64::from(height));
    context.draw_image_with_image_bitmap_and_dw_and_dh(
        &bitmap,
        0.0,
        0.0,
        f64::from(width),
        f64::from(height),
    )?;
    bitmap.close();
    let data = context
        .get_image_data(0.0, 0.0, f64::from(width), f64::from(height))?
        .data();
    let rgb = data
        .chunks_exact(4)
        .flat_map(|p| [p[0], p[1], p[2]])
        .collect();
    Ok(Pixels {
        width: width as usize,
        height: height as usize,
        rgb,
    })
}

/// `createImageBitmap` called through reflection, so that a missing function is an error and no
/// throw.
fn create_bitmap(window: &web_sys::Window, blob: &Blob) -> Result<js_sys::Promise, JsValue> {
    let function = js_sys::Reflect::get(window, &JsValue::from_str("createImageBitmap"))?;
    let function: js_sys::Function = function.dyn_into()?;
    function.call1(window, blob)?.dyn_into()
}
