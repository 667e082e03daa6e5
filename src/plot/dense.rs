//! Charts with so many points that an element for them would burden the page: on a canvas.

use ::plot::{Chart, FINE, Layout, Pen, Role, draw};
use leptos::html::Canvas;
use leptos::prelude::*;
use leptos::web_sys::HtmlCanvasElement;
use plotters::prelude::IntoDrawingArea;

use super::fine_canvas::FineCanvas;
use crate::browser::canvas::{device_scale, fit, size_of};
use crate::display::theme;

/// Most points that are drawn as SVG.
pub(crate) const MOST_SVG_POINTS: usize = 2000;

/// A canvas with the chart, `height` CSS pixels high.
pub(crate) fn canvas(
    chart: Signal<Option<Chart>>,
    spoken: Signal<String>,
    height: u32,
) -> impl IntoView {
    let canvas = NodeRef::<Canvas>::new();
    keep_painted(canvas, chart);
    view! { <canvas node_ref=canvas role="img" aria-label=spoken style=format!("height:{height}px")></canvas> }
}

/// Paints at once at another size or in another theme, and another chart with the next frame: to
/// set a font has the browser lay out the page, which is best done after all changes of an edit.
fn keep_painted(canvas: NodeRef<Canvas>, chart: Signal<Option<Chart>>) {
    let size = size_of(canvas);
    let now = move || {
        if let Some(Some(canvas)) = canvas.try_get_untracked() {
            // A canvas that cannot be drawn on leaves the table, which says the same.
            chart.try_with_untracked(|chart| paint(&canvas, chart.as_ref()?));
        }
    };
    Effect::new(move |_| {
        size.track();
        now();
    });
    let waits = StoredValue::new(false);
    Effect::new(move |_| {
        chart.track();
        if waits.get_value() {
            return;
        }
        waits.set_value(true);
        request_animation_frame(move || {
            // The page may have been left.
            if waits.try_update_value(|waits| *waits = false).is_some() {
                now();
            }
        });
    });
}

fn paint(canvas: &HtmlCanvasElement, chart: &Chart) -> Option<()> {
    let (context, width, height) = fit(canvas)?;
    let scale = device_scale();
    let size = ((width / scale) as u32, (height / scale) as u32);
    let fine = f64::from(FINE);
    context.save();
    let drawn = context
        .scale(1.0 / fine, 1.0 / fine)
        .ok()
        .and_then(|()| FineCanvas::new(canvas.clone()))
        .and_then(|backend| {
            let (root, theme) = (backend.into_drawing_area(), theme::current());
            let pen = Pen::new(&root, &theme, scale * fine);
            pen.fill(Role::Sheet).ok()?;
            draw(&pen, chart, &Layout::new(chart, size)).ok()
        });
    context.restore();
    drawn
}
