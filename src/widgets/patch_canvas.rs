//! Drawing a picture with its patches.

use cells::input::Pixels;
use leptos::web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

use super::{Concept, Grid, Place};
use crate::browser::canvas::picture;
use crate::display::palette::{Domain, Palette};

/// Number of whole patches of side `patch` that fit: rows and columns.
pub(crate) fn patches(width: usize, height: usize, patch: usize) -> Place {
    let whole = |side: usize| side.checked_div(patch).unwrap_or_default();
    (whole(height), whole(width))
}

/// The picture as a canvas of its own size, to be drawn from at any scale.
pub(crate) fn source(pixels: &Pixels) -> Option<HtmlCanvasElement> {
    let mut rgba = Vec::with_capacity(4 * pixels.width * pixels.height);
    for rgb in pixels.rgb.chunks_exact(3) {
        rgba.extend_from_slice(rgb);
        rgba.push(255);
    }
    picture(&rgba, pixels.width, pixels.height)
}

/// Picture and grid lines as the background of a canvas that nothing draws on, in CSS.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn background(pixels: &Pixels, patch: usize) -> String {
    let (rows, cols) = patches(pixels.width, pixels.height, patch);
    let lines = |towards: &str, side: usize, whole: usize| {
        let step = 100.0 * patch as f64 / side.max(1) as f64;
        let colours = "#ffffffbf 0 1px,#0000 1px";
        if whole > 1 {
            format!("repeating-linear-gradient({towards},{colours} {step:.4}%),")
        } else {
            String::new()
        }
    };
    format!(
        ";background:{}{}url({}) 0 0/100% 100%;image-rendering:pixelated",
        lines("to right", pixels.width, cols),
        lines("to bottom", pixels.height, rows),
        crate::browser::canvas::data_url(pixels)
    )
}

/// The browser draws on the canvas itself.
#[cfg(target_arch = "wasm32")]
pub(crate) fn background(_: &Pixels, _: usize) -> String {
    String::new()
}

/// The lines over a picture.
#[derive(Clone, Copy)]
pub(crate) struct Ruling {
    /// Side of a patch in pixels of the picture.
    pub(crate) patch: usize,
    /// Whether there are lines between the patches.
    pub(crate) is_ruled: bool,
    /// Side of a window in patches, 0 for none, and the first patch at which one begins.
    pub(crate) windows: (usize, usize),
}

/// Draws picture, overlay, grid lines (where it is ruled), the borders of windows and the selected
/// patch into `width` x `height` device pixels.
pub(crate) fn draw(
    ctx: &CanvasRenderingContext2d,
    (width, height): (f64, f64),
    source: &HtmlCanvasElement,
    ruling: Ruling,
    overlay: Option<&(Grid, Domain)>,
    selected: Option<usize>,
) {
    let scale = width / f64::from(source.width());
    let patch = ruling.patch;
    let (rows, cols) = patches(source.width() as usize, source.height() as usize, patch);
    let side = patch as f64 * scale;
    ctx.clear_rect(0.0, 0.0, width, height);
    // Enlarged pixels are the point of small pictures; shrunk ones want smoothing.
    ctx.set_image_smoothing_enabled(scale < 1.0);
    ctx.draw_image_with_html_canvas_element_and_dw_and_dh(source, 0.0, 0.0, width, height)
        .ok();
    if let Some((grid, domain)) = overlay {
        tint(ctx, grid, *domain, side);
    }
    if ruling.is_ruled {
        lines(ctx, (rows, cols), side);
    }
    borders(ctx, (rows, cols), side, ruling.windows);
    if let Some(n) = selected.filter(|&n| n < rows * cols) {
        let (x, y) = ((n % cols) as f64 * side, (n / cols) as f64 * side);
        for (colour, wide) in [("#000", 5.0), ("#fff", 2.5)] {
            ctx.set_stroke_style_str(colour);
            ctx.set_line_width(wide);
            ctx.stroke_rect(x, y, side, side);
        }
    }
}

/// One colour per patch over the picture.
fn tint(ctx: &CanvasRenderingContext2d, grid: &Grid, domain: Domain, side: f64) {
    let ends = domain.resolve(grid);
    let theme = crate::display::theme::current();
    ctx.set_global_alpha(0.62);
    for row in 0..grid.rows {
        for col in 0..grid.cols {
            let Some(value) = grid.at(row, col).filter(|v| v.is_finite()) else {
                continue;
            };
            let share = Palette::Sequential.share(value, ends);
            let [r, g, b] = Palette::Sequential.colour(share, Concept::Weight, &theme);
            ctx.set_fill_style_str(&format!("rgb({r} {g} {b})"));
            ctx.fill_rect(col as f64 * side, row as f64 * side, side, side);
        }
    }
    ctx.set_global_alpha(1.0);
}

/// Grid lines, dark under light so that they show on any picture. Left out where they would hide
/// it.
fn lines(ctx: &CanvasRenderingContext2d, (rows, cols): Place, side: f64) {
    if side < 6.0 {
        return;
    }
    let (right, bottom) = (cols as f64 * side, rows as f64 * side);
    for (colour, shift) in [("rgba(0,0,0,0.45)", 0.5), ("rgba(255,255,255,0.75)", -0.5)] {
        ctx.set_stroke_style_str(colour);
        ctx.set_line_width(1.0);
        ctx.begin_path();
        for i in 0..=cols {
            let x = (i as f64 * side).round() + shift;
            ctx.move_to(x, 0.0);
            ctx.line_to(x, bottom);
        }
        for i in 0..=rows {
            let y = (i as f64 * side).round() + shift;
            ctx.move_to(0.0, y);
            ctx.line_to(right, y);
        }
        ctx.stroke();
    }
}

/// The places of the borders between windows along a side of `count` patches.
fn border_places(count: usize, (window, first): (usize, usize)) -> Vec<usize> {
    if window == 0 {
        return Vec::new();
    }
    let places = (first % window..=count).step_by(window);
    places.filter(|&at| at > 0 && at < count).collect()
}

/// The borders of windows, wider than the lines between patches.
fn borders(
    ctx: &CanvasRenderingContext2d,
    (rows, cols): Place,
    side: f64,
    windows: (usize, usize),
) {
    let (right, bottom) = (cols as f64 * side, rows as f64 * side);
    for (colour, wide) in [("#000", 5.0), ("#fff", 2.5)] {
        ctx.set_stroke_style_str(colour);
        ctx.set_line_width(wide);
        ctx.begin_path();
        for at in border_places(cols, windows) {
            ctx.move_to(at as f64 * side, 0.0);
            ctx.line_to(at as f64 * side, bottom);
        }
        for at in border_places(rows, windows) {
            ctx.move_to(0.0, at as f64 * side);
            ctx.line_to(right, at as f64 * side);
        }
        ctx.stroke();
    }
}

#[cfg(test)]
mod tests {
    use super::{border_places, patches};

    #[test]
    fn windows_have_borders_inside_the_picture() {
        assert_eq!(border_places(8, (4, 0)), [4]);
        assert_eq!(border_places(8, (4, 2)), [2, 6]);
        assert_eq!(border_places(8, (2, 1)), [1, 3, 5, 7]);
        assert!(border_places(8, (8, 0)).is_empty() && border_places(8, (0, 0)).is_empty());
    }

    #[test]
    fn counts_whole_patches() {
        assert_eq!(patches(224, 224, 16), (14, 14));
        assert_eq!(patches(100, 50, 16), (3, 6));
        assert_eq!(patches(8, 8, 0), (0, 0));
    }
}
