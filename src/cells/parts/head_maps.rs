//! The weights of all heads of a model as thumbnails, and the chosen one large.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::widgets::{Concept, Domain, HeatMap, Place};

/// A number of the result.
fn count(cx: CellCx, name: &'static str) -> Memo<usize> {
    let found = cx.value(name, Vec::new());
    Memo::new(move |_| found.get().map_or(0, |count| count as usize))
}

/// The maps of the tensor `weights`, `[layers, heads, rows, columns]`, with the words of the result
/// that name rows and columns; `hidden` are the pairs that may not look at each other. The input
/// `selected` is the chosen layer and head.
pub(crate) fn head_maps(
    cx: CellCx,
    (rows, cols): (&'static str, &'static str),
    hidden: Signal<Vec<Place>>,
) -> AnyView {
    let chosen = cx.selected_place("selected");
    let (layers, heads) = (count(cx, "layers"), count(cx, "heads"));
    // The chosen head, or the last where the model has fewer.
    let here = Memo::new(move |_| {
        let (layer, head) = chosen.get().unwrap_or_default();
        let last = |count: usize| count.saturating_sub(1);
        (layer.min(last(layers.get())), head.min(last(heads.get())))
    });
    let prefix = Signal::derive(move || vec![here.get().0, here.get().1]);
    let name = move || format!("Layer {}, head {}", here.get().0 + 1, here.get().1 + 1);
    let thumbnail = move |layer: usize, head: usize| {
        let choose = Callback::new(move |_: Place| chosen.choose(Some((layer, head))));
        view! {
            <div class="head-map" class:is-chosen=move || here.get() == (layer, head)>
                <HeatMap
                    grid=cx.grid_with("weights", Signal::stored(vec![layer, head]), rows, cols)
                    label=format!("Layer {}, head {}", layer + 1, head + 1)
                    domain=Domain::Fixed(0.0, 1.0)
                    format=Format::Fixed(2)
                    concept=Concept::Weight
                    on_press=choose
                    picture=true
                    no_legend=true
                    no_readout=true
                />
            </div>
        }
    };
    let all = move || {
        let (layers, heads) = (layers.get(), heads.get());
        let places = (0..layers).flat_map(move |layer| (0..heads).map(move |head| (layer, head)));
        places
            .map(|(layer, head)| thumbnail(layer, head))
            .collect_view()
    };
    view! {
        <div class="cols-2">
            <div class="head-maps">{all}</div>
            <div class="stack tight">
                <p class="panel-title" data-label="" aria-live="polite">{name}</p>
                <HeatMap
                    grid=cx.grid_with("weights", prefix, rows, cols)
                    label="Its weights: each row is a word that attends"
                    domain=Domain::Fixed(0.0, 1.0)
                    format=Format::Fixed(2)
                    concept=Concept::Weight
                    hidden
                />
            </div>
        </div>
    }
    .into_any()
}
