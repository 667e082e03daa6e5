//! A mask that is pressed into shape, with the scores before and after it and the weights.

use cells::format::Format;
use cells::{InputValue, Selection};
use leptos::prelude::*;
use ndarray::Array2;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::untrained;
use crate::widgets::{Concept, Domain, Grid, HeatMap, More, Palette, Place, Selected};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let selected = cx.selected_place("selected");
    let preset = cx.choice("preset");
    let size = move || match preset.get().as_str() {
        "padding" => cx.slider("real", Format::Count),
        "local window" => cx.slider("radius", Format::Count),
        "prefix" => cx.slider("prefix", Format::Count),
        _ => ().into_any(),
    };
    view! {
        <div class="controls">{cx.text_box("sentence")} {cx.choice_box("preset")} {size}</div>
        <p class="hint">
            "Click a cell of the mask to hide or show that pair, or use the arrow keys and Enter. Your version is kept as \u{201c}My own\u{201d}."
        </p>
        {stale(cx)}
        {maps(cx, selected)}
        {verdict(cx)}
        <More summary="The scores before and after the mask">{scores(cx, selected)}</More>
        <More summary="The chosen row written out, and the counts">{written_out(cx, selected)} {counts(cx)}</More>
        <More summary="Other random parameters">{cx.seed_box()}</More>
        {untrained(cx)}
    }
    .into_any()
}

/// Says where the reader's own mask does not fit the sentence any more.
fn stale(cx: CellCx) -> AnyView {
    let (chosen, used) = (cx.choice("preset"), cx.words("preset"));
    let differs =
        move || chosen.get() == "my own" && used.with(|u| u.first().is_some_and(|u| u != "my own"));
    view! {
        <p class="hint" role="status">
            {move || differs().then_some("Your own mask was made for a sentence of another length, so the causal mask is shown. Click a cell to edit it.")}
        </p>
    }
    .into_any()
}

/// Hides a visible pair or shows a hidden one; the mask becomes the reader's own.
fn flip(cx: CellCx, place: Place) {
    let mask = cx.computed().with_untracked(|c| {
        let tensor = c.as_ref()?.tensor("mask")?;
        let (rows, cols) = tensor.rows_cols()?;
        Array2::from_shape_vec(
            (rows, cols),
            tensor.values.iter().map(|&x| x as f32).collect(),
        )
        .ok()
    });
    let Some(mut mask) = mask else { return };
    if let Some(entry) = mask.get_mut(place) {
        *entry = 1.0 - *entry;
    }
    let selected = Selection::Entry(vec![place.0, place.1]);
    cx.set_all(vec![
        ("selected", InputValue::Selection(selected)),
        ("mask", InputValue::Matrix(mask)),
        ("preset", InputValue::Choice("my own".to_owned())),
    ]);
}

fn grid(cx: CellCx, name: &'static str) -> Signal<Option<Grid>> {
    cx.grid_with(name, Signal::stored(Vec::new()), "tokens", "tokens")
}

/// The row of the selected pair; pointing at a pair in one map marks its row in all.
fn marked(cx: CellCx, selected: Selected<Place>) -> Signal<Vec<Place>> {
    Signal::derive(move || {
        let row = selected.get().map(|(row, _)| row);
        let cols = cx.words("tokens").with(Vec::len);
        row.map(|row| (0..cols).map(|col| (row, col)).collect::<Vec<_>>())
            .unwrap_or_default()
    })
}

/// The pairs that a mask hides.
fn zeros(mask: &Grid) -> Vec<Place> {
    let places = (0..mask.rows).flat_map(|i| (0..mask.cols).map(move |j| (i, j)));
    places
        .filter(|&(i, j)| mask.at(i, j) == Some(0.0))
        .collect()
}

/// The mask, and what it makes of the weights.
fn maps(cx: CellCx, selected: Selected<Place>) -> AnyView {
    let mark = marked(cx, selected);
    let press = Callback::new(move |place| flip(cx, place));
    let mask = cx.grid("mask");
    let hidden = Signal::derive(move || mask.with(|g| g.as_ref().map(zeros).unwrap_or_default()));
    view! {
        <div class="cols-2">
            <HeatMap
                grid=grid(cx, "mask")
                label="Visible pairs: one is visible, zero is hidden"
                palette=Palette::Mask
                domain=Signal::stored(Domain::Fixed(0.0, 1.0))
                format=Format::Count
                concept=Concept::Plain
                selected
                mark
                on_press=press
            />
            <HeatMap
                grid=grid(cx, "weights")
                label="Weights: softmax of each row"
                domain=Signal::stored(Domain::Fixed(0.0, 1.0))
                format=Format::Fixed(3)
                concept=Concept::Weight
                selected
                mark
                hidden=hidden
                no_legend=true
            />
        </div>
    }
    .into_any()
}

