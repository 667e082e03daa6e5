//! The weights of all heads of a trained model as thumbnails, and the chosen one large.

use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::head_maps::HeadMaps;
use crate::cells::parts::model_note::{is_decoder, model_box, model_note, pieces_note};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let maps = HeadMaps::new(cx);
    view! {
        <div class="controls">{cx.text_box("sentence")} {model_box(cx)}</div>
        {pieces_note(cx)}
        <div class="cols-2">
            {maps.thumbnails(|_| ().into_any())} {maps.large(is_decoder(cx), false)}
        </div>
        {model_note(cx)}
    }
    .into_any()
}
