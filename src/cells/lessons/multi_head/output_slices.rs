//! The outputs of the heads times W_O, as a whole and as a sum of parts, one for each head.

use cells::InputValue;
use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::lessons::multi_head::heads_split::{FEATURES, WORDS, number_of_heads};
use crate::cells::parts::figures::{labelled, largest_of, named_rows};
use crate::widgets::{Choice, Concept, Domain, Grid, HeatMap, MatrixEdit, Palette, Place};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let heads = number_of_heads(cx);
    // One scale for the parts and their sum.
    let most = largest_of(cx, ["whole", "parts"]);
    let domain = Signal::derive(move || Domain::Fixed(-most.get(), most.get()));
    let map = move |grid, label: String| {
        view! {
            <HeatMap
                grid
                label
                palette=Palette::Diverging
                domain
                format=Format::Fixed(2)
                concept=Concept::Output
                no_legend=true
                no_readout=true
            />
        }
        .into_any()
    };
    let whole = named(cx.grid("whole"));
    let sum = named(cx.grid("sum"));
    let part = move |head: usize| {
        let grid = named(cx.grid_with("parts", Signal::stored(vec![head]), "", ""));
        view! {
            <div class="stack tight">
                {map(grid, format!("Part of head {}", head + 1))}
                <p class="hint">
                    "size " {cx.num("sizes", &[head], Format::Fixed(3))}
                </p>
            </div>
        }
    };
    let word = |n: usize| WORDS.get(n).copied().unwrap_or_default().to_owned();
    view! {
        <div class="controls">{cx.choice_box("heads")} {off(cx, heads)}</div>
        <div class="flow snug">
            {map(named_rows(cx.grid("joined"), word), "Heads side by side".to_owned())}
            {w_o(cx, heads)}
            {map(whole, "Heads side by side $\u{b7} W_O$".to_owned())}
        </div>
        <div class="gallery snug">
            {move || (0..heads.get()).map(part).collect_view()}
            <div class="stack tight">
                {map(sum, "Sum of the parts".to_owned())}
                <p class="hint">
                    "largest difference from the product "
                    {cx.num("difference", &[], Format::Power(1))}
                </p>
            </div>
        </div>
    }
    .into_any()
}

/// With words as rows and features as columns.
fn named(grid: Signal<Option<Grid>>) -> Signal<Option<Grid>> {
    let word = |n: usize| WORDS.get(n).copied().unwrap_or_default().to_owned();
    let feature = |n: usize| FEATURES.get(n).copied().unwrap_or_default().to_owned();
    labelled(grid, word, feature)
}

/// The choice of a head that is switched off, among those that there are.
fn off(cx: CellCx, heads: Memo<usize>) -> AnyView {
    let label = cx.input_spec("off").map(|spec| spec.label);
    let label = label.unwrap_or_default();
    let now = cx.choice("off");
    let value = Signal::derive(move || {
        let is_there = |head: &usize| *head <= heads.get();
        let head = now.with(|now| now.parse::<usize>().ok());
        head.filter(is_there)
            .map_or_else(|| "none".to_owned(), |head| head.to_string())
    });
    let change = Callback::new(move |name| cx.set("off", InputValue::Choice(name)));
    view! {
        {move || {
            let numbers = (1..=heads.get()).map(|head| head.to_string());
            let options: Vec<String> = std::iter::once("none".to_owned()).chain(numbers).collect();
            view! { <Choice label options value on_change=change verbatim=true /> }
        }}
    }
    .into_any()
}

/// W_O, its rows named by the heads that they belong to; those of the head that is off are lit.
fn w_o(cx: CellCx, heads: Memo<usize>) -> AnyView {
    let rows = Signal::derive(move || {
        let width = FEATURES.len() / heads.get().max(1);
        (0..FEATURES.len())
            .map(|row| format!("head {}", row / width + 1))
            .collect::<Vec<_>>()
    });
    let off = cx.value("off", Vec::new());
    let mark = Signal::derive(move || {
        let width = FEATURES.len() / heads.get().max(1);
        let head = off.get().filter(|off| *off > 0.0).map(|off| off as usize);
        let rows = head.map(|head| (head - 1) * width..head * width);
        let rows = rows.into_iter().flatten();
        rows.flat_map(|row| (0..FEATURES.len()).map(move |col| (row, col)))
            .collect::<Vec<Place>>()
    });
    let label = cx.input_spec("w_o").map(|spec| spec.label);
    view! {
        <MatrixEdit
            matrix=cx.matrix("w_o")
            on_change=Callback::new(move |m| cx.set("w_o", InputValue::Matrix(m)))
            label=label.unwrap_or_default()
            source="input:w_o"
            row_labels=rows
            col_labels=FEATURES.map(str::to_owned).to_vec()
            concept=Concept::Output
            mark
        />
    }
    .into_any()
}
