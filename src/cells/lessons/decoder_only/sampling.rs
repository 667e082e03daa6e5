//! Eight scores, three settings, the probabilities that are left, and the words that a seed draws.
//! The scores are the reader's, or those of a model that the reader has opened.

use cells::format::Format;
use cells::lessons::decoder_only::sampling::{BEFORE, DRAWS, WORDS};
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::model_note::trained;
use crate::widgets::{Concept, More};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls">{settings(cx)}</div>
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

/// The view of the cell on a model that the reader has opened.
pub(crate) fn opened_view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls">{cx.text_box("sentence")} {settings(cx)}</div>
        <section class="panel">
            <p class="panel-title">"The eight most likely next tokens"</p>
            {bars(cx)}
            <p class="verdict">
                "Tokens that survive: " {cx.num("survivors", &[], Format::Count)} ". Before the settings, the eight together have probability "
                {cx.num("share", &[], Format::Percent(1))} " in the whole vocabulary."
            </p>
            {drawn(cx)}
        </section>
        {trained(&[])}
    }
    .into_any()
}

fn settings(cx: CellCx) -> AnyView {
    view! {
        {cx.slider("tau", Format::Fixed(1))} {cx.slider("k", Format::Count)}
        {cx.slider("p", Format::Fixed(2))} {cx.seed_box()}
    }
    .into_any()
}

/// A word each: its probability at the temperature, and the one that it is drawn with.
fn bars(cx: CellCx) -> AnyView {
    let words = cx.words("words");
    let rows = WORDS.iter().enumerate().map(|(n, &usual)| {
        let word =
            move || words.with(|words| words.get(n).cloned().unwrap_or_else(|| usual.to_owned()));
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
