//! Three patches with two-wide queries, keys and values: keys as arrows, values as points, and the
//! output between them; the matrices with their sums behind.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{SCALE, input_arrow, input_tip, reach_of};
use crate::cells::parts::walk::{Rule, Stage, Walk};
use crate::widgets::{Concept, Course, Joint, Mark, More, Plane, set};

/// The patches.
const PATCHES: &[&str] = &["patch 1", "patch 2", "patch 3"];

/// From queries and keys to outputs.
const STAGES: &[Stage] = &[
    Stage {
        name: "scores",
        title: "Scores $= Q \u{b7} K^\u{22a4} / \u{221a}d_k$",
        short: "Scores",
        rule: Rule::Score("input:q", "input:k"),
        concept: Concept::Score,
        rows: PATCHES,
        cols: PATCHES,
    },
    Stage {
        name: "weights",
        title: "Weights $= softmax$(scores)",
        short: "Weights",
        rule: Rule::Softmax("scores"),
        concept: Concept::Weight,
        rows: PATCHES,
        cols: PATCHES,
    },
    Stage {
        name: "output",
        title: "Output = weights $\u{b7} V$",
        short: "Output",
        rule: Rule::Product("weights", "input:v"),
        concept: Concept::Output,
        rows: PATCHES,
        cols: &[],
    },
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let step = cx.selected_entry::<3>("step");
    let patch = Memo::new(move |_| {
        step.get()
            .map_or(0, |[_, row, _]| row)
            .min(PATCHES.len() - 1)
    });
    let buttons = PATCHES
        .iter()
        .enumerate()
        .map(|(row, &name)| {
            view! {
                <button
                    type="button"
                    aria-pressed=move || (patch.get() == row).to_string()
                    on:click=move |_| step.choose(Some([0, row, 0]))
                >
                    <span data-label="">{name}</span>
                </button>
            }
        })
        .collect_view();
    view! {
        <div class="row center">
            <strong>"Which patch asks?"</strong> <div class="tokens" role="group" aria-label="The patch that asks">
                {buttons}
            </div>
        </div>
        <div class="cols-3">{arrows(cx, patch)} {points(cx, patch)} {shares(cx, patch)}</div>
        <More summary="All matrices, number by number">{matrices(cx)}</More>
    }
    .into_any()
}

/// The query of the patch that asks, and all keys.
fn arrows(cx: CellCx, patch: Memo<usize>) -> AnyView {
    let key = |i| {
        input_arrow(
            cx,
            "k",
            (i, [0, 1]),
            &format!("key {}", i + 1),
            Concept::Key,
        )
    };
    // The query is drawn over the keys: it may point along one of them.
    let (tip, write) = input_tip(cx, "q", move || patch.get(), [0, 1]);
    let query = Mark::arrow("query", Concept::Query, tip).draggable(write);
    let marks = (0..PATCHES.len()).map(key).chain([query]).collect();
    let reach = reach_of(cx, ["q", "k"]);
    view! { <Plane label="Its query, and the keys: drag a tip" marks reach /> }.into_any()
}

/// The values as points with the triangle that they span, and the output in it.
fn points(cx: CellCx, patch: Memo<usize>) -> AnyView {
    let computed = cx.computed();
    let output = Signal::derive(move || {
        computed.with(|c| {
            let at = |column| c.as_ref()?.at("output", &[patch.get(), column]);
            Some((at(0)?, at(1)?))
        })
    });
    let value = |i: usize| {
        let (tip, write) = input_tip(cx, "v", move || i, [0, 1]);
        Mark::point(&format!("value {}", i + 1), Concept::Value, tip).draggable(write)
    };
    let output = Mark::point("output", Concept::Output, output);
    let count = PATCHES.len();
    let marks = (0..count).map(value).chain([output]).collect();
    view! {
        <Plane
            reach=reach_of(cx, ["v"])
            label="The values, their triangle, and the output"
            marks
            hull_of=(0..count).collect()
            lines=(0..count).map(|i| (count, i)).collect()
        />
    }
    .into_any()
}

/// The weights of the patch that asks, and its output.
fn shares(cx: CellCx, patch: Memo<usize>) -> AnyView {
    let computed = cx.computed();
    let items = PATCHES
        .iter()
        .enumerate()
        .map(|(column, &name)| {
            let weight =
                move || computed.with(|c| c.as_ref()?.at("weights", &[patch.get(), column]));
            let index = Signal::derive(move || vec![patch.get(), column]);
            view! {
                <li class="share" style=move || format!("--share: {:.4}", weight().unwrap_or(0.0))>
                    <span class="share-word" data-label="">{name}</span>
                    <span class="share-bar"></span>
                    {cx.num_at("weights", index, Format::Fixed(4))}
                </li>
            }
        })
        .collect_view();
    let coordinate = |column| {
        let index = Signal::derive(move || vec![patch.get(), column]);
        cx.num_at("output", index, Format::Fixed(3))
    };
    view! {
        <div class="panel">
            <p class="heat-title">"Its weights"</p>
            <ul class="shares">{items}</ul>
            <p>
                "Output: " <strong class="c-output">{coordinate(0)} ", " {coordinate(1)}</strong>
            </p>
        </div>
    }
    .into_any()
}

/// The matrices as numbers, walked entry by entry.
fn matrices(cx: CellCx) -> AnyView {
    let walk = Walk::new(cx, STAGES);
    view! {
        <div class="row">
            {walk.edit("input:q", Concept::Query, PATCHES, &[])} {walk.edit("input:k", Concept::Key, PATCHES, &[])}
            {walk.edit("input:v", Concept::Value, PATCHES, &[])}
        </div>
        <div class="flow">
            <div class="chain">
                {walk.map(0, false)} <Joint course=Course::Across operation="softmax" concept=Concept::Weight />
            </div>
            <div class="chain">
                {walk.map(1, true)} <Joint course=Course::Across operation="$\u{b7} V$" concept=Concept::Output />
            </div>
            {walk.map(2, false)}
        </div>
        <dl class="readout">
            <div class="c-score">
                <dt>{set(SCALE)}</dt>
                <dd>{cx.num("scale", &[], Format::Fixed(4))}</dd>
            </div>
        </dl>
        {walk.bar()}
    }
    .into_any()
}
