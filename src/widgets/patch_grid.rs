//! A picture cut into square patches, each of which can be pointed at, pressed and walked to.

use std::sync::Arc;

use cells::input::Pixels;
use leptos::html::Canvas;
use leptos::prelude::*;
use leptos::web_sys;

use super::cursor::moved;
use super::events::share_within;
use super::markup::in_markup;
use super::patch_canvas::{Ruling, background, draw, patches, source};
use super::{Domain, Grid, Selected};
use crate::browser::canvas::{fit, size_of};

/// The picture with grid lines and the selected patch outlined.
#[component]
pub fn PatchGrid(
    /// The picture.
    #[prop(into)]
    pixels: Signal<Option<Arc<Pixels>>>,
    /// Side of a patch in pixels of the picture.
    #[prop(into)]
    patch: Signal<usize>,
    /// Label of the picture.
    #[prop(into)]
    label: String,
    /// The selected patch, counted row by row from 0.
    #[prop(into)]
    selected: Selected<usize>,
    /// One value a patch, drawn as colours over the picture.
    #[prop(optional, into)]
    overlay: Option<Signal<Option<Grid>>>,
    /// Values at the ends of these colours.
    #[prop(into, default = Signal::stored(Domain::Auto))]
    overlay_domain: Signal<Domain>,
    /// Whether there are lines between the patches.
    #[prop(default = true)]
    is_ruled: bool,
    /// Side in patches of the windows whose borders are drawn, 0 for none, and the first patch at which
    /// one begins.
    #[prop(into, default = Signal::stored((0, 0)))]
    windows: Signal<(usize, usize)>,
    /// Whether another grid with the same selection says which patch is selected.
    #[prop(optional)]
    is_quiet: bool,
    /// Called when a patch is pressed, by a click or with Enter or space: the caller then decides what is
    /// selected, and arrow keys only move.
    #[prop(optional, into)]
    on_press: Option<Callback<usize>>,
    /// Number of the first patch, row and column, as the cell around the grid counts them.
    #[prop(default = 1)]
    counts_from: usize,
) -> impl IntoView {
    let canvas = NodeRef::<Canvas>::new();
    let shape = Memo::new(move |_| {
        pixels.with(|p| {
            p.as_ref()
                .map_or((0, 0), |p| patches(p.width, p.height, patch.get()))
        })
    });
    let overlay = overlay.map(|overlay| (overlay, overlay_domain));
    let ruling = Signal::derive(move || Ruling {
        patch: patch.get(),
        is_ruled,
        windows: windows.get(),
    });
    keep_drawn(canvas, pixels, ruling, overlay, selected);
    let under = move |event: &web_sys::MouseEvent| -> Option<usize> {
        let size = pixels.with_untracked(|p| p.as_ref().map(|p| (p.width, p.height)))?;
        let share = share_within(&*canvas.get_untracked()?, event)?;
        patch_at(share, size, patch.get_untracked())
    };
    let on_key = move |event: leptos::ev::KeyboardEvent| {
        let (rows, cols) = shape.get_untracked();
        let at = selected.get_untracked().unwrap_or_default();
        if let Some(press) = on_press
            && matches!(event.key().as_str(), "Enter" | " ")
        {
            event.prevent_default();
            press.run(at);
            return;
        }
        let place = (at / cols.max(1), at % cols.max(1));
        if let Some((row, col)) = moved(&event.key(), event.ctrl_key(), place, rows, cols) {
            event.prevent_default();
            selected.choose(Some(row * cols + col));
        }
    };
    let ratio = move || {
        pixels.with(|p| {
            let p = p.as_ref()?;
            let ratio = format!("aspect-ratio:{} / {}", p.width.max(1), p.height.max(1));
            // A patch as large as the picture has no line beside it.
            let side = if is_ruled {
                patch.get()
            } else {
                p.width.max(p.height)
            };
            Some(match in_markup(|| background(p, side)) {
                Some(background) => ratio + &background,
                None => ratio,
            })
        })
    };
    view! {
        <div
            class="patch-grid"
            role="group"
            tabindex="0"
            aria-label=format!("{label}; arrow keys move from patch to patch")
            on:keydown=on_key
            on:focus=move |_| {
                if selected.get_untracked().is_none() && shape.get_untracked().0 > 0 {
                    selected.point(Some(0));
                }
            }
        >
            <canvas
                node_ref=canvas
                aria-hidden="true"
                style=ratio
                on:click=move |event| {
                    match (under(&event), on_press) {
                        (Some(place), Some(press)) => press.run(place),
                        (Some(place), None) => selected.choose(Some(place)),
                        (None, _) => {}
                    }
                }
            ></canvas>
            {(!is_quiet).then(|| view! {
                <p class="vh" aria-live="polite" data-label="">
                    {move || spoken(selected.get()?, shape.get(), counts_from)}
                </p>
            })}
        </div>
    }
}

