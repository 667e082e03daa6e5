//! The view of `patch-filters`: the largest filters of the patch embedding as small pictures, and what the
//! chosen one gives for each patch of the reader's picture.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::lessons::patches::patch_cutter::choose_patch;
use crate::cells::parts::model_note::trained;
use crate::cells::parts::pictures::seen;
use crate::widgets::{Concept, Domain, HeatMap, Palette, PatchGrid};

/// The view of the cell.
pub(super) fn view(cx: CellCx) -> AnyView {
    let side = cx.value("patch", Vec::new());
    let side = Signal::derive(move || side.get().map_or(1, |side| side as usize));
    view! {
        <div class="cols-2">
            <figure class="stack tight">
                <figcaption class="heat-title">
                    "The " {cx.num("listed", &[], Format::Count)} " largest of " {cx.num("count", &[], Format::Count)} " filters"
                </figcaption>
                <PatchGrid pixels=seen(cx, "gallery") patch=side label="Filters of the patch embedding"
                    selected=choose_patch(cx) counts_from=0 />
                <p class="hint">"Grey is zero. Each filter has a scale of its own. Click one to choose it."</p>
            </figure>
            <div class="stack tight">
                <HeatMap grid=cx.grid("response") label="The chosen filter on each patch of your picture"
                    palette=Palette::Diverging domain=Domain::Symmetric format=Format::Fixed(2)
                    concept=Concept::Output picture=true />
                <p>
                    "The outlined filter has " {cx.num("numbers", &[], Format::Count)} " numbers, and the norm "
                    {cx.num("norm", &[], Format::Fixed(2))} ". Its product with a patch is number "
                    {cx.num("dimension", &[], Format::Count)} " of the patch\u{2019}s token."
                </p>
            </div>
        </div>
        {trained(&[])}
    }
    .into_any()
}
