//! The view of `token-tax`: a row for each language with its tokens as a bar.

use cells::format::Format;
use cells::lessons::tokens::token_tax::SENTENCES;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::vocabulary::{vocabulary_box, vocabulary_note};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let yours = cx.words("yours");
    let own = move || yours.with(|texts| texts.first().cloned());
    let given = SENTENCES
        .iter()
        .enumerate()
        .map(|(place, &(language, code, sentence))| {
            let text = view! { <span lang=(!code.is_empty()).then_some(code) data-label="">{sentence}</span> }.into_any();
            row(cx, place, language, text)
        });
    let own = row(
        cx,
        SENTENCES.len(),
        "Yours",
        view! { <span data-from="yours[0]">{own}</span> }.into_any(),
    );
    view! {
        <div class="controls">{vocabulary_box(cx)} {cx.text_box("yours")}</div>
        <div class="scroll" tabindex="0" role="region" aria-label="Tokens of each sentence">
            <table class="values tax">
                <thead>
                    <tr>
                        <th scope="col">"language"</th>
                        <th scope="col" class="is-text">"sentence"</th>
                        <th scope="col">"characters"</th>
                        <th scope="col">"bytes"</th>
                        <th scope="col">"tokens"</th>
                        <th scope="col" class="tax-bar"><span class="vh">"as a bar"</span></th>
                        <th scope="col">"to English"</th>
                    </tr>
                </thead>
                <tbody>{given.collect_view()} {own}</tbody>
            </table>
        </div>
        {vocabulary_note(cx)}
    }
    .into_any()
}

fn row(cx: CellCx, place: usize, language: &'static str, sentence: AnyView) -> AnyView {
    let share = cx.value("shares", vec![place]);
    let share = move || format!("--share: {:.4}", share.get().unwrap_or(0.0));
    view! {
        <tr>
            <th scope="row">{language}</th>
            <td class="is-text">{sentence}</td>
            <td>{cx.num("characters", &[place], Format::Count)}</td>
            <td>{cx.num("bytes", &[place], Format::Count)}</td>
            <td>{cx.num("tokens", &[place], Format::Count)}</td>
            <td class="tax-bar"><span class="share-bar" style=share></span></td>
            <td>{cx.num("ratios", &[place], Format::Fixed(1))} "\u{d7}"</td>
        </tr>
    }
    .into_any()
}