/// Draws whenever something that the picture shows has changed.
fn keep_drawn(
    canvas: NodeRef<Canvas>,
    pixels: Signal<Option<Arc<Pixels>>>,
    ruling: Signal<Ruling>,
    overlay: Option<(Signal<Option<Grid>>, Signal<Domain>)>,
    selected: Selected<usize>,
) {
    let size = size_of(canvas);
    // Turning pixels into a canvas takes longer than drawing from one: it is done once a picture.
    let drawn = StoredValue::new_local(None);
    Effect::new(move |_| drawn.set_value(pixels.with(|p| p.as_ref().and_then(|p| source(p)))));
    Effect::new(move |_| {
        size.track();
        pixels.track();
        let (ruling, selected) = (ruling.get(), selected.get());
        let overlay = overlay.and_then(|(grid, domain)| Some((grid.get()?, domain.get())));
        let Some(canvas) = canvas.get() else { return };
        let Some((ctx, width, height)) = fit(&canvas) else {
            return;
        };
        drawn.with_value(|source| {
            if let Some(source) = source {
                let size = (width, height);
                let overlay = overlay.as_ref();
                draw(&ctx, size, source, ruling, overlay, selected);
            }
        });
    });
}

/// The patch that holds the point at these shares of the picture's width and height.
fn patch_at((x, y): (f64, f64), (width, height): (usize, usize), patch: usize) -> Option<usize> {
    let (rows, cols) = patches(width, height, patch);
    let side = patch.max(1) as f64;
    let row = (y.max(0.0) * height as f64 / side) as usize;
    let col = (x.max(0.0) * width as f64 / side) as usize;
    (row < rows && col < cols).then_some(row * cols + col)
}

/// Text for assistive technology when another patch is selected.
fn spoken(patch: usize, (_, cols): (usize, usize), first: usize) -> Option<String> {
    let (row, col) = (patch.checked_div(cols)?, patch % cols);
    Some(format!(
        "Patch {}: row {}, column {}",
        patch + first,
        row + first,
        col + first
    ))
}

#[cfg(test)]
mod tests {
    use super::{patch_at, spoken};

    #[test]
    fn a_patch_is_numbered_as_its_cell_counts() {
        let said = |first| spoken(130, (14, 14), first).unwrap();
        assert_eq!(said(1), "Patch 131: row 10, column 5");
        assert_eq!(said(0), "Patch 130: row 9, column 4");
        assert_eq!(spoken(3, (0, 0), 1), None);
    }

    #[test]
    fn a_point_in_the_margin_belongs_to_no_patch() {
        assert_eq!(patch_at((0.0, 0.0), (100, 50), 16), Some(0));
        assert_eq!(patch_at((0.5, 0.5), (100, 50), 16), Some(9));
        assert_eq!(patch_at((0.99, 0.5), (100, 50), 16), None);
        assert_eq!(patch_at((0.5, 0.5), (100, 50), 0), None);
    }
}