/// The scores before the mask and after it, on one scale.
fn scores(cx: CellCx, selected: Selected<Place>) -> AnyView {
    let mark = marked(cx, selected);
    let before = grid(cx, "scores");
    let domain = Memo::new(move |_| {
        let (low, high) = before
            .with(|g| g.as_ref().and_then(Grid::range))
            .unwrap_or_default();
        let reach = low.abs().max(high.abs());
        Domain::Fixed(-reach, reach)
    });
    let domain = Signal::derive(move || domain.get());
    let map = move |grid: Signal<Option<Grid>>, label: &'static str| {
        view! {
            <HeatMap
                grid
                label
                palette=Palette::Diverging
                domain
                format=Format::Fixed(2)
                concept=Concept::Score
                selected
                mark
            />
        }
    };
    view! {
        <div class="cols-2">
            {map(before, "Scores before the mask")}
            {map(grid(cx, "masked"), "Scores after the mask")}
        </div>
    }
    .into_any()
}

/// The weights of the chosen row as a sum.
fn written_out(cx: CellCx, selected: Selected<Place>) -> AnyView {
    let tokens = cx.words("tokens");
    let row = Memo::new(move |_| {
        let row = selected.get().map_or(0, |(row, _)| row);
        row.min(tokens.with(Vec::len).saturating_sub(1))
    });
    let terms = move || {
        let row = row.get();
        tokens
            .get()
            .into_iter()
            .enumerate()
            .map(|(col, token)| {
                let seen = cx.value("mask", vec![row, col]);
                let hidden = move || seen.get() == Some(0.0);
                view! {
                    {(col > 0).then(|| view! { <span class="op">"+"</span> })}
                    <span class="term" class:c-weight=move || !hidden()>
                        <span data-label="">{token}</span>
                        " "
                        {cx.num("weights", &[row, col], Format::Fixed(3))}
                    </span>
                }
            })
            .collect_view()
    };
    let index = Signal::derive(move || vec![row.get()]);
    let asking = move || tokens.with(|t| t.get(row.get()).cloned().unwrap_or_default());
    view! {
        <section class="panel">
            <p class="panel-title">
                "\u{201c}" <span data-label="">{asking}</span> "\u{201d} sees "
                {cx.num_at("visible", index, Format::Count)} " of the words"
            </p>
            <p class="sum">
                {terms} <span class="op">"="</span> <strong>{cx.num_at("sums", index, Format::Fixed(3))}</strong>
            </p>
        </section>
    }
    .into_any()
}

/// Counts of the whole mask.
fn counts(cx: CellCx) -> AnyView {
    view! {
        <dl class="readout">
            <div>
                <dt>"visible pairs"</dt>
                <dd>{cx.num("visible.total", &[], Format::Count)}</dd>
            </div>
            <div>
                <dt>"hidden pairs"</dt>
                <dd>{cx.num("hidden", &[], Format::Count)}</dd>
            </div>
            <div class="c-weight">
                <dt>"largest weight of a hidden pair"</dt>
                <dd>{cx.num("hidden.largest", &[], Format::Power(1))}</dd>
            </div>
            <div>
                <dt>"visible pairs that look ahead"</dt>
                <dd>{cx.num("ahead", &[], Format::Count)}</dd>
            </div>
        </dl>
    }
    .into_any()
}

/// Whether the mask lets a token see a later one, or a row see nothing.
fn verdict(cx: CellCx) -> AnyView {
    let ahead = cx.value("ahead", Vec::new());
    let blind = cx.value("blind", Vec::new());
    let leaks = move || ahead.get().is_some_and(|n| n > 0.0);
    let empty = move || blind.get().is_some_and(|n| n > 0.0);
    view! {
        <p class="verdict" class:good=move || !leaks() && !empty()>
            {move || {
                if leaks() {
                    "Some token sees a later one: allowed in an encoder, a leak in a decoder."
                } else {
                    "No token sees a later one, as a decoder requires."
                }
            }}
        </p>
        {move || {
            empty()
                .then(|| {
                    view! {
                        <p class="verdict bad">
                            "Rows that see nothing: " {cx.num("blind", &[], Format::Count)}
                            ". Softmax is undefined there; this engine returns zeros by convention."
                        </p>
                    }
                })
        }}
    }
    .into_any()
}
