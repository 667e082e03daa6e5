//! Additive, dot and scaled dot scores of one state side by side, and what a longer state does to
//! them.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{Computed, values};
use crate::cells::parts::walk::{Rule, Stage, Walk};
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::Course::Across;
use crate::widgets::{Concept, Domain, HeatMap, Joint, More, set};

/// The annotations.
const SOURCE: &[&str] = &["h1", "h2", "h3", "h4"];

/// Titles of the two charts.
const SCORES: &str = "Highest score, by the factor on the state";
const WEIGHTS: &str = "Largest weight, by the factor on the state";

/// The kinds of score with their colours, in the order of the tensors.
const KINDS: [(&str, Concept); 3] = [
    ("additive", Concept::Key),
    ("dot", Concept::Score),
    ("scaled dot", Concept::Weight),
];

const fn column(name: &'static str, title: &'static str, short: &'static str, rule: Rule) -> Stage {
    Stage {
        name,
        title,
        short,
        rule,
        concept: Concept::Score,
        rows: SOURCE,
        cols: &["score"],
    }
}

const fn inner(name: &'static str, title: &'static str, short: &'static str, rule: Rule) -> Stage {
    Stage {
        name,
        title,
        short,
        rule,
        concept: Concept::Key,
        rows: SOURCE,
        cols: &[],
    }
}

/// From the state and the annotations to the three scores.
const STAGES: &[Stage] = &[
    Stage {
        name: "query",
        title: "Query $= s \u{b7} W$",
        short: "Query",
        rule: Rule::Product("state", "input:w"),
        concept: Concept::Query,
        rows: &["s"],
        cols: &[],
    },
    inner(
        "keys",
        "Keys $= h \u{b7} U$",
        "Keys",
        Rule::Product("input:h", "input:u"),
    ),
    inner(
        "inner",
        "$tanh$(query + key)",
        "Hidden layer",
        Rule::Tanh("query", "keys"),
    ),
    column(
        "additive",
        "Additive $= tanh(\u{2026}) \u{b7} v$",
        "Additive",
        Rule::Product("inner", "input:v"),
    ),
    column(
        "dot",
        "Dot $= h \u{b7} s$",
        "Dot",
        Rule::Dot("input:h", "state"),
    ),
    column(
        "scaled",
        "Scaled dot $= h \u{b7} s / \u{221a}d$",
        "Scaled dot",
        Rule::Score("input:h", "state"),
    ),
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let walk = Walk::new(cx, STAGES);
    let computed = cx.computed();
    let score = curves(cx, computed, "curve.score", SCORES, "score");
    let weight = curves(cx, computed, "curve.weight", WEIGHTS, "weight");
    view! {
        <div class="controls snug">
            {walk.edit("input:s", Concept::Query, &["s"], &[])} {walk.edit("input:h", Concept::Value, SOURCE, &[])}
        </div>
        <section class="panel stack snug">
            <p class="panel-title">"Additive: a small network"</p>
            <div class="flow is-four">
                <div class="chain">
                    {walk.map(0, false)} <Joint course=Across operation="+" concept=Concept::Key />
                </div>
                <div class="chain">
                    {walk.map(1, false)} <Joint course=Across operation="$tanh$" concept=Concept::Key />
                </div>
                <div class="chain">
                    {walk.map(2, false)} <Joint course=Across operation="$\u{b7} v$" concept=Concept::Score />
                </div>
                {walk.map(3, false)}
            </div>
        </section>
        <More summary="Parameters, dot products, and a longer state">
            <div class="row">
                {walk.edit("input:w", Concept::Query, &[], &[])} {walk.edit("input:u", Concept::Key, &[], &[])}
                {walk.edit("input:v", Concept::Score, &[], &[])}
            </div>
            <p class="panel-title">"Dot-product scores: no parameters"</p>
            <div class="row">{walk.map(4, false)} {walk.map(5, false)} {weights(cx)}</div>
        {cx.slider("stretch", Format::Fixed(2))}
        <div class="cols-2">
            <ChartView chart=score beside=vec![weight] label=SCORES height=230 format=Format::Fixed(3) />
            <ChartView chart=weight beside=vec![score] label=WEIGHTS height=230 format=Format::Fixed(3) />
        </div>
        <dl class="readout">
            <div class="c-key">
                <dt>"bound on additive scores"</dt>
                <dd>{cx.num("bound", &[], Format::Fixed(2))}</dd>
            </div>
            <div class="c-score">
                <dt>{set("scale factor $1/\u{221a}d$")}</dt>
                <dd>{cx.num("scale", &[], Format::Fixed(4))}</dd>
            </div>
        </dl>
        </More>
        {walk.bar()}
    }
    .into_any()
}

/// The weights of all kinds, a row each.
fn weights(cx: CellCx) -> AnyView {
    let grid = cx.grid_with("weights", Signal::stored(Vec::new()), "kind", "source");
    view! {
        <HeatMap
            grid
            label="Weights: softmax of each kind of score"
            domain=Domain::Fixed(0.0, 1.0)
            format=Format::Fixed(3)
            concept=Concept::Weight
            no_legend=true
            no_readout=true
        />
    }
    .into_any()
}

/// A curve for each kind, against the factor that the state is stretched by.
fn curves(
    cx: CellCx,
    computed: Computed,
    tensor: &'static str,
    title: &'static str,
    axis: &'static str,
) -> Signal<Option<Chart>> {
    let stretch = cx.number("stretch");
    let chart = Signal::derive(move || {
        let here = stretch.get();
        computed.with(|c| {
            let c = c.as_ref()?;
            let xs = values(c, "curve.stretch");
            let all = values(c, tensor);
            let rows = all.chunks(xs.len().max(1)).zip(KINDS).enumerate();
            let series = rows.map(|(i, (ys, (name, concept)))| Series {
                name: name.to_owned(),
                source: format!("{tensor}[{i},{{}}]"),
                kind: Kind::Line,
                xs: xs.clone(),
                ys: ys.to_vec(),
                concept,
            });
            Some(Chart {
                title: title.to_owned(),
                x_label: "factor on the state".to_owned(),
                y_label: axis.to_owned(),
                series: series.collect(),
                y_range: (axis == "weight").then_some((0.0, 1.0)),
                marks: vec![(here, "now".to_owned())],
                ..Chart::default()
            })
        })
    });
    cx.offer_chart(axis, chart);
    chart
}
