//! The view of `swin-reach`: the picture twice, the patches that have heard of the chosen one coloured,
//! and a table of how many they are after each block.

use cells::format::Format;
use cells::lessons::windows::swin_reach::{BLOCKS, PATCH, WINDOW};
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::lessons::patches::patch_cutter::choose_patch;
use crate::cells::parts::figures::values;
use crate::cells::parts::pictures::seen;
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::{Concept, Domain, More, PatchGrid};

/// One of the two models: what is said of it, and its tensors: the map, the patches that differ now, those
/// after each block, and the numbers of the neighbour that differ.
struct Side {
    title: &'static str,
    changed: &'static str,
    now: &'static str,
    count: &'static str,
    neighbour: &'static str,
    is_quiet: bool,
}

const SIDES: [Side; 2] = [
    Side {
        title: "The same windows in every block",
        changed: "fixed.changed",
        now: "fixed.now",
        count: "fixed.count",
        neighbour: "fixed.neighbour",
        is_quiet: false,
    },
    Side {
        title: "Windows shifted in every second block",
        changed: "shifted.changed",
        now: "shifted.now",
        count: "shifted.count",
        neighbour: "shifted.neighbour",
        is_quiet: true,
    },
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls">{cx.slider("blocks", Format::Count)} {cx.toggle_box("forget")}</div>
        <div class="cols-2">{SIDES.map(|side| panel(cx, side)).collect_view()}</div>
        <More summary="Patches that differ after each block">{chart(cx)} {table(cx)}</More>
        <More summary="Another picture, and the seed of the parameters">
            {cx.picture_box("picture")} {cx.seed_box()}
        </More>
        <p class="hint">"The parameters are random numbers drawn from the seed: nobody trained this model."</p>
    }
    .into_any()
}

fn panel(cx: CellCx, side: Side) -> AnyView {
    let blocks = cx.number("blocks");
    // The windows of the last block that has run: of every second one, shifted by half a window.
    let lines = Signal::derive(move || {
        let is_shifted = side.is_quiet && blocks.get() > 0.0 && blocks.get() % 2.0 == 0.0;
        (WINDOW, if is_shifted { WINDOW / 2 } else { 0 })
    });
    view! {
        <section class="stack tight">
            <p class="panel-title">{side.title}</p>
            <div class="rebuilt">
                <PatchGrid
                    pixels=seen(cx, "picture")
                    patch=Signal::stored(PATCH)
                    label=format!("{}: patches that differ, coloured", side.title)
                    selected=choose_patch(cx)
                    overlay=cx.grid(side.changed)
                    overlay_domain=Signal::stored(Domain::Fixed(0.0, 1.0))
                    windows=lines
                    is_quiet=side.is_quiet
                    counts_from=0
                />
            </div>
            <p class="verdict">
                <strong>{cx.num(side.now, &[], Format::Count)}</strong> " of "
                {cx.num("patches", &[], Format::Count)} " patches differ after block "
                {cx.num("blocks", &[], Format::Count)} "."
            </p>
            <p>
                "The neighbour, patch " {cx.num("neighbour", &[], Format::Count)} ": "
                {cx.num(side.neighbour, &[], Format::Count)} " of its "
                {cx.num("width", &[], Format::Count)} " numbers differ in at least one bit."
            </p>
        </section>
    }
    .into_any()
}

/// The patches that differ against the blocks.
fn chart(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let concepts = [Concept::Score, Concept::Output];
            let series = SIDES
                .into_iter()
                .zip(concepts)
                .map(|(side, concept)| Series {
                    name: side.title.to_owned(),
                    source: side.count.to_owned(),
                    kind: Kind::Line,
                    xs: values(c, "block"),
                    ys: values(c, side.count),
                    concept,
                });
            Some(Chart {
                title: "Patches that differ".to_owned(),
                x_label: "blocks".to_owned(),
                y_label: "patches".to_owned(),
                series: series.collect(),
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("patches", chart);
    view! { <ChartView chart label="Patches that differ, after each block" height=150 format=Format::Count /> }
        .into_any()
}

fn table(cx: CellCx) -> AnyView {
    let row = |side: Side| {
        let cells = (0..=BLOCKS).map(move |block| {
            view! { <td>{cx.num(side.count, &[block], Format::Count)}</td> }
        });
        view! { <tr><th scope="row">{side.title}</th>{cells.collect_view()}</tr> }
    };
    let heads = (0..=BLOCKS).map(|block| {
        view! { <th scope="col">{cx.num("block", &[block], Format::Count)}</th> }
    });
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Patches that differ after each block">
            <table>
                <caption class="vh">"How many patches differ after each block"</caption>
                <thead><tr><th scope="col">"after block"</th>{heads.collect_view()}</tr></thead>
                <tbody>{SIDES.map(row).collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}
