//! The view of `position-similarity`: a small map for each patch, and the chosen one large.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::lessons::patches::patch_cutter::choose_patch;
use crate::cells::parts::figures::{command_of_runs, labelled};
use crate::cells::parts::model_note::trained;
use crate::cells::parts::pictures::seen;
use crate::widgets::{Concept, Domain, HeatMap, More, Palette, PatchGrid};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls">{cx.verbatim_choice_box("after")}</div>
        {maps(cx)}
        <More summary="Mean similarity of neighbours, after each number of steps">
            <HeatMap
                grid=cx.grid_with("along", Signal::stored(Vec::new()), "kinds", "steps")
                label="Mean similarity of all pairs of patches in each arrangement"
                palette=Palette::Diverging
                domain=Domain::Fixed(-1.0, 1.0)
                format=Format::Fixed(2)
                concept=Concept::Position
                no_legend=true
                no_readout=true
            />
            {command_of_runs(cx)}
        </More>
    }
    .into_any()
}

/// The view of the cell on a model that the reader has opened.
pub(crate) fn opened_view(cx: CellCx) -> AnyView {
    view! { {maps(cx)} {trained(&[])} }.into_any()
}

/// All maps, and the chosen one.
fn maps(cx: CellCx) -> AnyView {
    let grid = labelled(
        cx.grid("map"),
        |row| format!("row {row}"),
        |column| format!("column {column}"),
    );
    let side = cx.value("side", Vec::new());
    let side = Signal::derive(move || side.get().map_or(1, |side| side as usize));
    view! {
        <div class="cols-2">
            <figure class="stack tight">
                <figcaption class="heat-title">"A map for each patch, where the patch is"</figcaption>
                <PatchGrid
                    pixels=seen(cx, "maps")
                    patch=side
                    label="A map of similarities for each patch"
                    selected=choose_patch(cx)
                    counts_from=0
                />
                <p class="hint">"White: the same direction. Black: a right angle or more."</p>
            </figure>
            <HeatMap
                grid
                label="The outlined map: similarity to each patch"
                palette=Palette::Diverging
                domain=Domain::Fixed(-1.0, 1.0)
                format=Format::Fixed(2)
                concept=Concept::Position
            />
        </div>
    }
    .into_any()
}
