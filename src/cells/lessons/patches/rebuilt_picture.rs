//! The view of `rebuilt-picture`: the picture beside what its tokens still know of it.

use cells::format::Format;
use cells::lessons::patches::rebuilt_picture::SIDE;
use leptos::prelude::*;

use super::patch_cutter::choose_patch;
use crate::cells::frame::context::CellCx;
use crate::cells::parts::model_note::only_if;
use crate::cells::parts::pictures::seen;
use crate::widgets::{Domain, HeatMap, More, Palette, PatchGrid, set};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let columns = cx.choice("columns");
    let is_random = Memo::new(move |_| columns.with(|columns| columns == "random"));
    // The same patch is outlined in both pictures.
    let selected = choose_patch(cx);
    let picture = move |tensor, label: &'static str, is_quiet| {
        view! {
            <figure class="rebuilt">
                <figcaption class="heat-title">{label}</figcaption>
                <PatchGrid pixels=seen(cx, tensor) patch=Signal::stored(SIDE) label=label
                    selected=selected is_ruled=false is_quiet=is_quiet />
            </figure>
        }
    };
    view! {
        <div class="controls">
            {cx.choice_box("columns")} {cx.slider("width", Format::Count)}
            {only_if(is_random.into(), move || cx.seed_box())}
        </div>
        <div class="row">
            {picture("picture", "The picture", false)}
            {picture("rebuilt", "Rebuilt from its tokens", true)}
        </div>
        <dl class="readout">
            <div><dt>"numbers in a patch"</dt><dd>{cx.num("inner", &[], Format::Count)}</dd></div>
            <div><dt>"numbers in its token"</dt><dd>{cx.num("width", &[], Format::Count)}</dd></div>
            <div><dt>"RMS difference"</dt><dd>{cx.num("rms_difference", &[], Format::Power(1))}</dd></div>
            <div><dt>"largest difference"</dt><dd>{cx.num("largest_difference", &[], Format::Power(1))}</dd></div>
        </dl>
        <More summary="Another picture, and the numbers of the outlined patch">
            {cx.picture_box("picture")} {numbers(cx)}
        </More>
    }
    .into_any()
}

/// The chosen patch as given, its token, and the patch as rebuilt.
fn numbers(cx: CellCx) -> AnyView {
    let row = move |tensor: &'static str, label: &'static str, domain, palette| {
        view! { <HeatMap grid=cx.grid(tensor) label=label domain=domain palette=palette numbers=false
        format=Format::Fixed(3) /> }
    };
    let bright = Signal::stored(Domain::Fixed(0.0, 1.0));
    let signed = Signal::stored(Domain::Symmetric);
    view! {
        <div class="stack">
            {row("patch", "The patch", bright, Palette::Brightness)}
            {row("token", "Its token", signed, Palette::Diverging)}
            {row("rebuilt_patch", "The rebuilt patch", bright, Palette::Brightness)}
            <p class="hint">{set("Red, green and blue, each row by row: $C \u{b7} P \u{b7} P$ numbers.")}</p>
        </div>
    }
    .into_any()
}
