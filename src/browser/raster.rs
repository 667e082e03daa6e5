//! Turning an SVG drawing into a PNG file.

use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, CanvasRenderingContext2d, HtmlCanvasElement, HtmlImageElement};

/// Pixels a CSS pixel of the drawing.
const SCALE: f64 = 2.0;

/// Draws an SVG text of the given size in CSS pixels into a PNG of twice that size.
///
/// # Errors
/// The browser's words for its refusal.
pub(crate) async fn png(svg: &str, width: u32, height: u32) -> Result<Blob, JsValue> {
    let image = HtmlImageElement::new()?;
    image.set_src(&format!(
        "data:image/svg+xml;charset=utf-8,{}",
        js_sys::encode_uri_component(svg)
    ));
    JsFuture::from(image.decode()).await?;
    let document = super::dom::document().ok_or(JsValue::NULL)?;
    let canvas: HtmlCanvasElement = document.create_element("canvas")?.dyn_into()?;
    canvas.set_width((f64::from(width) * SCALE) as u32);
    canvas.set_height((f64::from(height) * SCALE) as u32);
    let context: CanvasRenderingContext2d = canvas
        .get_context("2d")?
        .ok_or(JsValue::NULL)?
        .dyn_into()
        .map_err(JsValue::from)?;
    context.scale(SCALE, SCALE)?;
    context.draw_image_with_html_image_element(&image, 0.0, 0.0)?;
    to_blob(&canvas).await
}

async fn to_blob(canvas: &HtmlCanvasElement) -> Result<Blob, JsValue> {
    let mut failed = None;
    let promise = js_sys::Promise::new(&mut |resolve, reject| {
        if let Err(error) = canvas.to_blob(&resolve) {
            failed = Some(reject.call1(&JsValue::NULL, &error));
        }
    });
    JsFuture::from(promise).await?.dyn_into()
}
