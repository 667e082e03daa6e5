//! The cross-attention of all heads: thumbnails, and the chosen one large.

use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::head_maps::HeadMaps;
use crate::cells::parts::model_note::trained;

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls">{cx.text_box("sentence")}</div>
        <p class="translation" lang="it" data-from="translation[0]">
            {move || cx.words("translation").get().into_iter().next()}
        </p>
        {HeadMaps::between(cx, ("target", "source")).side_by_side(Signal::stored(false))}
        {trained(&["translator"])}
    }
    .into_any()
}
