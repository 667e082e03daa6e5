//! Canvases: their context, their size in device pixels, and a signal of when to draw again.

use leptos::html::Canvas;
use leptos::prelude::*;
use leptos::wasm_bindgen::Clamped;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{CanvasRenderingContext2d, Element, HtmlCanvasElement, ImageData};

use super::resize::on_resize;
use super::theme;

/// The drawing context of a canvas.
pub(crate) fn context(canvas: &HtmlCanvasElement) -> Option<CanvasRenderingContext2d> {
    canvas.get_context("2d").ok()??.dyn_into().ok()
}

/// Device pixels per CSS pixel.
pub(crate) fn device_scale() -> f64 {
    window().device_pixel_ratio().max(1.0)
}

/// Gives the canvas as many pixels as the screen has in its area. Only where the layout is known:
/// asking for it in the middle of a change to the page would have the browser lay everything out at
/// once.
fn fit_to_screen(canvas: &HtmlCanvasElement) {
    let scale = device_scale();
    let width = (f64::from(canvas.client_width()) * scale).round() as u32;
    let height = (f64::from(canvas.client_height()) * scale).round() as u32;
    // Setting a size clears the canvas, also where it stays the same.
    if canvas.width() != width {
        canvas.set_width(width);
    }
    if canvas.height() != height {
        canvas.set_height(height);
    }
}

/// The context of a canvas and its size in device pixels, as [`size_of`] keeps it; `None` while it
/// is not laid out.
pub(crate) fn fit(canvas: &HtmlCanvasElement) -> Option<(CanvasRenderingContext2d, f64, f64)> {
    let (width, height) = (canvas.width(), canvas.height());
    if width == 0 || height == 0 {
        return None;
    }
    Some((context(canvas)?, f64::from(width), f64::from(height)))
}

/// Keeps the canvas as large as its area on the screen. Changes whenever it is resized, shown for
/// the first time, or the theme changes: an effect that tracks it draws again.
pub(crate) fn size_of(canvas: NodeRef<Canvas>) -> Signal<u32> {
    let count = RwSignal::new(0_u32);
    let theme = theme::changes();
    Effect::new(move |_| {
        let Some(canvas) = canvas.get() else { return };
        // Nothing is drawn at the size that a canvas has by itself.
        canvas.set_height(0);
        let observed = canvas.clone();
        on_resize([&*canvas as &Element], move || {
            fit_to_screen(&observed);
            // The signal is gone once the view is; a late call then finds nothing to do.
            count.try_update(|n| *n = n.wrapping_add(1));
        });
    });
    Signal::derive(move || count.get().wrapping_add(theme.get()))
}

/// A picture as the address of a PNG file (RFC 2083) that holds it; empty for a picture without
/// pixels. Every second level of brightness is left out: nobody sees it until the page draws the
/// picture itself, and the file is a fifth smaller.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn data_url(pixels: &cells::input::Pixels) -> String {
    let rgb: Vec<u8> = pixels.rgb.iter().map(|level| level & 0xfe).collect();
    let format = (png::ColorType::Rgb, png::BitDepth::Eight);
    png_url(format, &rgb, pixels.width, pixels.height)
}

/// Levels of grey, row by row, as the address of a PNG file; empty where there are none. Sixteen
/// levels are enough until the page draws the map itself, and the file is half as large.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn grey_data_url(levels: &[u8], width: usize, height: usize) -> String {
    let nearest = |level: &u8| ((u16::from(*level) + 8) / 17) as u8;
    let pair = |two: &[u8]| (nearest(&two[0]) << 4) | two.get(1).map_or(0, nearest);
    // Each row begins with a byte of its own.
    let rows = levels.chunks(width.max(1));
    let bytes: Vec<u8> = rows.flat_map(|row| row.chunks(2).map(pair)).collect();
    let format = (png::ColorType::Grayscale, png::BitDepth::Four);
    png_url(format, &bytes, width, height)
}

/// The smallest file that holds these bytes.
#[cfg(not(target_arch = "wasm32"))]
fn png_url(
    (colour, depth): (png::ColorType, png::BitDepth),
    bytes: &[u8],
    width: usize,
    height: usize,
) -> String {
    use base64::Engine as _;

    let with = |filter: png::Filter| {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, width as u32, height as u32);
        encoder.set_color(colour);
        encoder.set_depth(depth);
        encoder.set_compression(png::Compression::High);
        encoder.set_filter(filter);
        let mut writer = encoder.write_header().ok()?;
        writer.write_image_data(bytes).ok()?;
        writer.finish().ok()?;
        Some(file)
    };
    let filters = [png::Filter::NoFilter, png::Filter::Sub, png::Filter::Paeth];
    let smallest = filters
        .into_iter()
        .filter_map(with)
        .min_by_key(|file| file.len());
    smallest.map_or_else(String::new, |file| {
        let text = base64::engine::general_purpose::STANDARD.encode(&file);
        format!("data:image/png;base64,{text}")
    })
}

/// A canvas of exactly these pixels.
pub(crate) fn picture(rgba: &[u8], width: usize, height: usize) -> Option<HtmlCanvasElement> {
    let canvas: HtmlCanvasElement = document().create_element("canvas").ok()?.dyn_into().ok()?;
    canvas.set_width(width as u32);
    canvas.set_height(height as u32);
    let data =
        ImageData::new_with_u8_clamped_array_and_sh(Clamped(rgba), width as u32, height as u32)
            .ok()?;
    let ctx: CanvasRenderingContext2d = context(&canvas)?;
    ctx.put_image_data(&data, 0.0, 0.0).ok()?;
    Some(canvas)
}
