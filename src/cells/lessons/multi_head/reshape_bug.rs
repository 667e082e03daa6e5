//! A forgotten transpose: which tokens a head holds, and how many digits a trained model still reads.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::labelled;
use crate::cells::parts::model_note::trained;
use crate::cells::parts::player::{Words, player_saying};
use crate::widgets::{Concept, Domain, HeatMap};

/// Words of the buttons.
const WORDS: Words = Words {
    label: "Measuring",
    start: "Measure",
    pause: "Stop",
    step: "One digit",
    rewind: "Clear",
};

/// The variants: what is said of them, right answers and their share.
const VARIANTS: [(&str, &str, &str); 3] = [
    ("view, then transpose: right", "right.count", "right.share"),
    ("no transpose at the cut", "split.count", "split.share"),
    (
        "no transpose at the cut and the joint",
        "both.count",
        "both.share",
    ),
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let done = cx.number("steps");
    let most = cx.value("digits", Vec::new());
    view! {
        <div class="cols-2">
            {example(cx, "example.right", "Head 1, cut correctly: the token of each number")}
            {example(cx, "example.wrong", "Head 1, without the transpose")}
        </div>
        <div class="row center">
            {player_saying(cx, WORDS, 0.0)}
            <p>
                <span data-train="steps">{cx.num("steps", &[], Format::Count)}</span> " of "
                {cx.num("digits", &[], Format::Count)} " digits read "
                <progress max=move || most.get().unwrap_or(1.0) value=move || done.get() aria-label="Digits read"></progress>
            </p>
        </div>
        {table(cx)}
        {trained(&["digit-vit"])}
    }
    .into_any()
}

/// The token that each number of the first head comes from.
fn example(cx: CellCx, tensor: &'static str, label: &'static str) -> AnyView {
    let grid = cx.grid_with(tensor, Signal::stored(vec![0]), "", "");
    let grid = labelled(
        grid,
        |row| format!("row {}", row + 1),
        |col| format!("number {}", col + 1),
    );
    view! {
        <HeatMap
            grid
            label
            domain=Domain::Fixed(0.0, 4.0)
            format=Format::Count
            concept=Concept::Residual
            no_legend=true
            no_readout=true
        />
    }
    .into_any()
}

/// Right answers of each variant so far.
fn table(cx: CellCx) -> AnyView {
    let rows = VARIANTS.map(|(label, count, share)| {
        let known = cx.value(share, Vec::new());
        let cell = move || match known.get() {
            None => view! { "none yet" }.into_any(),
            Some(_) => cx.num(share, &[], Format::Percent(1)),
        };
        view! {
            <tr>
                <th scope="row">{label}</th>
                <td data-train=count>{cx.num(count, &[], Format::Count)}</td>
                <td>{cell}</td>
            </tr>
        }
    });
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Right answers by variant">
            <table>
                <caption>
                    "digit-vit: " {cx.num("tokens", &[], Format::Count)} " tokens, "
                    {cx.num("heads", &[], Format::Count)} " heads, width "
                    {cx.num("width", &[], Format::Count)}
                </caption>
                <thead>
                    <tr>
                        <th scope="col">"heads"</th>
                        <th scope="col">"right"</th>
                        <th scope="col">"share"</th>
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}
