//! The attention of one query over a picture, and all heads beside it: over the reader's drawing, or over
//! the picture that an opened model has read.

use std::sync::Arc;

use cells::InputValue;
use cells::format::Format;
use cells::input::Pixels;
use cells::lessons::vit::patch_attention::ROLLOUT;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::head_maps::{HeadMaps, name_of};
use crate::cells::parts::model_note::trained;
use crate::cells::parts::opened_picture::OpenedPicture;
use crate::cells::parts::pad::folded_pad;
use crate::cells::parts::pictures::seen;
use crate::widgets::{
    Choice, Concept, Domain, Grid, HeatMap, More, Palette, PatchGrid, Selected, legend,
};

/// The side of a patch of digit-vit.
const PATCH: usize = 4;

/// The top of the scale for a head, and for rollout, whose shares are small.
const TOP: f64 = 1.0;
const TOP_OF_ROLLOUT: f64 = 0.1;

/// The tops of the scale that a reader may choose from for the many patches of an opened model.
const TOPS: [(&str, f64); 5] = [
    ("100 %", 1.0),
    ("50 %", 0.5),
    ("20 %", 0.2),
    ("10 %", 0.1),
    ("2 %", 0.02),
];

/// The one that it begins with.
const FIRST_TOP: usize = 3;

