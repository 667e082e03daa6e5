//! A sentence and the same words in another order: the outputs move with the words and do not
//! change.

use cells::InputValue;
use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::frame::selection::of_rows;
use crate::cells::parts::model_note::{head_box, model_box, model_note, pieces_note};
use crate::widgets::{Concept, Domain, Grid, HeatMap, More, Palette, Place, Selected, TokenStrip};

/// Differences below this are rounding, whichever kernels run; what order does is a thousand times
/// larger.
const ROUNDING: f64 = 1e-5;

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    // One word is followed through all maps: `word` is its place in the first sentence.
    let (stored, words) = (cx.order("order"), cx.words("tokens"));
    let word = cx.selected_token("selected", words, cx.text("sentence"));
    let order = Memo::new(move |_| order_in_use(cx, stored, words));
    let moved = word.map(
        move |word| order.with(|o| o.iter().position(|&w| w == word)),
        move |place| order.with_untracked(|o| o.get(place).copied()),
    );
    let reorder = Callback::new(move |moves: Vec<usize>| {
        let now = order.get_untracked();
        let next: Option<Vec<usize>> = moves.iter().map(|&place| now.get(place).copied()).collect();
        if let Some(next) = next {
            cx.set("order", InputValue::Order(next));
        }
    });
    let sides = [
        Side {
            title: "The sentence",
            words: "tokens",
            weights: ("weights", "Weights A"),
            output: ("output", "Output F(X)"),
            row: word,
        },
        Side {
            title: "In the new order",
            words: "moved",
            weights: ("weights_moved", "Weights $P A P^\u{22a4}$"),
            output: ("output_moved", "Output F(PX)"),
            row: moved,
        },
    ];
    view! {
        <div class="controls">{cx.text_box("sentence")} {cx.toggle_box("positions")}</div>
        {pieces_note(cx)}
        <section class="panel">
            <p class="panel-title">"Drag the words into any order"</p>
            <TokenStrip tokens=cx.words("moved") label="The words in their new order" selected=moved on_reorder=reorder />
        </section>
        <div class="cols-2">{sides.map(|side| weights(cx, side)).collect_view()}</div>
        {verdict(cx)}
        <More summary="The outputs"><div class="cols-2">{sides.map(|side| outputs(cx, side)).collect_view()}</div></More>
        <More summary="Model and head"><div class="controls">{model_box(cx)} {head_box(cx)}</div></More>
        {model_note(cx)}
    }
    .into_any()
}

/// The order in use: the stored one, which changes at once, or the one that the computation fell
/// back to.
fn order_in_use(cx: CellCx, stored: Signal<Vec<usize>>, words: Signal<Vec<String>>) -> Vec<usize> {
    let order = stored.get();
    if order.len() == words.with(Vec::len) {
        return order;
    }
    cx.computed().with(|c| {
        c.as_ref()
            .and_then(|c| c.tensor("order"))
            .map(|t| t.values.iter().map(|&i| i as usize).collect())
            .unwrap_or_default()
    })
}

/// One side: words, weights and outputs.
#[derive(Clone, Copy)]
struct Side {
    title: &'static str,
    /// Words that name the rows.
    words: &'static str,
    /// Tensor and label of the weights.
    weights: (&'static str, &'static str),
    /// Tensor and label of the outputs.
    output: (&'static str, &'static str),
    /// Row of the word that is followed.
    row: Selected<usize>,
}

/// The weights of one order, with the row of the followed word outlined.
fn weights(cx: CellCx, side: Side) -> AnyView {
    let grid = cx.grid_with(
        side.weights.0,
        Signal::stored(Vec::new()),
        side.words,
        side.words,
    );
    view! {
        <section class="panel stack">
            <p class="panel-title">{side.title}</p>
            <HeatMap
                grid
                label=side.weights.1
                domain=Domain::Fixed(0.0, 1.0)
                format=Format::Fixed(2)
                concept=Concept::Weight
                numbers=false
                selected=of_rows(side.row)
                mark=followed(side, grid)
                no_legend=true
            />
        </section>
    }
    .into_any()
}

/// The outputs of one order, with the same row outlined.
fn outputs(cx: CellCx, side: Side) -> AnyView {
    let grid = cx.grid_with(side.output.0, Signal::stored(Vec::new()), side.words, "");
    view! {
        <HeatMap
            grid
            label=side.output.1
            palette=Palette::Diverging
            domain=Domain::Fixed(-2.0, 2.0)
            format=Format::Fixed(3)
            concept=Concept::Output
            numbers=false
            selected=of_rows(side.row)
            mark=followed(side, grid)
            no_legend=true
        />
    }
    .into_any()
}

/// All entries in the row of the followed word.
fn followed(side: Side, grid: Signal<Option<Grid>>) -> Signal<Vec<Place>> {
    Signal::derive(move || match side.row.get() {
        Some(i) => {
            let cols = grid.with(|g| g.as_ref().map_or(0, |g| g.cols));
            (0..cols).map(|j| (i, j)).collect()
        }
        None => Vec::new(),
    })
}

fn verdict(cx: CellCx) -> AnyView {
    let largest = cx.value("largest", Vec::new());
    let same = Memo::new(move |_| largest.get().is_some_and(|d| d < ROUNDING));
    view! {
        <p class="verdict" class:good=move || same.get()>
            {move || {
                if same.get() {
                    "The outputs moved with their words and did not change. Largest |F(PX) \u{2212} P F(X)|: "
                } else {
                    "Now the order matters: the outputs changed. Largest |F(PX) \u{2212} P F(X)|: "
                }
            }}
            {move || {
                let format = if same.get() { Format::Power(1) } else { Format::Fixed(3) };
                cx.num("largest", &[], format)
            }}
        </p>
    }
    .into_any()
}
