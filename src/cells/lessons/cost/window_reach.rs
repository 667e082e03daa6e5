//! A mask from afar, and the words that can know of the first one after each layer.

use cells::Computation;
use cells::format::{Format, number};
use cells::lessons::cost::window_reach::SIDE;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::values;
use crate::widgets::{Concept, Domain, HeatMap, More};

/// Width and height of the drawing, and room for the number of a layer, in its own units.
const DRAWING: (f64, f64, f64) = (480.0, 190.0, 26.0);

/// The most that a layer is high.
const LINE: f64 = 22.0;

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls slim">
            {cx.choice_box("pattern")} {cx.slider("size", Format::Count)} {cx.slider("depth", Format::Count)}
        </div>
        <div class="cols-2 map-beside">
            <HeatMap
                grid=cx.grid("density")
                label="Share of pairs that are computed"
                domain=Signal::stored(Domain::Fixed(0.0, 1.0))
                concept=Concept::Weight
                numbers=false
            />
            <div class="stack">{drawing(cx)} {verdict(cx)}</div>
        </div>
        <More summary="How to read the map, and texts of another length">
            <p class="hint">
                "In the map each query is a row and each key a column; a square stands for one of "
                <span data-label="">{format!("{SIDE} \u{d7} {SIDE}")}</span> " equal parts of the mask."
            </p>
            {cx.slider("tokens", Format::Count)}
        </More>
    }
    .into_any()
}

/// A line of words for each layer, those that are reached as bars.
fn drawing(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    let svg = move || computed.with(|c| c.as_ref().map(|c| drawn(c)));
    view! {
        <figure>
            <figcaption class="heat-title">"Words that can know of the first one, layer by layer"</figcaption>
            {svg}
        </figure>
    }
    .into_any()
}

fn drawn(computation: &Computation) -> AnyView {
    let (width, height, left) = DRAWING;
    let tokens = computation.at("tokens", &[]).unwrap_or(1.0);
    let layers = values(computation, "reached.layer").len();
    let line = LINE.min(height / layers.max(1) as f64);
    // The words themselves are at the bottom, as in the drawing of the machine.
    let top = |layer: f64| height - line * (layer + 1.0);
    let place = |word: f64| left + (width - left) * word / tokens;
    let spans = ["span.layer", "span.from", "span.to"].map(|name| values(computation, name));
    let [layer, from, to] = &spans;
    let mut bars = String::new();
    for ((&layer, &from), &to) in layer.iter().zip(from).zip(to) {
        let (x, end) = (place(from - 1.0), place(to));
        let y = top(layer) + 4.0;
        bars += &format!("M{x:.2} {y:.2}H{end:.2}v{:.2}H{x:.2}z", line - 8.0);
    }
    let mut tracks = String::new();
    for n in 0..layers {
        tracks += &format!("M{left} {:.2}H{width}", top(n as f64) + line / 2.0);
    }
    let names = (0..layers).map(|n| {
        let y = top(n as f64) + line / 2.0 + 4.0;
        view! { <text class="plane-number" data-label="" x="0" y=y style="font-size:12px">{n.to_string()}</text> }
    });
    let reached = values(computation, "reached");
    let said: Vec<String> = (reached.iter().enumerate())
        .map(|(layer, &words)| format!("layer {layer}: {} words", number(words, Format::Count)))
        .collect();
    let label = format!("Reached after {}", said.join(", "));
    view! {
        <svg viewBox=format!("0 0 {width} {height}") role="img" aria-label=label
            style="display:block;width:100%;height:auto">
            <path d=tracks style="stroke:var(--rule-strong)" stroke-width="1" fill="none" />
            <path class="c-output" d=bars style="fill:var(--c)" />
            {names.collect_view()}
        </svg>
    }
    .into_any()
}

fn verdict(cx: CellCx) -> AnyView {
    let layers = cx.value("layers", Vec::new());
    let is_reached = Memo::new(move |_| layers.get().is_some());
    let needed = move || {
        if is_reached.get() {
            view! {
                "The last word needs " <strong>{cx.num("layers", &[], Format::Count)}</strong> "."
            }
            .into_any()
        } else {
            view! {
                "The last word can " <strong>"never"</strong>
                " know of it: nothing passes from one block to the next, however many layers there are."
            }
            .into_any()
        }
    };
    view! {
        <p class="verdict">
            "After layer " {cx.num("depth", &[], Format::Count)} ", "
            <strong>{cx.num("known", &[], Format::Count)}</strong> " words can know of the first one. " {needed}
        </p>
        <p>
            "One layer computes " {cx.num("pairs", &[], Format::Count)} " of "
            {cx.num("pairs.all", &[], Format::Count)} " pairs, "
            {cx.num("pairs.share", &[], Format::Percent(1))} "; all layers together, "
            {cx.num("pairs.total", &[], Format::Count)} "."
        </p>
    }
    .into_any()
}
