//! Three patches with two-wide queries, keys and values: scores, weights and outputs with their
//! sums.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::SCALE;
use crate::cells::parts::walk::{Rule, Stage, Walk};
use crate::widgets::{Concept, set};

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
        title: "Weights = softmax of each row",
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
    let walk = Walk::new(cx, STAGES);
    view! {
        <div class="row">
            {walk.edit("input:q", Concept::Query, PATCHES, &[])} {walk.edit("input:k", Concept::Key, PATCHES, &[])}
            {walk.edit("input:v", Concept::Value, PATCHES, &[])}
        </div>
        <div class="cols-3">{walk.map(0, false)} {walk.map(1, true)} {walk.map(2, false)}</div>
        <dl class="readout">
            <div class="c-score">
                <dt>{set(SCALE)}</dt>
                <dd>{cx.num("scale", &[], Format::Fixed(4))}</dd>
            </div>
            <div class="c-weight">
                <dt>"weights of the first patch"</dt>
                <dd>
                    {cx.num("weights", &[0, 0], Format::Fixed(4))} ", "
                    {cx.num("weights", &[0, 1], Format::Fixed(4))} ", "
                    {cx.num("weights", &[0, 2], Format::Fixed(4))}
                </dd>
            </div>
        </dl>
        {walk.bar()}
    }
    .into_any()
}
