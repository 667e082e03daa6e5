//! The view of `patch-embedding`: the same tokens by a matrix and by a convolution.

use cells::format::Format;
use leptos::prelude::*;

use super::context::CellCx;
use super::figures::untrained;
use crate::widgets::{Concept, Domain, HeatMap, Palette, Place};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    // Pointing at a number in one table marks the same number in the other.
    let selected = RwSignal::new(None::<Place>);
    let mark = Signal::derive(move || selected.get().into_iter().collect::<Vec<Place>>());
    let table = move |name: &'static str, label: &'static str| {
        view! {
            <HeatMap grid=cx.grid(name) label=label palette=Palette::Diverging domain=Domain::Symmetric
                format=Format::Fixed(3) concept=Concept::Output selected=selected mark=mark />
        }
    };
    view! {
        {cx.picture_box("picture")}
        <div class="controls">
            {cx.slider("size", Format::Count)} {cx.slider("patch", Format::Count)} {cx.slider("width", Format::Count)}
            {cx.seed_box()}
        </div>
        <dl class="readout pairs">
            <dt>"Tokens N"</dt><dd>{cx.num("tokens", &[], Format::Count)}</dd>
            <dt>"Values in a patch"</dt><dd>{cx.num("inner", &[], Format::Count)}</dd>
            <dt>"Weights in E"</dt><dd>{cx.num("parameters", &[], Format::Count)}</dd>
            <dt>"First token shown"</dt><dd>{cx.num("first", &[], Format::Count)}</dd>
        </dl>
        <div class="cols-2">
            <section class="panel">
                <h4>"Cut, flatten, multiply by E"</h4>
                {table("by_matrix", "Tokens by the matrix product: a row for each")}
            </section>
            <section class="panel">
                <h4>"Convolve with stride P"</h4>
                {table("by_convolution", "Tokens by the convolution: a row for each")}
            </section>
        </div>
        <p class="verdict good">
            "Largest difference over all tokens: " {cx.num("largest_difference", &[], Format::Power(1))}
        </p>
        {untrained(cx)}
    }
    .into_any()
}
