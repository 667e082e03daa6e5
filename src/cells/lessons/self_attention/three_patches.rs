//! Three patches with two-wide queries, keys and values: keys as arrows, values as points, and the
//! output between them; the matrices with their sums behind.

use cells::InputValue;
use cells::format::Format;
use leptos::prelude::*;
use ndarray::{Array2, Axis, concatenate};

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{SCALE, values};
use crate::cells::parts::walk::{Rule, Stage, Walk};
use crate::widgets::{Concept, Course, Joint, More, VectorPad, set};

/// The patches.
const PATCHES: &[&str] = &["patch 1", "patch 2", "patch 3"];

/// Farthest coordinate of both planes.
const REACH: f32 = 1.0;

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
    let (q, k) = (cx.matrix("q"), cx.matrix("k"));
    let vectors = Signal::derive(move || {
        let (q, k) = (q.get(), k.get());
        let row = patch.get().min(q.nrows().saturating_sub(1));
        let query = q.slice_axis(Axis(0), (row..(row + 1).min(q.nrows())).into());
        // The query is drawn over the keys: it may point along one of them.
        concatenate(Axis(0), &[k.view(), query]).unwrap_or_else(|_| Array2::zeros((0, 2)))
    });
    let on_change = Callback::new(move |m: Array2<f32>| {
        let mut queries = q.get_untracked();
        let row = patch.get_untracked();
        let count = m.nrows().saturating_sub(1);
        if row < queries.nrows() && count > 0 {
            queries.row_mut(row).assign(&m.row(count));
            let keys = m.slice_axis(Axis(0), (..count).into()).to_owned();
            cx.set_all(vec![
                ("q", InputValue::Matrix(queries)),
                ("k", InputValue::Matrix(keys)),
            ]);
        }
    });
    view! {
        <VectorPad
            vectors
            on_change
            label="Its query, and the keys: drag a tip"
            names=["key 1", "key 2", "key 3", "query"].map(str::to_owned).to_vec()
            concepts=vec![Concept::Key, Concept::Key, Concept::Key, Concept::Query]
            reach=REACH
        />
    }
    .into_any()
}

/// The values as points, and the output between them.
fn points(cx: CellCx, patch: Memo<usize>) -> AnyView {
    let computed = cx.computed();
    let output = Signal::derive(move || {
        computed.with(|c| {
            let all = c.as_ref().map(|c| values(c, "output")).unwrap_or_default();
            let row = all.chunks(2).nth(patch.get()).unwrap_or_default();
            let point = row.iter().map(|&x| x as f32).collect();
            Array2::from_shape_vec((1, 2), point).unwrap_or_else(|_| Array2::zeros((0, 2)))
        })
    });
    let on_change = Callback::new(move |m| cx.set("v", InputValue::Matrix(m)));
    view! {
        <VectorPad
            vectors=cx.matrix("v")
            on_change
            label="The values and the output"
            names=["value 1", "value 2", "value 3"].map(str::to_owned).to_vec()
            concepts=vec![Concept::Value; 3]
            reach=REACH
            ghosts=output
            spanned=Concept::Output
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
