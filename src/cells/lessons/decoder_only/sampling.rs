//! Eight scores, three settings, the probabilities that are left, and the words that a seed draws.

use cells::format::Format;
use cells::lessons::decoder_only::sampling::{BEFORE, DRAWS, WORDS};
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::widgets::{Concept, More};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls">
            {cx.slider("tau", Format::Fixed(1))} {cx.slider("k", Format::Count)}
            {cx.slider("p", Format::Fixed(2))} {cx.seed_box()}
        </div>
        <section class="panel">
            <p class="panel-title">{BEFORE} " \u{2026}"</p>
            {bars(cx)}
            <p class="verdict">
                "Words that survive: " {cx.num("survivors", &[], Format::Count)} "."
            </p>
            {drawn(cx)}
        </section>
        <More summary="Edit the scores">
            {cx.matrix_edit("scores", Concept::Score, &WORDS, &["score"])}
        </More>
    }
    .into_any()
}

/// A word each: its probability at the temperature, and the one that it is drawn with.
fn bars(cx: CellCx) -> AnyView {
    let rows = WORDS.iter().enumerate().map(|(n, &word)| {
        let (all, kept) = (cx.value("tempered", vec![n]), cx.value("kept", vec![n]));
        let bar = |share: Signal<Option<f64>>| {
            let style = move || format!("--share: {:.4}", share.get().unwrap_or(0.0));
            view! { <span class="share-bar" style=style></span> }
        };
        view! {
            <tr class:is-cut=move || kept.get() == Some(0.0)>
                <th scope="row" data-label="">{word}</th>
                <td>{cx.num("tempered", &[n], Format::Percent(1))}</td>
                <td class="tax-bar">{bar(all)}</td>
                <td>{cx.num("kept", &[n], Format::Percent(1))}</td>
                <td class="tax-bar">{bar(kept)}</td>
                <td>{cx.num("counts", &[n], Format::Count)}</td>
            </tr>
        }
    });
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Probabilities of the next word">
            <table class="values tax">
                <thead>
                    <tr>
                        <th scope="col">"word"</th>
                        <th scope="col">"softmax"</th>
                        <th scope="col" class="tax-bar"><span class="vh">"as a bar"</span></th>
                        <th scope="col">"after the cuts"</th>
                        <th scope="col" class="tax-bar"><span class="vh">"as a bar"</span></th>
                        <th scope="col">"drawn"</th>
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}

/// The words in the order in which they were drawn.
fn drawn(cx: CellCx) -> AnyView {
    let words = cx.words("drawn");
    let items = (0..DRAWS).map(|n| {
        let word = move || words.with(|words| words.get(n).cloned());
        view! { <li><span class="token" data-from=format!("drawn[{n}]")>{word}</span></li> }
    });
    view! { <ol class="tokens" aria-label="Words that the seed draws">{items.collect_view()}</ol> }
        .into_any()
}
