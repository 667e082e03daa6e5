//! Rows of bars: words, a share of one as a length, and a number.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;

/// A row: words, a bar as long as a number of the result, and what is written beside it.
pub(crate) fn share_row(
    cx: CellCx,
    words: impl IntoView + 'static,
    (share, index): (&'static str, Vec<usize>),
    number: AnyView,
) -> AnyView {
    let share = cx.value(share, index);
    let style = move || format!("--share: {:.4}", share.get().unwrap_or(0.0));
    view! {
        <li class="share" style=style>
            <span class="share-word" data-label="">{words}</span>
            <span class="share-bar"></span>
            {number}
        </li>
    }
    .into_any()
}

/// The first `count` of some words of the result, each with its probability, under a title.
pub(crate) fn likely(
    cx: CellCx,
    title: &'static str,
    (words, probabilities): (&'static str, &'static str),
    count: usize,
) -> AnyView {
    let words = cx.words(words);
    let row = move |n: usize| {
        let word = move || words.with(|words| words.get(n).cloned().unwrap_or_default());
        let number = cx.num(probabilities, &[n], Format::Percent(1));
        share_row(cx, word, (probabilities, vec![n]), number)
    };
    view! {
        <div>
            <p class="panel-title">{title}</p>
            <ul class="shares">{(0..count).map(row).collect_view()}</ul>
        </div>
    }
    .into_any()
}
