//! The view of `forgetting`: a bar for each token, and how each fades while the encoder reads on.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::model_note::trained;
use crate::widgets::{Concept, Domain, HeatMap, More};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        {cx.text_box("sentence")}
        <p class="hint">
            "The encoder reads from the end: the last token first. Each token is replaced, one at a time, by each of: "
            {others(cx)} "."
        </p>
        <section class="panel">
                <p class="panel-title">"How far the final vector moves when this token is replaced"</p>
                {bars(cx)}
                <p>
                    "The mean distance between the final vectors with and without the replacement, as a share of the vector\u{2019}s length. The vector has "
                    {cx.num("width", &[], Format::Count)} " numbers."
                </p>
        </section>
        <More summary="Other replacements">{cx.text_box("others")}</More>
        <More summary="How the trace fades">
                <HeatMap
                    grid=cx.grid_with("fading", Signal::stored(Vec::new()), "reads", "reads")
                    label="Row: the replaced token. Column: the last token read. Value: how far the state has moved."
                    domain=Domain::Auto
                    format=Format::Percent(0)
                    concept=Concept::Residual
                    numbers=false
                />
                <p>"Read a row from left to right: the replaced token is read, and the tokens after it overwrite its trace. The bars show the last column."</p>
        </More>
        {trained(&["seq2seq-gru"])}
    }
    .into_any()
}

/// The words that replace the token of each position.
fn others(cx: CellCx) -> AnyView {
    let words = cx.words("others");
    let items = move || {
        let words = words.get().into_iter().enumerate();
        words
            .map(|(n, word)| {
                let comma = if n == 0 { "" } else { ", " };
                view! { {comma} <em data-from=format!("others[{n}]")>{word}</em> }
            })
            .collect_view()
    };
    view! { {items} }.into_any()
}

fn bars(cx: CellCx) -> AnyView {
    let tokens = cx.words("tokens");
    let computed = cx.computed();
    let longest = Memo::new(move |_| {
        computed.with(|c| {
            let left = c.as_ref().and_then(|c| c.tensor("left"));
            left.map_or(1.0, |left| left.values.iter().copied().fold(1e-9, f64::max))
        })
    });
    let items = move || {
        let tokens = tokens.get().into_iter().enumerate();
        tokens
            .map(|(place, token)| {
                let left = cx.value("left", vec![place]);
                let width =
                    move || format!("--share: {:.4}", left.get().unwrap_or(0.0) / longest.get());
                view! {
                    <li class="share" style=width>
                        <span class="share-word" data-from=format!("tokens[{place}]")>{token}</span>
                        <span class="share-bar"></span>
                        {cx.num("left", &[place], Format::Percent(1))}
                    </li>
                }
            })
            .collect_view()
    };
    view! { <ul class="shares">{items}</ul> }.into_any()
}
