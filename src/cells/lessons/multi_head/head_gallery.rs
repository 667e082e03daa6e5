//! The weights of all heads of a trained model as thumbnails, and the chosen one large.

use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::later_pairs;
use crate::cells::parts::head_maps::head_maps;
use crate::cells::parts::model_note::{model_box, model_note, pieces_note};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let tokens = cx.words("tokens");
    let model = cx.choice("model");
    let hidden = Signal::derive(move || {
        let is_causal = model.with(|name| name == "tiny-gpt");
        let count = if is_causal { tokens.with(Vec::len) } else { 0 };
        later_pairs(count)
    });
    view! {
        <div class="controls">{cx.text_box("sentence")} {model_box(cx)}</div>
        {pieces_note(cx)}
        {head_maps(cx, ("tokens", "tokens"), hidden)}
        {model_note(cx)}
    }
    .into_any()
}
