//! The cross-attention of all heads: thumbnails, and the chosen one large.

use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::head_maps::head_maps;
use crate::cells::parts::model_note::trained;

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls">{cx.text_box("sentence")}</div>
        <p class="translation" lang="it" data-from="translation[0]">
            {move || cx.words("translation").get().into_iter().next()}
        </p>
        {head_maps(cx, ("target", "source"), Signal::stored(Vec::new()))}
        {trained(&["translator"])}
    }
    .into_any()
}
