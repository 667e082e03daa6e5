//! Two attention maps over the same values, and the one output of both.

use cells::format::Format;
use cells::lessons::heads::two_maps::WORDS;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{Computed, curve, input_tip, reach_of, step_button, tip};
use crate::plot::{Chart, ChartView};
use crate::widgets::{Concept, Mark, More, Plane};

/// The columns of the values and of the output.
const FEATURES: &[&str] = &["right", "up"];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    view! {
        <div class="controls">
            {cx.slider("updates", Format::Count)}
            <div class="row" role="group" aria-label="Search for another map">
                {step_button(cx, &["updates"], 10.0, "Ten steps")}
                {step_button(cx, &["updates"], -10.0, "Ten steps back")}
            </div>
            {cx.seed_box()}
        </div>
        <div class="cols-3">
            {points(cx, computed)} {maps(cx)}
            <div class="stack">{distance(cx, computed)} {readout(cx)}</div>
        </div>
        <More summary="Values and scores as numbers">
            <div class="row">
                {cx.matrix_edit("v", Concept::Value, &WORDS, FEATURES)}
                {cx.matrix_edit("scores", Concept::Score, &["score"], &WORDS)}
            </div>
        </More>
    }
    .into_any()
}

/// The values as points, and both outputs.
fn points(cx: CellCx, computed: Computed) -> AnyView {
    let value = |row: usize| {
        let (tip, write) = input_tip(cx, "v", move || row, [0, 1]);
        Mark::point(WORDS[row], Concept::Value, tip).draggable(write)
    };
    let output = tip(computed, "now.output", vec![0], vec![1]);
    let output = Mark::point("output", Concept::Output, output);
    let count = WORDS.len();
    let marks = (0..count).map(value).chain([output]).collect();
    view! {
        <Plane
            reach=reach_of(cx, ["v"])
            label="The values, and the output of both maps: drag a value"
            marks
            hull_of=(0..count).collect()
            lines=(0..count).map(|i| (count, i)).collect()
        />
    }
    .into_any()
}

/// Both maps, word by word.
fn maps(cx: CellCx) -> AnyView {
    let bar = move |tensor: &'static str, place: usize, class: &'static str| {
        let weight = cx.value(tensor, vec![place]);
        let style = move || format!("--share: {:.4}", weight.get().unwrap_or(0.0));
        view! {
            <div class=format!("bus-bar {class}")>
                <span class="share-bar" style=style></span>
                {cx.num(tensor, &[place], Format::Fixed(3))}
            </div>
        }
    };
    let rows = WORDS.iter().enumerate().map(|(place, &word)| {
        view! {
            <tr>
                <th scope="row" data-label="">{word}</th>
                <td>{bar("given", place, "c-weight")}</td>
                <td>{bar("now", place, "c-weight")}</td>
            </tr>
        }
    });
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Both maps">
            <table class="bus two-maps">
                <caption class="vh">"The weight of each word in the given map and in the other one"</caption>
                <thead>
                    <tr>
                        <th scope="col">"word"</th>
                        <th scope="col">"given map"</th>
                        <th scope="col">"other map"</th>
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}

/// How far the maps are apart after each step.
fn distance(cx: CellCx, computed: Computed) -> AnyView {
    let updates = cx.number("updates");
    let chart = Signal::derive(move || {
        let marks = vec![(updates.get(), "now".to_owned())];
        computed.with(|c| {
            let c = c.as_ref()?;
            Some(Chart {
                title: "Weight that is elsewhere".to_owned(),
                x_label: "steps".to_owned(),
                y_label: "share of the weight".to_owned(),
                series: vec![curve(c, "distance", "", Concept::Weight, |n| n as f64)],
                y_range: Some((0.0, 1.0)),
                marks,
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("distance", chart);
    view! { <ChartView chart label="Weight that is elsewhere after each step" height=160 format=Format::Fixed(3) /> }
        .into_any()
}

fn readout(cx: CellCx) -> AnyView {
    view! {
        <dl class="readout">
            <div class="c-weight">
                <dt>"weight that is elsewhere"</dt>
                <dd data-train="distance">{cx.num("distance.now", &[], Format::Percent(1))}</dd>
            </div>
            <div class="c-output">
                <dt>"output of the given map"</dt>
                <dd>{cx.num("output", &[0], Format::Fixed(4))} ", " {cx.num("output", &[1], Format::Fixed(4))}</dd>
            </div>
            <div class="c-output">
                <dt>"output of the other map"</dt>
                <dd>
                    {cx.num("now.output", &[0], Format::Fixed(4))} ", "
                    {cx.num("now.output", &[1], Format::Fixed(4))}
                </dd>
            </div>
            <div>
                <dt>"largest difference"</dt>
                <dd>{cx.num("difference.now", &[], Format::Power(0))}</dd>
            </div>
        </dl>
    }
    .into_any()
}
