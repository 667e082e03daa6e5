//! The view of `jigsaw`: the digit as a puzzle, and what two models read, before and after.

use cells::InputValue;
use cells::format::Format;
use cells::lessons::positions_2d::jigsaw::{PATCHES, SIDE, shuffled};
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::labelled;
use crate::cells::parts::model_note::trained;
use crate::cells::parts::pictures::seen;
use crate::widgets::{Concept, Domain, HeatMap, PatchGrid, Selected};

/// The models: what is said of them, and the name of their results.
const MODELS: [(&str, &str); 2] = [("With positions", "vit"), ("Without positions", "bag")];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls">{cx.slider("drawing", Format::Count)} {buttons(cx)}</div>
        <div class="cols-2">
            {puzzle(cx)}
            <div class="stack">{MODELS.map(|model| probabilities(cx, model)).collect_view()}</div>
        </div>
        {table(cx)}
        {trained(&["digit-vit", "digit-vit-nopos"])}
    }
    .into_any()
}

/// Shuffles what is there, or puts all patches back.
fn buttons(cx: CellCx) -> AnyView {
    let order = cx.order("order");
    let go = move |order: Vec<usize>| cx.set("order", InputValue::Order(order));
    view! {
        <div class="row" role="group" aria-label="Order of the patches">
            <button
                type="button"
                class="button"
                data-order="shuffle"
                on:click=move |_| go(shuffled(&order.get_untracked()))
            >
                "Shuffle"
            </button>
            <button
                type="button"
                class="button"
                data-order="back"
                on:click=move |_| go((0..PATCHES).collect())
            >
                "Put back"
            </button>
        </div>
    }
    .into_any()
}

/// The digit. The first patch that is pressed is held, and changes places with the second.
fn puzzle(cx: CellCx) -> AnyView {
    let order = cx.order("order");
    let at = RwSignal::new(None::<usize>);
    let held = RwSignal::new(None::<usize>);
    let press = Callback::new(move |patch: usize| {
        at.set(Some(patch));
        match held.get_untracked() {
            None => held.set(Some(patch)),
            Some(first) => {
                held.set(None);
                let mut next = order.get_untracked();
                if first != patch && next.len() == PATCHES {
                    next.swap(first, patch);
                    cx.set("order", InputValue::Order(next));
                }
            }
        }
    });
    let selected = Selected::new(at, move |patch| at.set(patch));
    view! {
        <div class="stack tight">
            <div class="rebuilt">
                <PatchGrid
                    pixels=seen(cx, "picture")
                    patch=Signal::stored(SIDE)
                    label="The digit, cut into patches; Enter holds a patch or swaps it with the one held"
                    selected
                    on_press=press
                    counts_from=0
                />
            </div>
            <p class="hint" aria-live="polite">
                {move || match held.get() {
                    None => "Click two patches to swap them.",
                    Some(_) => "One patch is held. Click another patch to swap the two.",
                }}
            </p>
        </div>
    }
    .into_any()
}

/// The probabilities of a model for the ten digits, in place and as arranged.
fn probabilities(cx: CellCx, (title, name): (&'static str, &'static str)) -> AnyView {
    let row = |row: usize| if row == 0 { "in place" } else { "as arranged" }.to_owned();
    view! {
        <HeatMap
            grid=labelled(cx.grid(name), row, |digit| digit.to_string())
            label=title
            domain=Domain::Fixed(0.0, 1.0)
            format=Format::Fixed(2)
            concept=Concept::Output
            no_legend=true
            no_readout=true
        />
    }
    .into_any()
}

/// The answers of both models, and what has changed.
fn table(cx: CellCx) -> AnyView {
    let rows = MODELS.map(|(title, name)| {
        let [before, after, largest, bits] = names(name);
        let is_rounding = cx.value(largest, Vec::new());
        let apart = move || {
            let format = match is_rounding.get() {
                Some(apart) if apart < 1e-3 => Format::Power(1),
                _ => Format::Fixed(3),
            };
            cx.num(largest, &[], format)
        };
        view! {
            <tr>
                <th scope="row">{title}</th>
                <td>{cx.num(before, &[], Format::Count)}</td>
                <td data-read=name>{cx.num(after, &[], Format::Count)}</td>
                <td>{apart}</td>
                <td>{cx.num(bits, &[], Format::Count)}</td>
            </tr>
        }
    });
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="What each model reads">
            <table>
                <caption>
                    {cx.num("moved", &[], Format::Count)} " of " {cx.num("patches", &[], Format::Count)}
                    " patches are out of place"
                </caption>
                <thead>
                    <tr>
                        <th scope="col">"model"</th>
                        <th scope="col">"reads in place"</th>
                        <th scope="col">"as arranged"</th>
                        <th scope="col">"largest change of a probability"</th>
                        <th scope="col">"embedding numbers that differ"</th>
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}

/// The results of a model that the table shows.
fn names(model: &str) -> [&'static str; 4] {
    match model {
        "vit" => ["vit.before", "vit.after", "vit.largest", "vit.bits"],
        _ => ["bag.before", "bag.after", "bag.largest", "bag.bits"],
    }
}
