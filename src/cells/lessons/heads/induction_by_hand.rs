//! Two heads by hand: their weights side by side, and the next word that they expect.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::bars::share_row;
use crate::cells::parts::figures::later_pairs;
use crate::widgets::{Concept, Domain, HeatMap, More, Place, Selected};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let selected = cx.selected_place("selected");
    view! {
        <div class="controls">{cx.text_box("sentence")} {cx.toggle_box("previous")}</div>
        <div class="cols-3">
            {map(cx, "previous", "Head 1: the word before", selected)}
            {map(cx, "weights", "Head 2: after the same word", selected)} {expected(cx)}
        </div>
        <More summary="How sharp the second head is">{cx.slider("sharpness", Format::Fixed(1))}</More>
    }
    .into_any()
}

/// The weights of one of the heads.
fn map(
    cx: CellCx,
    tensor: &'static str,
    label: &'static str,
    selected: Selected<Place>,
) -> AnyView {
    let tokens = cx.words("tokens");
    let hidden = Signal::derive(move || later_pairs(tokens.with(Vec::len)));
    view! {
        <HeatMap
            grid=cx.grid_with(tensor, Signal::stored(Vec::new()), "tokens", "tokens")
            label
            domain=Domain::Fixed(0.0, 1.0)
            format=Format::Fixed(2)
            concept=Concept::Weight
            selected
            hidden
            no_legend=true
        />
    }
    .into_any()
}

/// What head 2 writes at the last word.
fn expected(cx: CellCx) -> AnyView {
    let known = cx.words("known");
    let rows = move || {
        let row = |(n, word): (usize, String)| {
            let number = cx.num("expected", &[n], Format::Percent(1));
            share_row(cx, word, ("expected", vec![n]), number)
        };
        known.get().into_iter().enumerate().map(row).collect_view()
    };
    let best = cx.words("best");
    let best = move || best.with(|words| words.first().cloned().unwrap_or_default());
    view! {
        <div class="stack tight">
            <p class="panel-title">"Expected after the last word"</p>
            <ul class="shares">{rows}</ul>
            <p class="verdict">
                "Next: " <strong data-label="">{best}</strong> ", with "
                {cx.num("best.share", &[], Format::Percent(1))}
            </p>
        </div>
    }
    .into_any()
}
