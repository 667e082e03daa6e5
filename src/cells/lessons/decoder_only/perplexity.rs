//! The tokens of a sentence with their bits, and the same for its shuffled words.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::model_note::trained;

/// The names of what one text gives: tokens, bits, their mean and the perplexity.
type Names = [&'static str; 4];

/// The sentence.
const OWN: Names = ["own.tokens", "own.bits", "own.mean", "own.perplexity"];

/// Its words in another order.
const SHUFFLED: Names = [
    "shuffled.tokens",
    "shuffled.bits",
    "shuffled.mean",
    "shuffled.perplexity",
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls">{cx.text_box("sentence")} {cx.seed_box()}</div>
        {text(cx, "Your sentence", OWN)}
        {text(cx, "Its words in another order", SHUFFLED)}
        {trained(&["tiny-gpt"])}
    }
    .into_any()
}

fn text(cx: CellCx, title: &'static str, [tokens, bits, mean, perplexity]: Names) -> AnyView {
    let texts = cx.words(tokens);
    let boxes = move || {
        let each = texts.get().into_iter().enumerate();
        each.map(|(n, text)| {
            view! {
                <li>
                    <span class="token" data-from=format!("{tokens}[{n}]")>{text}</span>
                    {cx.num(bits, &[n], Format::Fixed(1))}
                </li>
            }
        })
        .collect_view()
    };
    view! {
        <section class="panel">
            <p class="panel-title">{title}</p>
            <ol class="tokens token-boxes" aria-label="Tokens with their bits">{boxes}</ol>
            <p class="verdict">
                "Mean: " {cx.num(mean, &[], Format::Fixed(2))} " bits per token. Perplexity: "
                {cx.num(perplexity, &[], Format::Fixed(1))} "."
            </p>
        </section>
    }
    .into_any()
}
