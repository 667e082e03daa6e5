//! Word vectors plus the rows of a table: where a row comes from, where the table ends, what its
//! rows know.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{labelled, named_rows, position_name, values};
use crate::cells::parts::model_note::{is_random, model_box, model_note, only_if, pieces_note};
use crate::widgets::{Concept, Domain, Grid, HeatMap, More, Palette, Place};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let selected = cx.selected_place("selected");
    let prefix = Signal::stored(Vec::new());
    // The row in view is outlined in all three matrices.
    let computed = cx.computed();
    let row = Signal::derive(move || {
        let width = computed
            .with(|c| {
                c.as_ref()
                    .and_then(|c| c.tensor("table")?.shape().get(1).copied())
            })
            .unwrap_or(0);
        selected.get().map_or_else(Vec::new, |(t, _)| {
            (0..width).map(|j| (t, j)).collect::<Vec<Place>>()
        })
    });
    // One scale for all three, so that equal numbers have equal colours.
    let domain = Signal::derive(move || {
        let reach = computed.with(|c| {
            let all = c.as_ref().map(|c| {
                ["embedded", "picked", "sum"]
                    .map(|name| values(c, name))
                    .concat()
            });
            all.unwrap_or_default()
                .into_iter()
                .map(f64::abs)
                .fold(0.0, f64::max)
        });
        Domain::Fixed(-reach, reach)
    });
    let map =
        move |grid: Signal<Option<Grid>>, label: &'static str, concept: Concept, last: bool| {
            view! {
                <HeatMap
                    grid
                    label
                    palette=Palette::Diverging
                    domain
                    format=Format::Fixed(2)
                    concept
                    numbers=false
                    selected
                    mark=row
                    no_legend=!last
                />
            }
        };
    view! {
        <div class="controls">
            {cx.text_box("sentence")} {model_box(cx)}
            {only_if(is_random(cx), move || view! {
                {cx.slider("rows", Format::Count)} {cx.slider("width", Format::Count)}
            }.into_any())}
        </div>
        {pieces_note(cx)}
        <div class="equation">
            {map(cx.grid_with("embedded", prefix, "kept", ""), "Word vectors", Concept::Residual, false)}
            <span class="operator" aria-hidden="true">"+"</span>
            {map(named_rows(cx.grid("picked"), position_name), "Their position vectors", Concept::Position, false)}
            <span class="operator" aria-hidden="true">"="</span>
            {map(cx.grid_with("sum", prefix, "kept", ""), "Sums", Concept::Output, true)}
        </div>
        {end_of_table(cx)}
        <More summary="How similar are the rows of the table?">
            <div class="cols-2">
                {alike(cx, "alike.learned", "Similarity of the table\u{2019}s rows")}
                {alike(cx, "alike.waves", "Similarity of sines and cosines of the same width")}
            </div>
        </More>
        {model_note(cx)}
    }
    .into_any()
}

/// Size of the table, and whether the sentence fits.
fn end_of_table(cx: CellCx) -> AnyView {
    let left_out = cx.value("left_out", Vec::new());
    let fits = move || left_out.get().is_some_and(|n| n == 0.0);
    view! {
        <dl class="readout">
            <div>
                <dt>"rows of the table"</dt>
                <dd>{cx.num("rows", &[], Format::Count)}</dd>
            </div>
            <div>
                <dt>"numbers in a row"</dt>
                <dd>{cx.num("width", &[], Format::Count)}</dd>
            </div>
            <div>
                <dt>"parameters of the table"</dt>
                <dd>{cx.num("parameters", &[], Format::Count)}</dd>
            </div>
            <div>
                <dt>"tokens of the sentence"</dt>
                <dd>{cx.num("tokens_total", &[], Format::Count)}</dd>
            </div>
            <div>
                <dt>"tokens without a row"</dt>
                <dd>{cx.num("left_out", &[], Format::Count)}</dd>
            </div>
        </dl>
        <p class="verdict" class:good=fits class:bad=move || !fits()>
            {move || {
                if fits() {
                    "The table has a row for every token."
                } else {
                    "The table has ended: the last tokens have no row, so the model cannot read them at all."
                }
            }}
        </p>
    }
    .into_any()
}

fn alike(cx: CellCx, name: &'static str, label: &'static str) -> AnyView {
    view! {
        <HeatMap
            grid=labelled(cx.grid(name), position_name, |position| position.to_string())
            label
            palette=Palette::Diverging
            domain=Domain::Fixed(-1.0, 1.0)
            format=Format::Fixed(2)
            concept=Concept::Position
            numbers=false
        />
    }
    .into_any()
}
