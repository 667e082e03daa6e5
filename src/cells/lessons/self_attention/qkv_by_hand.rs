//! X to Y by hand: every matrix on the table, each cell with the row, the column and the sum it
//! came from.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::SCALE;
use crate::cells::parts::walk::{Rule, Stage, Walk};
use crate::widgets::Course::{Across, Beside, Branch, First, Joins, Last};
use crate::widgets::{Concept, Joint, set};

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
        title: "Weights $= softmax$(scores)",
        short: "Weights",
        rule: Rule::Softmax("scores"),
        concept: Concept::Weight,
        rows: WORDS,
        cols: WORDS,
    },
    Stage {
        name: "output",
        title: "$Y$ = weights $\u{b7} V$",
        short: "Y",
        rule: Rule::Product("weights", "v"),
        concept: Concept::Output,
        rows: WORDS,
        cols: FEATURES,
    },
    Stage {
        name: "y",
        title: "Output $= Y \u{b7} W_O$",
        short: "Output",
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
    let column = |course, operation: &'static str, weights, concept, stage| {
        view! {
            <div class="stack tight">
                <Joint course operation concept />
                {walk.edit(weights, concept, FEATURES, FEATURES)}
                {walk.map(stage, false)}
            </div>
        }
    };
    let last = move || {
        view! {
            <Joint operation="$\u{b7} W_O$" concept=Concept::Output />
            <div class="row center">
                {walk.edit("input:w_o", Concept::Output, FEATURES, FEATURES)} {walk.map(6, false)}
            </div>
        }
    };
    view! {
        <div class="row center snug">
            {walk.edit("input:x", Concept::Residual, WORDS, FEATURES)} <dl class="readout">
                <div>
                    <dt>"parameters"</dt>
                    <dd>{cx.num("parameters", &[], Format::Count)}</dd>
                </div>
                <div class="c-score">
                    <dt>{set(SCALE)}</dt>
                    <dd>{cx.num("scale", &[], Format::Fixed(3))}</dd>
                </div>
            </dl> {cx.toggle_box("with_output")}
        </div>
        <div class="flow snug">
            {column(First, "$X \u{b7} W_Q$", "input:w_q", Concept::Query, 0)}
            {column(Branch, "$X \u{b7} W_K$", "input:w_k", Concept::Key, 1)}
            {column(Last, "$X \u{b7} W_V$", "input:w_v", Concept::Value, 2)}
        </div>
        <div class="flow snug">
            <Joint course=First operation="$Q \u{b7} K^\u{22a4} / \u{221a}d_k$" concept=Concept::Score />
            <Joint course=Joins operation="" concept=Concept::Key />
            <Joint course=Beside operation="$V$" concept=Concept::Value />
            <div class="chain">
                {walk.map(3, false)} <Joint course=Across operation="softmax" concept=Concept::Weight />
            </div>
            <div class="chain">
                {walk.map(4, true)} <Joint course=Across operation="$\u{b7} V$" concept=Concept::Output />
            </div>
            {walk.map(5, false)}
        </div>
        <Show when=move || with_output.get()>{last()}</Show>
        {walk.bar()}
    }
    .into_any()
}
