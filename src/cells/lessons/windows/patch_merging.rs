//! The view of `patch-merging`: the picture cut into what merged tokens hold, and the vectors on the way
//! from four tokens to one.

use cells::format::Format;
use cells::lessons::windows::patch_merging::MERGED;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::lessons::patches::patch_cutter::choose_patch;
use crate::cells::parts::pictures::seen;
use crate::display::label;
use crate::widgets::{Concept, Domain, HeatMap, More, Palette, PatchGrid};

/// Stages of the table.
const STAGES: usize = 4;

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls">{cx.slider("width", Format::Count)} {cx.seed_box()}</div>
        <div class="cols-2 map-beside">
            <div class="stack tight">
                <div class="rebuilt">
                    <PatchGrid
                        pixels=seen(cx, "picture")
                        patch=Signal::stored(MERGED)
                        label="The picture, cut into squares of four patches"
                        selected=choose_patch(cx)
                        counts_from=0
                    />
                </div>
                <p class="hint">"Each square holds four patches. Click one."</p>
                {shapes(cx)}
            </div>
            {vectors(cx)}
        </div>
        <More summary="The maps of four stages">{pyramid(cx)}</More>
        <More summary="Another picture">{cx.picture_box("picture")}</More>
    }
    .into_any()
}

/// The shapes before and after.
fn shapes(cx: CellCx) -> AnyView {
    let side = move |name: &'static str| {
        view! { {cx.num(name, &[], Format::Count)} " \u{d7} " {cx.num(name, &[], Format::Count)} }
    };
    view! {
        <dl class="readout pairs">
            <dt>"Tokens"</dt>
            <dd>{side("side")} " to " {side("side.merged")}</dd>
            <dt>{label::set("Numbers: $C$, $4C$, $2C$")}</dt>
            <dd>
                {cx.num("width", &[], Format::Count)} ", " {cx.num("width.gathered", &[], Format::Count)} ", "
                {cx.num("width.merged", &[], Format::Count)}
            </dd>
            <dt>"Parameters of the matrix"</dt>
            <dd>{cx.num("parameters", &[], Format::Count)}</dd>
        </dl>
    }
    .into_any()
}

/// The vectors of the chosen token: four, one of 4C numbers, one of 2C, and that normalised.
fn vectors(cx: CellCx) -> AnyView {
    let row = move |tensor: &'static str, label: &'static str| {
        view! {
            <HeatMap grid=cx.grid(tensor) label=label palette=Palette::Diverging domain=Domain::Symmetric
                format=Format::Fixed(2) concept=Concept::Residual no_legend=true no_readout=true />
        }
    };
    view! {
        <div class="stack">
            <HeatMap
                grid=cx.grid_with("four", Signal::stored(Vec::new()), "neighbours", "")
                label="Four neighbours, $C$ numbers each"
                palette=Palette::Diverging
                domain=Domain::Symmetric
                format=Format::Fixed(2)
                concept=Concept::Residual
                no_legend=true
                no_readout=true
            />
            {row("gathered", "Side by side: $4C$ numbers")}
            {row("reduced", "Times the matrix: $2C$ numbers")}
            {row("merged", "After the norm: the merged token")}
        </div>
    }
    .into_any()
}

/// The map of each stage.
fn pyramid(cx: CellCx) -> AnyView {
    let row = |n: usize| {
        view! {
            <tr>
                <th scope="row" data-label="">{format!("stage {}", n + 1)}</th>
                <td>{cx.num("pyramid.side", &[n], Format::Count)} " \u{d7} " {cx.num("pyramid.side", &[n], Format::Count)}</td>
                <td>{cx.num("pyramid.pixels", &[n], Format::Count)} " \u{d7} " {cx.num("pyramid.pixels", &[n], Format::Count)}</td>
                <td>{cx.num("pyramid.width", &[n], Format::Count)}</td>
                <td>{cx.num("pyramid.numbers", &[n], Format::Count)}</td>
            </tr>
        }
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="The maps of four stages">
            <table>
                <caption class="vh">"For each stage the tokens, what a token covers, and its numbers"</caption>
                <thead>
                    <tr>
                        <th scope="col"><span class="vh">"stage"</span></th>
                        <th scope="col">"tokens"</th>
                        <th scope="col">"pixels of a token"</th>
                        <th scope="col">"numbers of a token"</th>
                        <th scope="col">"numbers of the map"</th>
                    </tr>
                </thead>
                <tbody>{(0..STAGES).map(row).collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}
