//! The view of `cosine-scores`: the vectors, both kinds of scores and weights, and the coordinates of the
//! bias.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::values;
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::{Concept, Domain, HeatMap, More, Palette, set};

/// The kinds of attention: title, scores, weights, the largest weight.
const KINDS: [[&str; 4]; 2] = [
    [
        "Swin: $q \u{b7} k / \u{221a}d$",
        "dot.scores",
        "dot.weights",
        "dot.largest",
    ],
    [
        "Swin V2: $cos(q, k) / \u{3c4}$",
        "cosine.scores",
        "cosine.weights",
        "cosine.largest",
    ],
];

/// The curves of the coordinates.
const CURVES: [(&str, &str, Concept); 2] = [
    ("as they are", "linear", Concept::Score),
    ("as logarithms", "log", Concept::Position),
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls">
            {cx.matrix_edit("q", Concept::Query, &["q"], &["x", "y"])} {cx.matrix_edit("k", Concept::Key, &[], &["x", "y"])}
            <div class="stack">{cx.slider("length", Format::Fixed(1))} {cx.log_slider("tau", Format::Fixed(3))}</div>
        </div>
        <div class="cols-2">{KINDS.map(|kind| panel(cx, kind)).collect_view()}</div>
        <p>
            "The cosines are divided by " {cx.num("tau", &[], Format::Fixed(3))} ", that is, multiplied by "
            {cx.num("factor", &[], Format::Fixed(1))} "."
        </p>
        <More summary="Distances as the bias network receives them, scaled as in Swin's code">{coordinates(cx)}</More>
    }
    .into_any()
}

fn panel(cx: CellCx, [title, scores, weights, largest]: [&'static str; 4]) -> AnyView {
    view! {
        <section class="panel stack">
            <p class="panel-title" data-label="">{set(title)}</p>
            <HeatMap grid=cx.grid(scores) label="Scores" format=Format::Fixed(2) concept=Concept::Score
                domain=Domain::Symmetric palette=Palette::Diverging no_legend=true no_readout=true />
            <HeatMap grid=cx.grid(weights) label="Weights" format=Format::Fixed(3) concept=Concept::Weight
                domain=Domain::Fixed(0.0, 1.0) no_legend=true no_readout=true />
            <p>"Largest weight: " <strong>{cx.num(largest, &[], Format::Fixed(3))}</strong></p>
        </section>
    }
    .into_any()
}

fn coordinates(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let series = CURVES.map(|(name, source, concept)| Series {
                name: name.to_owned(),
                source: source.to_owned(),
                kind: Kind::Line,
                xs: values(c, "distance"),
                ys: values(c, source),
                concept,
            });
            Some(Chart {
                title: "Coordinates of distances".to_owned(),
                x_label: "distance in patches".to_owned(),
                y_label: "coordinate".to_owned(),
                series: series.to_vec(),
                marks: vec![(7.0, "largest trained".to_owned())],
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("coordinates", chart);
    view! { <ChartView chart label="Coordinates against the distance" height=150 format=Format::Fixed(2) /> }
        .into_any()
}
