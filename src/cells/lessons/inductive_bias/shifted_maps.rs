//! The view of `shifted-maps`: which maps of two networks move with the picture, and what brings the
//! answers back.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::digit_models::picture;
use crate::cells::parts::figures::labelled;
use crate::cells::parts::model_note::trained;
use crate::cells::parts::pad::folded_pad;
use crate::widgets::{Concept, Domain, HeatMap, More};

/// The stages, in the order of the computation.
const STAGES: [&str; 5] = [
    "digit-cnn: first convolution, at every pixel",
    "digit-cnn: first convolution, stride 2",
    "digit-cnn: second convolution, stride 2",
    "digit-vit-nopos: patch embeddings",
    "digit-vit-nopos: after its last block",
];

/// The models' answers: title, tensor, and the answers in place, shifted and with the shift undone.
const ANSWERS: [[&str; 5]; 3] = [
    ["digit-cnn", "cnn", "cnn.before", "cnn.after", "cnn.undone"],
    ["digit-vit", "vit", "vit.before", "vit.after", "vit.undone"],
    [
        "digit-vit-nopos",
        "bag",
        "bag.before",
        "bag.after",
        "bag.undone",
    ],
];

/// The largest change of a probability of each model, shifted and with the shift undone.
const APART: [[&str; 2]; 3] = [
    ["cnn.apart", "cnn.undone.apart"],
    ["vit.apart", "vit.undone.apart"],
    ["bag.apart", "bag.undone.apart"],
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls">{cx.slider("shift", Format::Count)}</div>
        <div class="cols-2 map-beside">
            <div class="stack tight">
                <div class="received">{picture(cx, "shifted", "The shifted digit")}</div>
                <p class="hint">
                    "If the shift is not a whole number of squares, the old map is moved by the next smaller whole number."
                </p>
            </div>
            {stages(cx)}
        </div>
        {answers(cx)}
        <More summary="All ten probabilities">{probabilities(cx)}</More>
        {folded_pad(cx)}
        {trained(&["digit-cnn", "digit-vit", "digit-vit-nopos"])}
    }
    .into_any()
}

/// A size that may be rounding.
fn small(cx: CellCx, name: &'static str, index: Vec<usize>) -> impl Fn() -> AnyView {
    let value = cx.value(name, index.clone());
    move || {
        let format = match value.get() {
            Some(size) if size > 0.0 && size < 1e-3 => Format::Power(1),
            _ => Format::Fixed(3),
        };
        cx.num(name, &index, format)
    }
}

/// For each map: how far it should move, and how many of its numbers do not.
fn stages(cx: CellCx) -> AnyView {
    let row = move |(n, title): (usize, &'static str)| {
        view! {
            <tr>
                <th scope="row" data-label="">{title}</th>
                <td>{cx.num("squares", &[n], Format::Fixed(2))}</td>
                <td data-changed=n>
                    {cx.num("changed", &[n], Format::Count)} " of " {cx.num("of", &[n], Format::Count)}
                </td>
                <td>{small(cx, "largest", vec![n])}</td>
            </tr>
        }
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Which maps move with the picture">
            <table>
                <caption class="vh">"Each map after the shift, compared with the old map moved by as many squares"</caption>
                <thead>
                    <tr>
                        <th scope="col">"map"</th>
                        <th scope="col">"shift in squares"</th>
                        <th scope="col">"numbers that differ"</th>
                        <th scope="col">"largest difference"</th>
                    </tr>
                </thead>
                <tbody>{STAGES.into_iter().enumerate().map(row).collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}

/// The answers in place, shifted, and with the shift undone inside.
fn answers(cx: CellCx) -> AnyView {
    let rows = ANSWERS.into_iter().zip(APART);
    let rows = rows.map(|([title, name, before, after, undone], [apart, left])| {
        view! {
            <tr>
                <th scope="row" data-label="">{title}</th>
                <td>{cx.num(before, &[], Format::Count)}</td>
                <td data-read=name>{cx.num(after, &[], Format::Count)}</td>
                <td>{small(cx, apart, Vec::new())}</td>
                <td>{cx.num(undone, &[], Format::Count)}</td>
                <td>{small(cx, left, Vec::new())}</td>
            </tr>
        }
    });
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="What each model reads, shifted">
            <table>
                <caption class="vh">"What each model reads in place, shifted, and with the shift undone inside it"</caption>
                <thead>
                    <tr>
                        <th scope="col">"model"</th>
                        <th scope="col">"reads in place"</th>
                        <th scope="col">"shifted"</th>
                        <th scope="col">"largest change of a probability"</th>
                        <th scope="col">"undone inside"</th>
                        <th scope="col">"largest change of a probability"</th>
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
        <p class="hint">
            "Undone inside: in digit-cnn, the last map is moved back before the dense layers read it; in digit-vit, each \
             patch gets the position vector that it had in place; digit-vit-nopos needs no change."
        </p>
    }
    .into_any()
}

/// The probabilities of the ten digits.
fn probabilities(cx: CellCx) -> AnyView {
    let row = |row: usize| ["in place", "shifted", "undone"][row.min(2)].to_owned();
    let map = |[title, name, ..]: [&'static str; 5]| {
        view! {
            <HeatMap grid=labelled(cx.grid(name), row, |digit| digit.to_string()) label=title
                domain=Domain::Fixed(0.0, 1.0) format=Format::Fixed(2) concept=Concept::Output
                no_legend=true no_readout=true />
        }
    };
    view! { <div class="stack">{ANSWERS.map(map).collect_view()}</div> }.into_any()
}
