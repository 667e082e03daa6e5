//! The residual stream from the input up: a switch, an arrow and the stream for each sub-layer, and
//! what the model predicts.

use cells::format::Format;
use cells::lessons::residual_and_norm::residual_stream::{SUB_LAYERS, TOP};
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::bars::{likely, share_row};
use crate::cells::parts::model_note::trained;
use crate::widgets::More;

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        {cx.text_box("sentence")}
        <div class="cols-2">
            {bus(cx)}
            <div class="stack">
                {likely(cx, "All sub-layers on", ("whole.words", "whole.probabilities"), TOP)}
                {likely(cx, "As switched now", ("now.words", "now.probabilities"), TOP)}
                {verdict(cx)}
            </div>
        </div>
        <More summary="Each sub-layer switched off by itself">{alone(cx)}</More>
        {trained(&["tiny-gpt"])}
    }
    .into_any()
}

/// A length as a bar, as a share of the longest, and as a number.
fn bar(
    cx: CellCx,
    (share, length): (&'static str, &'static str),
    at: usize,
    class: &'static str,
) -> AnyView {
    let share = cx.value(share, vec![at]);
    let style = move || format!("--share: {:.4}", share.get().unwrap_or(0.0));
    view! {
        <div class=format!("bus-bar {class}")>
            <span class="share-bar" style=style></span>
            {cx.num(length, &[at], Format::Fixed(1))}
        </div>
    }
    .into_any()
}

/// The stream, the input at the bottom as in the drawing of the machine.
fn bus(cx: CellCx) -> AnyView {
    let added = move |n| bar(cx, ("added.share", "added"), n, "c-output");
    let stream = move |n| bar(cx, ("lengths.share", "lengths"), n, "c-residual");
    let row = |n: usize| {
        view! {
            <tr>
                <th scope="row">{cx.toggle_box(SUB_LAYERS[n].0)}</th>
                <td>{added(n)}</td>
                <td>{stream(n + 1)}</td>
            </tr>
        }
    };
    let rows = (0..SUB_LAYERS.len()).rev().map(row).collect_view();
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="The residual stream at the last token">
            <table class="bus">
                <caption class="vh">"From the top down: the length of what each sub-layer adds at the last token, and of the stream after it"</caption>
                <thead>
                    <tr>
                        <th scope="col">"sub-layer"</th>
                        <th scope="col">"adds"</th>
                        <th scope="col">"stream after it"</th>
                    </tr>
                </thead>
                <tbody>
                    {rows}
                    <tr>
                        <th scope="row">"Embedding"</th>
                        <td></td>
                        <td>{stream(0)}</td>
                    </tr>
                </tbody>
            </table>
        </div>
    }
    .into_any()
}

fn verdict(cx: CellCx) -> AnyView {
    let first = cx.words("whole.words");
    let word = move || first.with(|words| words.first().cloned().unwrap_or_default());
    view! {
        <p class="verdict">
            <span data-label="">{word}</span> ": " {cx.num("first.whole", &[], Format::Percent(1))}
            " with all sub-layers, " <span data-train="first">{cx.num("first.now", &[], Format::Percent(1))}</span>
            " with " {cx.num("off", &[], Format::Count)} " switched off."
        </p>
        <p class="cell-note">
            "The stream has " {cx.num("width", &[], Format::Count)}
            " numbers. Largest difference between its end and the sum of the embedding and all arrows: "
            {cx.num("difference", &[], Format::Power(0))} "."
        </p>
    }
    .into_any()
}

/// What is left of the first prediction without each sub-layer.
fn alone(cx: CellCx) -> AnyView {
    let rows = SUB_LAYERS.iter().enumerate().rev().map(|(n, (_, label))| {
        let number = cx.num("alone", &[n], Format::Percent(1));
        share_row(cx, *label, ("alone", vec![n]), number)
    });
    view! {
        <p>"The probability of the first prediction when only this sub-layer is off:"</p>
        <ul class="shares">{rows.collect_view()}</ul>
    }
    .into_any()
}
