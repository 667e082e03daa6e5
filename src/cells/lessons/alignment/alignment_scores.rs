//! A step of Bahdanau's attention by hand: scores, weights, contexts, each with its sum.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::walk::{Rule, Stage, Walk};
use crate::widgets::Course::{Across, Beside};
use crate::widgets::{Concept, Joint, More};

/// The words of the example.
const TARGET: &[&str] = &["ha", "occhi"];
pub(crate) const SOURCE: &[&str] = &["She", "has", "blue", "eyes"];

/// Meanings of the three numbers of an annotation in this example made by hand.
pub(crate) const FEATURES: &[&str] = &["person", "thing", "colour"];

/// From scores to contexts.
const STAGES: &[Stage] = &[
    Stage {
        name: "weights",
        title: "Weights $\u{3b1}$: softmax of each row of $e$",
        short: "Weights",
        rule: Rule::Softmax("input:e"),
        concept: Concept::Weight,
        rows: TARGET,
        cols: SOURCE,
    },
    Stage {
        name: "context",
        title: "Contexts $c = \u{3b1} \u{b7} h$",
        short: "Contexts",
        rule: Rule::Product("weights", "input:h"),
        concept: Concept::Output,
        rows: TARGET,
        cols: FEATURES,
    },
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let walk = Walk::new(cx, STAGES);
    let list = move |row: usize| {
        (0..SOURCE.len())
            .map(|j| {
                let comma = (j > 0).then_some(", ");
                view! { {comma} {cx.num("weights", &[row, j], Format::Fixed(3))} }
            })
            .collect_view()
    };
    view! {
        <div class="flow is-two">
            {walk.edit("input:e", Concept::Score, TARGET, SOURCE)}
            {walk.edit("input:h", Concept::Value, SOURCE, FEATURES)}
            <Joint operation="softmax of each row" concept=Concept::Weight />
            <Joint course=Beside operation="$h$" concept=Concept::Value />
            <div class="chain">
                {walk.map(0, true)} <Joint course=Across operation="$\u{b7} h$" concept=Concept::Output />
            </div>
            {walk.map(1, false)}
        </div>
        <More summary="The weights in a line">
        <dl class="readout">
            <div class="c-weight">
                <dt>"weights while \u{201c}ha\u{201d} is written"</dt>
                <dd>{list(0)}</dd>
            </div>
            <div class="c-weight">
                <dt>"weights while \u{201c}occhi\u{201d} is written"</dt>
                <dd>{list(1)}</dd>
            </div>
        </dl>
        </More>
        {walk.bar()}
    }
    .into_any()
}
