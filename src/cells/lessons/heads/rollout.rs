//! What counts for a hidden word: three columns of bars for each token, and how far they agree.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::model_note::{Opened, trained};

/// The columns: the tensor, and its heading.
const COLUMNS: [(&str, &str); 3] = [
    ("last", "weight, last layer"),
    ("rollout", "rollout"),
    ("effects", "change when hidden"),
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls">{cx.text_box("sentence")} {cx.slider("hidden", Format::Count)}</div>
        {table(cx)}
        {verdict(cx)}
        {trained(&["tiny-bert"])}
    }
    .into_any()
}

fn table(cx: CellCx) -> AnyView {
    let tokens = cx.words("tokens");
    let rows = move || {
        let all = tokens.get();
        let count = all.len();
        let row = |(t, token): (usize, String)| {
            let is_hidden = token == "[MASK]";
            let is_own = t == 0 || t + 1 == count;
            let cells = COLUMNS.map(|(tensor, _)| {
                // Only other words of the sentence can be hidden too.
                let is_known = tensor != "effects" || !(is_hidden || is_own);
                let bar = is_known.then(|| bar(cx, tensor, t));
                view! { <td>{bar}</td> }
            });
            view! {
                <tr>
                    <th scope="row" data-label="">{token}</th>
                    {cells.collect_view()}
                </tr>
            }
        };
        all.into_iter().enumerate().map(row).collect_view()
    };
    let heads = COLUMNS.map(|(_, heading)| view! { <th scope="col">{heading}</th> });
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="What counts for the hidden word">
            <table class="bus">
                <caption class="vh">"For each token: its weight in the last layer, its share by rollout, and how much the answer changes when it is hidden too"</caption>
                <thead>
                    <tr>
                        <th scope="col">"token"</th>
                        {heads.collect_view()}
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
    .into_any()
}

/// A share as a bar and as a number.
fn bar(cx: CellCx, tensor: &'static str, t: usize) -> AnyView {
    let share = cx.value(tensor, vec![t]);
    let style = move || format!("--share: {:.4}", share.get().unwrap_or(0.0));
    let class = if tensor == "effects" {
        "bus-bar c-output"
    } else {
        "bus-bar c-weight"
    };
    view! {
        <div class=class>
            <span class="share-bar" style=style></span>
            {cx.num(tensor, &[t], Format::Fixed(3))}
        </div>
    }
    .into_any()
}

fn verdict(cx: CellCx) -> AnyView {
    let word = |name: &'static str| {
        let words = cx.words(name);
        move || words.with(|words| words.first().cloned().unwrap_or_default())
    };
    let who = match use_context::<Opened>() {
        Some(_) => "The open model",
        None => "tiny-bert",
    };
    view! {
        <p class="verdict">
            {who} " fills in " <strong data-label="">{word("best")}</strong> " with probability "
            {cx.num("best.probability", &[], Format::Percent(1))} "; your word was "
            <strong data-label="">{word("right")}</strong> "."
        </p>
        <dl class="readout">
            <div>
                <dt>"rank correlation with hiding: last layer"</dt>
                <dd>{cx.num("agreement.last", &[], Format::Fixed(2))}</dd>
            </div>
            <div>
                <dt>"rank correlation with hiding: rollout"</dt>
                <dd>{cx.num("agreement.rollout", &[], Format::Fixed(2))}</dd>
            </div>
        </dl>
    }
    .into_any()
}