/// A picture, what is looked at in it, and the scale of its colours.
#[derive(Clone, Copy)]
struct Sight {
    cx: CellCx,
    maps: HeadMaps,
    pixels: Signal<Option<Arc<Pixels>>>,
    patch: Signal<usize>,
    label: &'static str,
    is_rollout: Memo<bool>,
    scale: Signal<Domain>,
    format: Format,
}

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let maps = HeadMaps::between(cx, ("", ""));
    let is_rollout = shows_rollout(cx);
    let sight = Sight {
        cx,
        maps,
        pixels: seen(cx, "image"),
        patch: Signal::stored(PATCH),
        label: "Your drawing, each patch coloured by its weight",
        is_rollout,
        scale: Signal::derive(move || {
            let top = if is_rollout.get() {
                TOP_OF_ROLLOUT
            } else {
                TOP
            };
            Domain::Fixed(0.0, top)
        }),
        format: Format::Fixed(1),
    };
    let on_ink = view! {
        <div><dt>"on patches with ink"</dt><dd>{number(sight, "on_ink", "rollout.on_ink")}</dd></div>
    };
    view! {
        <div class="cols-2 map-beside">
            <div class="stack asked c-weight">
                {query_box(cx, true)}
                {large(sight)}
                {numbers(sight, on_ink.into_any())}
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

/// The view of the cell on a model that the reader has opened.
pub(crate) fn opened_view(cx: CellCx) -> AnyView {
    let Some(picture) = use_context::<OpenedPicture>() else {
        return ().into_any();
    };
    let top = RwSignal::new(TOPS[FIRST_TOP].0.to_owned());
    let top_value = Memo::new(move |_| {
        let found = top.with(|top| TOPS.iter().find(|(name, _)| name == top).copied());
        found.map_or(TOP, |(_, value)| value)
    });
    let sight = Sight {
        cx,
        maps: HeadMaps::between(cx, ("", "")),
        pixels: picture.pixels,
        patch: picture.patch,
        label: "Your picture, each patch coloured by its weight",
        is_rollout: shows_rollout(cx),
        scale: Signal::derive(move || Domain::Fixed(0.0, top_value.get())),
        format: Format::Percent(0),
    };
    let index = here(sight.maps);
    let distance = view! {
        <div><dt>"mean attention distance"</dt><dd>{cx.num_at("distance", index, Format::Fixed(0))} " px"</dd></div>
    };
    let tops = TOPS.map(|(name, _)| name.to_owned()).to_vec();
    let choose_top = Callback::new(move |name: String| top.set(name));
    let has_class = move || picture.before.get() > 0;
    view! {
        <div class="cols-2">
            <div class="stack asked c-weight">
                {move || query_box(cx, has_class())}
                {large(sight)}
                {numbers(sight, distance.into_any())}
            </div>
            <div class="stack">
                {cx.choice_box("shown")}
                <Choice label="Top of the scale" options=tops value=top on_change=choose_top verbatim=true />
                {gallery(sight, top_value)}
                {sight.maps.picker()}
                {distances(cx)}
            </div>
        </div>
        {trained(&[])}
    }
    .into_any()
}

/// Whether the large picture shows rollout.
fn shows_rollout(cx: CellCx) -> Memo<bool> {
    let shown = cx.choice("shown");
    Memo::new(move |_| shown.with(|shown| shown == ROLLOUT))
}

/// The chosen layer and head as an index.
fn here(maps: HeadMaps) -> Signal<Vec<usize>> {
    Signal::derive(move || vec![maps.here.get().0, maps.here.get().1])
}

/// The class token as query, where there is one, and which query there is.
fn query_box(cx: CellCx, has_class: bool) -> AnyView {
    let query = cx.number("query");
    let is_class = move || query.get() == 0.0 && has_class;
    let choose = move |_| cx.set("query", InputValue::Number(0.0));
    let class = has_class.then(|| {
        view! {
            <button type="button" class="button" aria-pressed=move || is_class().to_string() on:click=choose>
                "Class token"
            </button>
        }
    });
    view! {
        <div class="row center">
            {class}
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

/// The picture, its patches coloured by their weights.
fn large(sight: Sight) -> AnyView {
    let Sight { cx, maps, .. } = sight;
    let query = cx.number("query");
    let patch = Signal::derive(move || (query.get() as usize).checked_sub(1));
    let selected = Selected::new(patch, move |patch: Option<usize>| {
        if let Some(patch) = patch {
            cx.set("query", InputValue::Number((patch + 1) as f64));
        }
    });
    let is_rollout = sight.is_rollout;
    let (head, rollout) = (
        cx.grid_with("weights", here(maps), "", ""),
        cx.grid("rollout"),
    );
    let grid: Signal<Option<Grid>> = Signal::derive(move || {
        if is_rollout.get() {
            rollout.get()
        } else {
            head.get()
        }
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
            <PatchGrid pixels=sight.pixels patch=sight.patch label=sight.label
                selected=selected overlay=grid overlay_domain=sight.scale />
            <figure class=format!("heat ramp {}", Concept::Weight.class())>
                {legend(grid, Palette::Sequential, sight.scale, sight.format)}
            </figure>
        </div>
    }
    .into_any()
}

/// A number of the chosen head, or of rollout.
fn number(
    sight: Sight,
    of_head: &'static str,
    of_rollout: &'static str,
) -> impl Fn() -> AnyView + Send + 'static {
    let index = here(sight.maps);
    move || {
        if sight.is_rollout.get() {
            sight.cx.num(of_rollout, &[], Format::Fixed(3))
        } else {
            sight.cx.num_at(of_head, index, Format::Fixed(3))
        }
    }
}

/// The weights in numbers, and one more.
fn numbers(sight: Sight, more: AnyView) -> AnyView {
    view! {
        <dl class="readout">
            <div><dt>"largest on a patch"</dt><dd>{number(sight, "largest", "rollout.largest")}</dd></div>
            {more}
            <div><dt>"on the class token"</dt><dd>{number(sight, "to_class", "rollout.to_class")}</dd></div>
        </dl>
    }
    .into_any()
}

/// All heads for this query in one picture: a column for each layer, a row for each head.
fn gallery(sight: Sight, top: Memo<f64>) -> AnyView {
    let (cx, maps) = (sight.cx, sight.maps);
    let computed = cx.computed();
    let picture = Memo::new(move |_| computed.with(|c| all_heads(c.as_ref()?, top.get())));
    let pixels = Signal::derive(move || picture.with(|p| p.as_ref().map(|p| Arc::clone(&p.0))));
    let side = Signal::derive(move || picture.with(|p| p.as_ref().map_or(1, |p| p.1)));
    let layers = Memo::new(move |_| picture.with(|p| p.as_ref().map_or(1, |p| p.2)));
    let chosen = Signal::derive(move || {
        let (layer, head) = maps.here.get();
        Some(head * layers.get() + layer)
    });
    let selected = Selected::new(chosen, move |place: Option<usize>| {
        if let Some(place) = place {
            let layers = layers.get_untracked().max(1);
            maps.choose((place % layers, place / layers));
        }
    });
    view! {
        <figure class="stack tight head-gallery">
            <figcaption class="heat-title">"Every head for this query: a column for each layer, a row for each head"</figcaption>
            <PatchGrid pixels=pixels patch=side label="A map for each head" selected=selected is_quiet=true />
            <p class="hint">"Black: no weight. White: the top of the scale or more. Click a head to see it large."</p>
        </figure>
    }
    .into_any()
}

/// The maps of all heads side by side, the side of one in pixels, and the number of layers.
fn all_heads(c: &cells::Computation, top: f64) -> Option<(Arc<Pixels>, usize, usize)> {
    let weights = &c.tensor("weights")?.values;
    let &[layers, heads, rows, columns] = weights.shape() else {
        return None;
    };
    let side = rows.max(columns);
    let (width, height) = (layers * side, heads * side);
    let grey = |y: usize, x: usize| {
        let weight = weights.get([x / side, y / side, y % side, x % side]);
        let share = weight.map_or(0.0, |weight| weight / top).clamp(0.0, 1.0);
        [(share * 255.0).round() as u8; 3]
    };
    let rgb = (0..height).flat_map(|y| (0..width).flat_map(move |x| grey(y, x)));
    let pixels = Pixels {
        width,
        height,
        rgb: rgb.collect(),
    };
    Some((Arc::new(pixels), side, layers))
}

/// How far each head looks.
fn distances(cx: CellCx) -> AnyView {
    let none = Signal::stored(Vec::new());
    view! {
        <More summary="How far each head looks">
            <HeatMap grid=cx.grid_with("distance", none, "layer.names", "head.names")
                label="Mean attention distance in pixels, over all patches as queries" domain=Domain::Auto
                format=Format::Fixed(0) concept=Concept::Weight />
            <p class="hint">
                "From " {cx.num("distance.least", &[], Format::Fixed(0))} " to "
                {cx.num("distance.most", &[], Format::Fixed(0))}
                " pixels. A head whose weights were the same for all patches would be at "
                {cx.num("distance.even", &[], Format::Fixed(0))} "."
            </p>
        </More>
    }
    .into_any()
}
