//! The figure of the paper with the parameters of each box, and the count beside the published one.

use cells::format::Format;
use cells::lessons::encoder_decoder::paper_figure::{BLOCKS, REPEATED};
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::paper_figure::{chosen_box, figure};
use crate::widgets::set;

/// The boxes that use the table of the source embedding.
const TIED: [usize; 2] = [7, 15];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let (chosen, here) = chosen_box(cx);
    view! {
        <div class="controls">{cx.choice_box("model")} {cx.slider("vocabulary", Format::Count)}</div>
        <div class="cols-2">
            {figure(cx, (chosen, here), Some("one"), |_| false)}
            <div class="stack">{move || details(cx, here.get())} {sizes(cx)} {verdict(cx)}</div>
        </div>
    }
    .into_any()
}

/// What the chosen box does, and how many parameters it has.
fn details(cx: CellCx, n: usize) -> AnyView {
    let block = &BLOCKS[n];
    let is_repeated = REPEATED.iter().any(|range| range.contains(&n));
    let note = match (TIED.contains(&n), is_repeated) {
        (true, _) => view! {
            <p>"It has no parameters of its own: it uses the table of the source embedding."</p>
        }
        .into_any(),
        (_, true) => view! {
            <p>"There are " {cx.num("layers", &[], Format::Count)} " of them, one in each block."</p>
        }
        .into_any(),
        _ => ().into_any(),
    };
    view! {
        <section class="panel" aria-live="polite">
            <p class="panel-title">{block.name}</p>
            <p>{set(block.says)}</p>
            <dl class="readout">
                <div>
                    <dt>"parameters of one"</dt>
                    <dd>{cx.num("one", &[n], Format::Count)}</dd>
                </div>
                <div>
                    <dt>"of all"</dt>
                    <dd>{cx.num("all", &[n], Format::Count)}</dd>
                </div>
                <div>
                    <dt>"share of the model"</dt>
                    <dd>{cx.num("share", &[n], Format::Percent(1))}</dd>
                </div>
            </dl>
            {note}
        </section>
    }
    .into_any()
}

fn sizes(cx: CellCx) -> AnyView {
    view! {
        <p class="cell-note">
            {set("$C$")} " = " {cx.num("width", &[], Format::Count)} ", " {set("$F$")} " = "
            {cx.num("inner", &[], Format::Count)} ", " {cx.num("heads", &[], Format::Count)} " heads, "
            {cx.num("layers", &[], Format::Count)} " blocks in each frame."
        </p>
    }
    .into_any()
}

fn verdict(cx: CellCx) -> AnyView {
    view! {
        <p class="verdict">
            "Counted: " <strong>{cx.num("total", &[], Format::Count)}</strong> " parameters. Published: "
            {cx.num("published", &[], Format::Count)}
            " million. The published number would need a vocabulary of "
            {cx.num("needed", &[], Format::Count)} " tokens."
        </p>
    }
    .into_any()
}
