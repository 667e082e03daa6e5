//! The memory of a decoder as bars: for an answer, and for a step of training.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::bars::share_row;

/// A part: its name, its size, and that as a share of the largest part.
type Part = (&'static str, &'static str, &'static str);

/// What an answer needs.
const ANSWER: [Part; 2] = [
    ("parameters", "weights.gigabytes", "weights.share"),
    ("cache of keys and values", "cache.gigabytes", "cache.share"),
];

/// What a step of training needs.
const TRAINING: [Part; 3] = [
    (
        "parameters, gradients, Adam",
        "state.gigabytes",
        "state.share",
    ),
    (
        "activations kept",
        "activations.gigabytes",
        "activations.share",
    ),
    (
        "attention weights kept",
        "attention.gigabytes",
        "attention.share",
    ),
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        {cx.choice_box("model")}
        <div class="controls">{cx.log_slider("tokens", Format::Count)}</div>
        <div class="cols-2">
            {bars(cx, "To write an answer", &ANSWER, "answer.gigabytes")}
            {bars(cx, "To train on such a text", &TRAINING, "training.gigabytes")}
        </div>
        <p>
            "The model has " {cx.num("parameters", &[], Format::Count)} " parameters: "
            {cx.num("layers", &[], Format::Count)} " layers of dimension "
            {cx.num("width", &[], Format::Count)} ", " {cx.num("heads", &[], Format::Count)}
            " heads of queries and " {cx.num("kv_heads", &[], Format::Count)}
            " of keys and values. Each token adds " {cx.num("cache.token", &[], Format::Count)}
            " bytes to the cache, which is as large as the parameters at "
            {cx.num("cache.equal", &[], Format::Count)} " tokens."
        </p>
    }
    .into_any()
}

fn bars(cx: CellCx, title: &'static str, parts: &'static [Part], total: &'static str) -> AnyView {
    let bar = |&(name, size, share): &Part| {
        let number = cx.num(size, &[], Format::Power(1));
        share_row(cx, name, (share, Vec::new()), number)
    };
    view! {
        <section class="panel">
            <p class="panel-title">{title} ", in gigabytes"</p>
            <ul class="shares">{parts.iter().map(bar).collect_view()}</ul>
            <p>"Together " <strong>{cx.num(total, &[], Format::Power(1))}</strong> " GB"</p>
        </section>
    }
    .into_any()
}
