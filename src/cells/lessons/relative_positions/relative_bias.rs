//! An editable bias for each offset, the matrix it makes, and attention weights before and after.

use cells::InputValue;
use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::untrained;
use crate::widgets::{Concept, Domain, HeatMap, MatrixEdit, More, Num, Palette, Place, Selected};

/// Names of the offsets, from the query's far left to its far right.
const OFFSETS: [&str; 7] = [
    "\u{2264} \u{2212}3",
    "\u{2212}2",
    "\u{2212}1",
    "0",
    "+1",
    "+2",
    "\u{2265} +3",
];

/// Largest offset that has a bias of its own.
const REACH: i64 = 3;

/// Place in the list of biases of the offset from query `t` to key `s`.
fn slot((t, s): Place) -> usize {
    (s as i64 - t as i64).clamp(-REACH, REACH).abs_diff(-REACH) as usize
}

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let selected = cx.selected_place("selected");
    let edited = RwSignal::new(None::<Place>);
    // Pointing at a bias shows its pairs; pointing at a pair shows its bias.
    let offset = Memo::new(move |_| selected.get().map(slot));
    Effect::new(move |_| {
        if let Some((_, j)) = edited.get() {
            selected.choose(Some(first_of(j)));
        }
    });
    let tokens = cx.words("tokens");
    let mark = Signal::derive(move || {
        let count = tokens.with(Vec::len);
        let pairs = (0..count).flat_map(|t| (0..count).map(move |s| (t, s)));
        pairs
            .filter(|&pair| offset.get() == Some(slot(pair)))
            .collect::<Vec<Place>>()
    });
    let marked_bias = Signal::derive(move || {
        offset
            .get()
            .map(|j| (0, j))
            .into_iter()
            .collect::<Vec<Place>>()
    });
    let on_change = Callback::new(move |m| cx.set("by_offset", InputValue::Matrix(m)));
    view! {
        <div class="controls">{cx.text_box("sentence")} {cx.seed_box()}</div>
        <section class="panel c-position">

            <MatrixEdit
                matrix=cx.matrix("by_offset")
                on_change
                label="One bias for each offset of the key from the query"
                source="input:by_offset"
                row_labels=vec!["bias".to_owned()]
                col_labels=OFFSETS.map(str::to_owned).to_vec()
                concept=Concept::Position
                selected=edited
                mark=marked_bias
            />
        </section>
        {matrices(cx, selected, mark)}
        {sum(cx, selected)}
        {untrained(cx)}
    }
    .into_any()
}

/// A pair of tokens with the offset of a bias; it may lie outside a short sentence.
fn first_of(slot: usize) -> Place {
    let offset = slot as i64 - REACH;
    if offset < 0 {
        (offset.unsigned_abs() as usize, 0)
    } else {
        (0, offset as usize)
    }
}

fn matrices(cx: CellCx, selected: Selected<Place>, mark: Signal<Vec<Place>>) -> AnyView {
    let prefix = Signal::stored(Vec::new());
    let map = move |name: &'static str, label: &'static str, concept: Concept, is_weight: bool| {
        let (palette, domain) = if is_weight {
            (Palette::Sequential, Domain::Fixed(0.0, 1.0))
        } else {
            (Palette::Diverging, Domain::Symmetric)
        };
        view! {
            <HeatMap
                grid=cx.grid_with(name, prefix, "tokens", "tokens")
                label
                palette
                domain
                format=Format::Fixed(2)
                concept
                selected
                mark
                no_legend=true
            />
        }
    };
    view! {
        <div class="cols-2">
            {map("bias", "Bias B", Concept::Position, false)}
            {map("weights", "Weights with the bias", Concept::Weight, true)}
        </div>
        <More summary="Scores and weights without the bias">
            <div class="cols-2">
                {map("scores", "Scores of the words", Concept::Score, false)}
                {map("plain_weights", "Weights without the bias", Concept::Weight, true)}
            </div>
        </More>
    }
    .into_any()
}

/// Score and bias of the selected pair, added.
fn sum(cx: CellCx, selected: Selected<Place>) -> AnyView {
    let tokens = cx.words("tokens");
    let pair = Memo::new(move |_| {
        let (t, s) = selected.get()?;
        tokens.with(|w| Some((w.get(t)?.clone(), w.get(s)?.clone())))
    });
    let index = Signal::derive(move || selected.get().map_or_else(Vec::new, |(t, s)| vec![t, s]));
    let matrix = cx.matrix("by_offset");
    let bias = Signal::derive(move || {
        let place = selected.get().filter(|_| pair.with(Option::is_some))?;
        matrix.with(|m| m.get((0, slot(place))).map(|&x| f64::from(x)))
    });
    let bias_from =
        Signal::derive(move || format!("input:by_offset[0,{}]", selected.get().map_or(0, slot)));
    view! {
        <p class="sum" aria-live="polite">
            <span data-label="">
                {move || pair.get().map_or_else(|| "Choose a pair".to_owned(), |(q, k)| format!("{q} \u{2192} {k}:"))}
            </span>
            <span class="term c-score">{cx.num_at("scores", index, Format::Fixed(3))}</span>
            <span class="op">"+"</span>
            <span class="term c-position">
                <Num value=bias from=bias_from format=Format::Fixed(3) />
            </span>
            <span class="op">"="</span>
            <strong>{cx.num_at("biased", index, Format::Fixed(3))}</strong>
            <span class="op">", weight"</span>
            <span class="term c-weight">{cx.num_at("weights", index, Format::Fixed(3))}</span>
        </p>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::{OFFSETS, first_of, slot};

    #[test]
    fn a_pair_and_its_bias_find_each_other() {
        for j in 0..OFFSETS.len() {
            assert_eq!(slot(first_of(j)), j);
        }
        assert_eq!(slot((9, 0)), 0);
        assert_eq!(slot((0, 9)), 6);
        assert_eq!(slot((4, 4)), 3);
    }
}
