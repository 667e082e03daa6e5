//! Two models side by side: what each takes of the patches, and its answer.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::bars::share_row;
use crate::cells::parts::model_note::trained;
use crate::cells::parts::pad::folded_pad;
use crate::widgets::{Concept, Domain, HeatMap};

/// A model: its names, and its tensors.
struct Side {
    title: &'static str,
    map: &'static str,
    weights: &'static str,
    probabilities: &'static str,
    answer: &'static str,
    parameters: &'static str,
    tokens: &'static str,
}

const SIDES: [Side; 2] = [
    Side {
        title: "digit-vit: class token",
        map: "Weights in the last block, mean over its heads",
        weights: "class.weights",
        probabilities: "class.probabilities",
        answer: "class.answer",
        parameters: "class.parameters",
        tokens: "class.tokens",
    },
    Side {
        title: "digit-vit-gap: average pooling",
        map: "The weights of the mean",
        weights: "mean.weights",
        probabilities: "mean.probabilities",
        answer: "mean.answer",
        parameters: "mean.parameters",
        tokens: "mean.tokens",
    },
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="cols-2">{SIDES.map(|side| panel(cx, side)).collect_view()}</div>
        {folded_pad(cx)}
        {trained(&["digit-vit", "digit-vit-gap"])}
    }
    .into_any()
}

fn panel(cx: CellCx, side: Side) -> AnyView {
    let row = move |class: usize| {
        let number = cx.num(side.probabilities, &[class], Format::Percent(1));
        share_row(
            cx,
            class.to_string(),
            (side.probabilities, vec![class]),
            number,
        )
    };
    view! {
        <section class="panel stack">
            <p class="panel-title" data-label="">{side.title}</p>
            <p class="verdict">"It reads " <strong>{cx.num(side.answer, &[], Format::Count)}</strong></p>
            <div class="map-and-bars">
                <HeatMap grid=cx.grid(side.weights) label=side.map domain=Domain::Fixed(0.0, 0.5) format=Format::Fixed(3)
                    concept=Concept::Weight numbers=false no_readout=true />
                <ul class="shares">{(0..10).map(row).collect_view()}</ul>
            </div>
            <dl class="readout">
                <div><dt>"tokens"</dt><dd>{cx.num(side.tokens, &[], Format::Count)}</dd></div>
                <div><dt>"parameters"</dt><dd>{cx.num(side.parameters, &[], Format::Count)}</dd></div>
            </dl>
        </section>
    }
    .into_any()
}
