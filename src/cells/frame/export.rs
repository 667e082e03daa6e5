//! The export dialog: tensors as CSV or .npy, figures as SVG or PNG.

use std::sync::Arc;

use cells::Computation;
use leptos::prelude::*;

use crate::browser::{download, raster};
use crate::cells::frame::context::CellCx;
use crate::widgets::{Concept, Domain, Grid, Hatched, Palette};
use crate::{display, plot};

/// Tables of everything that can be saved.
pub(crate) fn body(cx: CellCx) -> AnyView {
    let Some(computation) = cx.outcome.with_untracked(|o| o.whole().cloned()) else {
        return view! { <p>"This cell has not computed its result yet."</p> }.into_any();
    };
    let failed = RwSignal::new(false);
    let id = cx.id.get_value();
    let charts = cx.charts().into_iter().filter_map(|(name, chart)| {
        let svg = plot::chart_document(&chart.get_untracked()?, &display::theme::current());
        Some(figure_row(&id, &name, svg, failed))
    });
    let charts: Vec<_> = charts.collect();
    let tensors = tensor_rows(&id, &computation, cx.hatched(), failed);
    view! {
        {(!charts.is_empty()).then(|| view! {
            <h3>"Charts"</h3>
            <table class="values with-buttons"><thead><tr><th scope="col">"Chart"</th><th scope="col">"Save"</th></tr></thead>
                <tbody>{charts}</tbody></table>
        })}
        <h3>"Tensors"</h3>
        <div class="scroll" tabindex="0" role="region" aria-label="Tensors">
            <table class="values with-buttons">
                <thead><tr><th scope="col">"Name"</th><th scope="col">"Shape"</th><th scope="col">"Values"</th><th scope="col">"Heat map"</th></tr></thead>
                <tbody>{tensors}</tbody>
            </table>
        </div>
        <p role="status">{move || failed.get().then_some("This browser refused to save the file.")}</p>
    }
    .into_any()
}

fn figure_row(id: &str, name: &str, svg: plot::Document, failed: RwSignal<bool>) -> AnyView {
    view! { <tr><th scope="row">{name.to_owned()}</th><td>{figure_buttons(format!("{id}-{name}"), name, svg, failed)}</td></tr> }
        .into_any()
}

fn figure_buttons(
    file: String,
    name: &str,
    drawing: plot::Document,
    failed: RwSignal<bool>,
) -> AnyView {
    let drawing = Arc::new(drawing);
    let (svg, png) = (drawing.clone(), drawing);
    let (svg_file, png_file) = (format!("{file}.svg"), format!("{file}.png"));
    let save_svg = move |_| {
        failed.set(download::save(&svg_file, "image/svg+xml", svg.svg.as_bytes()).is_err());
    };
    let save_png = move |_| {
        let (png, file) = (png.clone(), png_file.clone());
        leptos::task::spawn_local(async move {
            let saved = match raster::png(&png.svg, png.width, png.height).await {
                Ok(blob) => download::save_blob(&file, &blob).is_ok(),
                Err(_) => false,
            };
            failed.set(!saved);
        });
    };
    view! {
        <button type="button" class="button quiet" aria-label=format!("{name} as SVG") on:click=save_svg>"SVG"</button>
        <button type="button" class="button quiet" aria-label=format!("{name} as PNG") on:click=save_png>"PNG"</button>
    }
    .into_any()
}

fn tensor_rows(
    id: &str,
    computation: &Arc<Computation>,
    hatched: Hatched,
    failed: RwSignal<bool>,
) -> Vec<AnyView> {
    let rows = computation.tensors.iter().map(|(name, tensor)| {
        let shape = tensor.shape().iter().map(usize::to_string).collect::<Vec<_>>().join(" \u{d7} ");
        let file = format!("{id}-{name}");
        let grid = Grid::from_tensor(computation, name, Vec::new()).filter(|_| tensor.shape().len() == 2);
        let figure = grid.map(|grid| {
            let (low, high) = Domain::Auto.resolve(&grid);
            let (palette, domain) = if low < 0.0 {
                (Palette::Diverging, Domain::Symmetric)
            } else {
                (Palette::Sequential, Domain::Fixed(0.0, high))
            };
            let concept = if name.contains("weights") {
                Concept::Weight
            } else {
                Concept::Plain
            };
            let (palette, hidden) = match hatched.of(name) {
                Some((Palette::Mask, hidden)) => (Palette::Mask, hidden),
                Some((_, hidden)) => (palette, hidden),
                None => (palette, Vec::new()),
            };
            let drawing = plot::heat_map_svg(&grid, palette, concept, domain, &hidden);
            figure_buttons(file.clone(), name, drawing, failed)
        });
        let (csv, npy) = (tensor.clone(), tensor.clone());
        let (csv_file, npy_file) = (format!("{file}.csv"), format!("{file}.npy"));
        let save_csv = move |_| {
            failed.set(download::save(&csv_file, "text/csv", cells::export::csv(&csv).as_bytes()).is_err());
        };
        let save_npy = move |_| {
            failed.set(download::save(&npy_file, "application/octet-stream", &cells::export::npy(&npy)).is_err());
        };
        view! {
            <tr>
                <th scope="row"><code>{name.clone()}</code></th>
                <td>{if shape.is_empty() { "one number".to_owned() } else { shape }}</td>
                <td>
                    <button type="button" class="button quiet" aria-label=format!("{name} as CSV") on:click=save_csv>"CSV"</button>
                    <button type="button" class="button quiet" aria-label=format!("{name} as npy") on:click=save_npy>".npy"</button>
                </td>
                <td>{figure}</td>
            </tr>
        }
        .into_any()
    });
    rows.collect()
}
