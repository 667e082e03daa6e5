//! The view of `patch-embedding`: the same tokens by a matrix and by a convolution.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::model_note::{is_random, model_box, model_note, only_if};
use crate::widgets::{Concept, Domain, HeatMap, More, Palette, Place, set};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    // Pointing at a number in one table marks the same number in the other.
    let selected = cx.selected_place("selected");
    let mark = Signal::derive(move || selected.get().into_iter().collect::<Vec<Place>>());
    let table = move |name: &'static str, label: &'static str| {
        view! {
            <HeatMap grid=cx.grid(name) label=label palette=Palette::Diverging domain=Domain::Symmetric
                format=Format::Fixed(3) concept=Concept::Output selected=selected mark=mark no_legend=true />
        }
    };
    let random = is_random(cx);
    let trained = Signal::derive(move || !random.get());
    let unfolded = RwSignal::new(false);
    view! {
        <div class="controls">
            {cx.picture_box("picture")}
            {model_box(cx)}
            {only_if(random, move || view! {
                {cx.slider("size", Format::Count)} {cx.slider("patch", Format::Count)} {cx.slider("width", Format::Count)}
            }.into_any())}
        </div>
        <dl class="readout">
            <div><dt>{set("tokens $N$")}</dt><dd>{cx.num("tokens", &[], Format::Count)}</dd></div>
            <div><dt>"numbers in a patch"</dt><dd>{cx.num("inner", &[], Format::Count)}</dd></div>
            <div><dt>{set("parameters of $E$")}</dt><dd>{cx.num("parameters", &[], Format::Count)}</dd></div>
            <div><dt>"index of the first token shown"</dt><dd>{cx.num("first", &[], Format::Count)}</dd></div>
        </dl>
        <div class="cols-2">
            <section class="panel">
                <p class="panel-title">{set("Cut, flatten, multiply by $E$")}</p>
                {table("by_matrix", "Tokens, one in each row")}
            </section>
            <section class="panel">
                <p class="panel-title">{set("Convolve with stride $P$")}</p>
                {table("by_convolution", "Tokens, one in each row")}
            </section>
        </div>
        <p class="verdict good">
            "Largest difference over all tokens: " {cx.num("largest_difference", &[], Format::Power(1))}
        </p>
        {only_if(trained, move || view! {
            <More summary="The learned matrix, and one of its rows as a patch" open=unfolded>{filters(cx)}</More>
        }.into_any())}
        {model_note(cx)}
    }
    .into_any()
}

/// The trained matrix: its rows, one of them as the pattern that it looks for, and the drawing that
/// it is used on.
fn filters(cx: CellCx) -> AnyView {
    let chosen = cx.selected_place("filter");
    let row = Signal::derive(move || chosen.get().map(|(row, _): Place| row).unwrap_or_default());
    let prefix = Signal::derive(move || vec![row.get()]);
    let inner = cx.value("inner", Vec::new());
    let mark = Signal::derive(move || {
        let inner = inner.get().unwrap_or_default() as usize;
        (0..inner)
            .map(|col| (row.get(), col))
            .collect::<Vec<Place>>()
    });
    view! {
        <div class="cols-2">
            <section class="panel scroll" tabindex="0" role="region" aria-label="The learned matrix" style="max-height:40rem;overflow-y:auto">
                <HeatMap grid=cx.grid("e") label="Matrix $E^\u{22a4}$"
                    palette=Palette::Diverging domain=Domain::Symmetric format=Format::Fixed(2) numbers=false
                    selected=chosen mark=mark />
            </section>
            <section class="panel stack">
                <HeatMap grid=cx.grid_with("filters", prefix, "", "") label="The selected row as a patch"
                    palette=Palette::Diverging domain=Domain::Symmetric format=Format::Fixed(2) />
                <HeatMap grid=cx.grid("drawing") label="The drawing as the model reads it" domain=Domain::Fixed(0.0, 1.0)
                    palette=Palette::Brightness
                    format=Format::Fixed(2) picture=true />
            </section>
        </div>
    }
    .into_any()
}
