//! The attention of one query over the drawing, and all heads beside it.

use cells::InputValue;
use cells::format::Format;
use cells::lessons::vit::patch_attention::ROLLOUT;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::head_maps::{HeadMaps, name_of};
use crate::cells::parts::model_note::trained;
use crate::cells::parts::pad::folded_pad;
use crate::cells::parts::pictures::seen;
use crate::widgets::{Concept, Domain, Grid, Palette, PatchGrid, Selected, legend};

/// The side of a patch of digit-vit.
const PATCH: usize = 4;

/// The top of the scale for a head, and for rollout, whose shares are small.
const TOP: f64 = 1.0;
const TOP_OF_ROLLOUT: f64 = 0.1;

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let maps = HeadMaps::between(cx, ("", ""));
    view! {
        <div class="cols-2 map-beside">
            <div class="stack asked c-weight">
                {query_box(cx)}
                {drawing(cx, maps)}
                {numbers(cx, maps)}
            </div>
            <div class="stack">
                {cx.choice_box("shown")}
                {maps.thumbnails(|_| ().into_any())}
            </div>
        </div>
        {folded_pad(cx)}
        {trained(&["digit-vit"])}
    }
    .into_any()
}

/// Whether the large picture shows rollout.
fn shows_rollout(cx: CellCx) -> Memo<bool> {
    let shown = cx.choice("shown");
    Memo::new(move |_| shown.with(|shown| shown == ROLLOUT))
}

/// The class token as query, and which query there is.
fn query_box(cx: CellCx) -> AnyView {
    let query = cx.number("query");
    let is_class = move || query.get() == 0.0;
    let choose = move |_| cx.set("query", InputValue::Number(0.0));
    view! {
        <div class="row center">
            <button type="button" class="button" aria-pressed=move || is_class().to_string() on:click=choose>
                "Class token"
            </button>
            <span class="hint">
                {move || if is_class() {
                    view! { "is the query. Click a patch to ask it instead." }.into_any()
                } else {
                    view! { "Query: patch " {cx.num("query", &[], Format::Count)} ", outlined." }.into_any()
                }}
            </span>
        </div>
    }
    .into_any()
}

/// The drawing, its patches coloured by their weights.
fn drawing(cx: CellCx, maps: HeadMaps) -> AnyView {
    let query = cx.number("query");
    let patch = Signal::derive(move || (query.get() as usize).checked_sub(1));
    let selected = Selected::new(patch, move |patch: Option<usize>| {
        if let Some(patch) = patch {
            cx.set("query", InputValue::Number((patch + 1) as f64));
        }
    });
    let is_rollout = shows_rollout(cx);
    let prefix = Signal::derive(move || vec![maps.here.get().0, maps.here.get().1]);
    let (head, rollout) = (cx.grid_with("weights", prefix, "", ""), cx.grid("rollout"));
    let grid: Signal<Option<Grid>> = Signal::derive(move || {
        if is_rollout.get() {
            rollout.get()
        } else {
            head.get()
        }
    });
    let domain = Signal::derive(move || {
        let top = if is_rollout.get() {
            TOP_OF_ROLLOUT
        } else {
            TOP
        };
        Domain::Fixed(0.0, top)
    });
    let name = move || {
        if is_rollout.get() {
            "Rollout over all layers".to_owned()
        } else {
            name_of(maps.here.get())
        }
    };
    view! {
        <div class="stack tight">
            <p class="panel-title" data-label="" aria-live="polite">{name}</p>
            <PatchGrid pixels=seen(cx, "image") patch=Signal::stored(PATCH) label="Your drawing, each patch coloured by its weight"
                selected=selected overlay=grid overlay_domain=domain />
            <figure class=format!("heat ramp {}", Concept::Weight.class())>
                {legend(grid, Palette::Sequential, domain, Format::Fixed(1))}
            </figure>
        </div>
    }
    .into_any()
}

/// The weights in numbers.
fn numbers(cx: CellCx, maps: HeadMaps) -> AnyView {
    let is_rollout = shows_rollout(cx);
    let index = Signal::derive(move || vec![maps.here.get().0, maps.here.get().1]);
    let number = move |of_head: &'static str, of_rollout: &'static str| {
        move || {
            if is_rollout.get() {
                cx.num(of_rollout, &[], Format::Fixed(3))
            } else {
                cx.num_at(of_head, index, Format::Fixed(3))
            }
        }
    };
    view! {
        <dl class="readout">
            <div><dt>"largest on a patch"</dt><dd>{number("largest", "rollout.largest")}</dd></div>
            <div><dt>"on patches with ink"</dt><dd>{number("on_ink", "rollout.on_ink")}</dd></div>
            <div><dt>"on the class token"</dt><dd>{number("to_class", "rollout.to_class")}</dd></div>
        </dl>
    }
    .into_any()
}
