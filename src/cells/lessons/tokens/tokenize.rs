//! The view of `tokenize`: the tokens of a text with their ids, how many there are, and the text
//! that they are decoded to.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::vocabulary::{none_marked, token_boxes, vocabulary_box, vocabulary_note};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let same = cx.value("same", Vec::new());
    let is_same = Memo::new(move |_| same.get() == Some(1.0));
    let decoded = cx.words("decoded");
    let verdict = move || {
        if is_same.get() {
            "The ids decode to the same text."
        } else {
            "The ids decode to another text."
        }
    };
    let item = move |label: &'static str, name: &'static str| {
        view! {
            <div>
                <dt>{label}</dt>
                <dd>{cx.num(name, &[], Format::Count)}</dd>
            </div>
        }
    };
    view! {
        <div class="controls">{cx.text_box("text")} {vocabulary_box(cx)}</div>
        {token_boxes(cx, "tokens", Some("ids"), "Tokens with their ids", none_marked())}
        <dl class="readout">
            {item("tokens", "count")} {item("characters", "characters")} {item("bytes", "bytes")}
            {item("tokens in the vocabulary", "size")}
        </dl>
        <p class="verdict" class:good=move || is_same.get() class:bad=move || !is_same.get()>
            {verdict} " "
            <q data-from="decoded[0]">{move || decoded.with(|texts| texts.first().cloned())}</q>
        </p>
        {vocabulary_note(cx)}
    }
    .into_any()
}
