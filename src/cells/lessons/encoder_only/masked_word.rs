//! The guesses for a hidden word from both sides, beside those from the left side alone.

use cells::format::Format;
use cells::lessons::encoder_only::masked_word::TOP;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::bars::likely;
use crate::cells::parts::model_note::trained;

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls">{cx.text_box("sentence")} {cx.slider("hidden", Format::Count)}</div>
        {tokens(cx)}
        <div class="cols-2">
            <div class="stack">
                {likely(cx, "tiny-bert, from both sides", ("bert.words", "bert.probabilities"), TOP)}
                {verdict(cx, "bert.right")}
            </div>
            <div class="stack">
                {likely(cx, "tiny-gpt, from the left side", ("gpt.words", "gpt.probabilities"), TOP)}
                {verdict(cx, "gpt.right")}
            </div>
        </div>
        {trained(&["tiny-bert", "tiny-gpt"])}
    }
    .into_any()
}

/// The tokens that tiny-bert reads.
fn tokens(cx: CellCx) -> AnyView {
    let tokens = cx.words("tokens");
    let boxes = move || {
        let each = tokens.get().into_iter().enumerate();
        let one = |(n, token): (usize, String)| {
            let token = match token == "[MASK]" {
                true => view! { <strong>{token}</strong> }.into_any(),
                false => token.into_any(),
            };
            view! {
                <li>
                    <span class="token" data-from=format!("tokens[{n}]")>{token}</span>
                </li>
            }
        };
        each.map(one).collect_view()
    };
    view! { <ol class="tokens token-boxes" aria-label="What tiny-bert reads">{boxes}</ol> }
        .into_any()
}

/// The probability that a model gave to the hidden word.
fn verdict(cx: CellCx, right: &'static str) -> AnyView {
    let word = cx.words("right");
    let word = move || word.with(|words| words.first().cloned().unwrap_or_default());
    view! {
        <p class="verdict">
            "Your word, " <strong data-label="">{word}</strong> ": " {cx.num(right, &[], Format::Percent(1))}
        </p>
    }
    .into_any()
}
