//! A beginning and what tiny-gpt makes of it, with the most likely tokens and with drawn ones.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::model_note::trained;

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls">
            {cx.text_box("beginning")} {cx.slider("tau", Format::Fixed(1))} {cx.seed_box()}
        </div>
        <div class="cols-2">
            {written(cx, "The most likely token each time", "greedy.text", "greedy.repeated")}
            {written(cx, "Drawn at your temperature", "drawn.text", "drawn.repeated")}
        </div>
        <p class="cell-note">
            "Each text has " {cx.num("written", &[], Format::Count)}
            " tokens after the beginning; the token that would end it is never chosen. Repeated: runs of "
            {cx.num("run", &[], Format::Count)} " tokens that were in the text before."
        </p>
        {trained(&["tiny-gpt"])}
    }
    .into_any()
}

fn written(cx: CellCx, title: &'static str, text: &'static str, share: &'static str) -> AnyView {
    let beginning = cx.words("beginning");
    let begun = move || beginning.with(|texts| texts.first().cloned());
    let texts = cx.words(text);
    let rest = move || texts.with(|texts| texts.first().cloned());
    view! {
        <section class="panel">
            <p class="panel-title">{title}</p>
            <p class="story">
                <strong data-from="beginning[0]">{begun}</strong>
                <span data-from=format!("{text}[0]")>{rest}</span>
            </p>
            <p class="verdict">"Repeated: " {cx.num(share, &[], Format::Percent(0))}</p>
        </section>
    }
    .into_any()
}
