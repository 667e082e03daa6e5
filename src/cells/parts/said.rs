//! What a cell about tiny-gpt's heads reads: the choice between random tokens that are said twice,
//! with their seed, and a text of the reader's.

use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::model_note::only_if;

/// The choice of a text of the reader's.
const YOURS: &str = "your text";

/// True while the model reads a text of the reader's.
pub(crate) fn is_yours(cx: CellCx) -> Signal<bool> {
    let text = cx.choice("text");
    Memo::new(move |_| text.with(|name| name == YOURS)).into()
}

/// The choice of what the model reads, with its seed or its text.
pub(crate) fn said_box(cx: CellCx) -> AnyView {
    let yours = is_yours(cx);
    let list = Signal::derive(move || !yours.get());
    view! {
        {cx.choice_box("text")} {only_if(list, move || cx.seed_box())}
        {only_if(yours, move || cx.text_box("sentence"))}
    }
    .into_any()
}
