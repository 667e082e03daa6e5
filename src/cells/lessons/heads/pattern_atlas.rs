//! All heads of a trained model as thumbnails, each named after what it looks at; the scores of the
//! chosen one.

use cells::format::Format;
use cells::lessons::heads::pattern_atlas::NAMES;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::head_maps::HeadMaps;
use crate::cells::parts::model_note::{is_decoder, model_box, model_note, pieces_note};
use crate::widgets::{More, Place};

/// What each score is the mean weight of; the last is no weight.
const MEANINGS: [&str; 6] = [
    "the token before",
    "the next token",
    "the model\u{2019}s own tokens",
    "the same token",
    "after the same token",
    "evenness",
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let maps = HeadMaps::new(cx);
    let kind = move |place: Place| kind(cx, place);
    view! {
        <div class="controls">{cx.text_box("sentence")} {model_box(cx)}</div>
        <div class="cols-3">
            {maps.thumbnails(kind)} {maps.large(is_decoder(cx), false)} {scores(cx, maps)}
        </div>
        <More summary="What the six scores are">{formulas(cx)} {pieces_note(cx)}</More>
        {model_note(cx)}
    }
    .into_any()
}

/// The name of a head's pattern.
fn kind(cx: CellCx, (layer, head): Place) -> AnyView {
    let kind = cx.value("kinds", vec![layer, head]);
    let name = move || {
        let name = kind.get().and_then(|kind| NAMES.get(kind as usize));
        name.copied().unwrap_or_default()
    };
    view! { <p class="head-kind">{name}</p> }.into_any()
}

/// The scores of the chosen head as bars.
fn scores(cx: CellCx, maps: HeadMaps) -> AnyView {
    let computed = cx.computed();
    let rows = MEANINGS.iter().enumerate().map(|(kind, &meaning)| {
        let index = Signal::derive(move || {
            let (layer, head) = maps.here.get();
            vec![layer, head, kind]
        });
        let score = move || computed.with(|c| c.as_ref()?.at("scores", &index.get()));
        let style = move || format!("--share: {:.4}", score().unwrap_or(0.0));
        view! {
            <li class="share" style=style>
                <span class="share-word">{meaning}</span>
                <span class="share-bar"></span>
                {cx.num_at("scores", index, Format::Fixed(2))}
            </li>
        }
    });
    view! {
        <div>
            <p class="panel-title">"Its mean weight on \u{2026}"</p>
            <ul class="shares">{rows.collect_view()}</ul>
        </div>
    }
    .into_any()
}

/// How the scores are computed.
fn formulas(cx: CellCx) -> AnyView {
    view! {
        <p>
            "All are means over the tokens of your sentence. The first five add up weights: of the token before; of the next token; of the tokens that the model adds; of all tokens equal to this one, itself included; of the tokens that came right after an earlier equal one. Evenness is the entropy of the weights, divided by that of equal weights. A head is named after its largest weight where that is at least one half, else \u{201c}even\u{201d} where the evenness is at least four fifths, else \u{201c}mixed\u{201d}."
        </p>
        <p>
            "Tokens of your sentence that were there before: "
            {cx.num("repeated", &[], Format::Count)} ". Without any, no head can show induction."
        </p>
    }
    .into_any()
}
