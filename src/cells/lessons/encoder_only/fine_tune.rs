//! Heads that learn two kinds of sentences over three kinds of features: their right answers, and
//! what the one over the trained encoder says of each held-out sentence.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::model_note::trained;
use crate::cells::parts::player::player;
use crate::widgets::More;

/// Steps that the cell makes by itself: all of them.
const UNASKED: f64 = 200.0;

/// The features: what they are, and the shares of right answers in training and on the held-out
/// sentences.
const FEATURES: [(&str, &str, &str); 3] = [
    ("tiny-bert, frozen", "training.bert", "test.bert"),
    ("random encoders, mean", "training.random", "test.random"),
    ("bag of tokens", "training.bag", "test.bag"),
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls">
            {player(cx, UNASKED)}
            <p>
                "Steps: " <span data-train="steps">{cx.num("steps", &[], Format::Count)}</span>
            </p>
            {cx.choice_box("vector")}
        </div>
        {table(cx)}
        <More summary="The held-out sentences, and what tiny-bert\u{2019}s head says">{answers(cx)}</More>
        <More summary="The sentences, and the seed">
            {["a", "b", "a-test", "b-test"].map(|name| cx.text_box(name)).collect_view()}
            {cx.seed_box()}
        </More>
        {trained(&["tiny-bert"])}
    }
    .into_any()
}

/// The right answers of all heads.
fn table(cx: CellCx) -> AnyView {
    let row = |(name, training, test): (&'static str, &'static str, &'static str)| {
        view! {
            <tr>
                <th scope="row">{name}</th>
                <td>{bar(cx, training)}</td>
                <td data-train=test>{bar(cx, test)}</td>
            </tr>
        }
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label=cx.name_of("right answers of each head")>
            <table class="bus">
                <caption class="vh">"Right answers of each head"</caption>
                <thead>
                    <tr>
                        <th scope="col">"features"</th>
                        <th scope="col">"right, training"</th>
                        <th scope="col">"right, held out"</th>
                    </tr>
                </thead>
                <tbody>{FEATURES.map(row).collect_view()}</tbody>
            </table>
        </div>
        <p class="cell-note">
            {cx.num("training", &[], Format::Count)} " sentences for training, "
            {cx.num("test", &[], Format::Count)} " held out; "
            {cx.num("features", &[], Format::Count)} " features of an encoder, "
            {cx.num("known", &[], Format::Count)} " of the bag. The "
            {cx.num("seeds", &[], Format::Count)} " random encoders get from "
            {cx.num("test.random.low", &[], Format::Percent(0))} " to "
            {cx.num("test.random.high", &[], Format::Percent(0))} " of the held-out sentences right."
        </p>
    }
    .into_any()
}

/// A share as a bar and as a number.
fn bar(cx: CellCx, tensor: &'static str) -> AnyView {
    let share = cx.value(tensor, Vec::new());
    let style = move || format!("--share: {:.4}", share.get().unwrap_or(0.0));
    view! {
        <div class="bus-bar c-output">
            <span class="share-bar" style=style></span>
            {cx.num(tensor, &[], Format::Percent(0))}
        </div>
    }
    .into_any()
}

/// Each held-out sentence with its kind and the probability of kind A.
fn answers(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    let rows = move || {
        let found = computed.get();
        let each = found.iter().flat_map(|c| {
            c.words("tests").iter().enumerate().map(move |(n, text)| {
                let kind = match c.at("kinds", &[n]) {
                    Some(1.0) => "A",
                    _ => "B",
                };
                view! {
                    <tr>
                        <th scope="row" data-from=format!("tests[{n}]")>{text.clone()}</th>
                        <td>{kind}</td>
                        <td>{cx.num("answers", &[n], Format::Percent(0))}</td>
                    </tr>
                }
            })
        });
        each.collect_view()
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label=cx.name_of("the held-out sentences")>
            <table>
                <caption class="vh">"The held-out sentences"</caption>
                <thead>
                    <tr>
                        <th scope="col">"sentence"</th>
                        <th scope="col">"kind"</th>
                        <th scope="col">"probability of kind A"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
    .into_any()
}
