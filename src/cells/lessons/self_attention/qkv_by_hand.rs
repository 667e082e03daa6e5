//! X to Y by hand: every matrix on the table, each cell with the row, the column and the sum it
//! came from.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::SCALE;
use crate::cells::parts::walk::{Rule, Stage, Walk};
use crate::widgets::{Concept, set};

/// The three words of the example.
const WORDS: &[&str] = &["The", "cat", "sat"];

/// Meanings of the four numbers of a word vector in this example made by hand.
const FEATURES: &[&str] = &["article", "thing", "action", "alive"];

const fn projection(
    name: &'static str,
    title: &'static str,
    short: &'static str,
    weights: &'static str,
    concept: Concept,
) -> Stage {
    Stage {
        name,
        title,
        short,
        rule: Rule::Product("input:x", weights),
        concept,
        rows: WORDS,
        cols: FEATURES,
    }
}

/// From X to Y.
const STAGES: &[Stage] = &[
    projection("q", "$Q = X \u{b7} W_Q$", "Q", "input:w_q", Concept::Query),
    projection("k", "$K = X \u{b7} W_K$", "K", "input:w_k", Concept::Key),
    projection("v", "$V = X \u{b7} W_V$", "V", "input:w_v", Concept::Value),
    Stage {
        name: "scores",
        title: "Scores $= Q \u{b7} K^\u{22a4} / \u{221a}d_k$",
        short: "Scores",
        rule: Rule::Score("q", "k"),
        concept: Concept::Score,
        rows: WORDS,
        cols: WORDS,
    },
    Stage {
        name: "weights",
        title: "Weights = softmax of each row",
        short: "Weights",
        rule: Rule::Softmax("scores"),
        concept: Concept::Weight,
        rows: WORDS,
        cols: WORDS,
    },
    Stage {
        name: "output",
        title: "Output = weights $\u{b7} V$",
        short: "Output",
        rule: Rule::Product("weights", "v"),
        concept: Concept::Output,
        rows: WORDS,
        cols: FEATURES,
    },
    Stage {
        name: "y",
        title: "$Y$ = output $\u{b7} W_O$",
        short: "Y",
        rule: Rule::Product("output", "input:w_o"),
        concept: Concept::Output,
        rows: WORDS,
        cols: FEATURES,
    },
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    // A first cell whose sum has something in it: what sat asks of things.
    let walk = Walk::new(cx, STAGES);
    let with_output = cx.toggle("with_output");
    let weights = |name, concept| walk.edit(name, concept, FEATURES, FEATURES);
    let last = move || {
        view! {
            <div class="row center">
                {walk.edit("input:w_o", Concept::Output, FEATURES, FEATURES)} {walk.map(6, false)}
            </div>
        }
    };
    view! {
        <div class="row center">
            {walk.edit("input:x", Concept::Residual, WORDS, FEATURES)}
            <dl class="readout">
                <div>
                    <dt>"parameters"</dt>
                    <dd>{cx.num("parameters", &[], Format::Count)}</dd>
                </div>
                <div class="c-score">
                    <dt>{set(SCALE)}</dt>
                    <dd>{cx.num("scale", &[], Format::Fixed(3))}</dd>
                </div>
            </dl>
        </div>
        <div class="cols-3 snug">
            <div class="stack">{weights("input:w_q", Concept::Query)} {walk.map(0, false)}</div>
            <div class="stack">{weights("input:w_k", Concept::Key)} {walk.map(1, false)}</div>
            <div class="stack">{weights("input:w_v", Concept::Value)} {walk.map(2, false)}</div>
        </div>
        <div class="cols-3">{walk.map(3, false)} {walk.map(4, true)} {walk.map(5, false)}</div>
        {cx.toggle_box("with_output")}
        <Show when=move || with_output.get()>{last()}</Show>
        {walk.bar()}
    }
    .into_any()
}
