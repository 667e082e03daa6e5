//! The weights of all heads of a trained model as thumbnails, and the chosen one large.

use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::head_maps::HeadMaps;
use crate::cells::parts::model_note::{is_decoder, model_box, model_note, pieces_note};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls">{cx.text_box("sentence")} {model_box(cx)}</div>
        {pieces_note(cx)}
        {HeadMaps::new(cx).side_by_side(is_decoder(cx))}
        {model_note(cx)}
    }
    .into_any()
}
