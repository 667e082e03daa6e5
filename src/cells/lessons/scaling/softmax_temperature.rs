//! Weights at a temperature between their cold and hot limits, and softmax written out twice.

use cells::InputValue;
use cells::format::Format;
use cells::symbols::spoken;
use leptos::prelude::*;
use ndarray::Array2;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{Computed, values};
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::{Concept, Domain, HeatMap, More, set};

/// Colours of the curves, one a logit.
const COLOURS: [Concept; 8] = [
    Concept::Query,
    Concept::Key,
    Concept::Value,
    Concept::Position,
    Concept::Output,
    Concept::Residual,
    Concept::Score,
    Concept::Weight,
];

/// Fewest and most logits.
const LOGITS: (usize, usize) = (2, 8);

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    let tau = move |to: f64, words: &'static str| {
        view! {
            <button type="button" class="button" data-label="" on:click=move |_| cx.set("tau", InputValue::Number(to))>
                {words}
            </button>
        }
    };
    view! {
        <div class="controls">
            {cx.matrix_edit("logits", Concept::Score, &["logit"], &[])} <div class="row">
                {resize(cx, true)} {resize(cx, false)}
                <button type="button" class="button" on:click=move |_| thousands(cx)>
                    "Make all logits huge"
                </button>
            </div>
        </div>
        <div class="controls">
            {cx.slider("tau", Format::Fixed(2))}
            <div class="row">{tau(0.01, "Cool to 0.01")} {tau(1.0, "Reset to 1")} {tau(10.0, "Heat to 10")}</div>
        </div>
        {ends(cx)}
        <More summary="Each weight against the temperature">{curves(cx, computed)}</More>
        <More summary="Softmax step by step, as written and safe">
            <div class="cols-2">
                {steps(cx, "written", "As written: $e^{x/\u{3c4}}$")}
                {steps(cx, "safe", "Safe: the largest logit is subtracted first")}
            </div>
        </More>
        {verdict(cx)}
    }
    .into_any()
}

/// A button that adds a logit of zero at the end, or takes the last one away.
fn resize(cx: CellCx, more: bool) -> AnyView {
    let logits = cx.matrix("logits");
    let target = move || {
        let len = logits.with(Array2::ncols);
        let to = if more { len + 1 } else { len.saturating_sub(1) };
        (LOGITS.0..=LOGITS.1).contains(&to).then_some(to)
    };
    let target = Memo::new(move |_| target());
    view! {
        <button
            type="button"
            class="button"
            aria-disabled=move || target.get().is_none().then_some("true")
            on:click=move |_| {
                if let Some(to) = target.get_untracked() {
                    let old = logits.get_untracked();
                    let row = Array2::from_shape_fn((1, to), |at| old.get(at).copied().unwrap_or(0.0));
                    cx.set("logits", InputValue::Matrix(row));
                }
            }
        >
            {if more { "Add a logit" } else { "Remove the last" }}
        </button>
    }
    .into_any()
}

/// Logits that overflow softmax as it is written.
fn thousands(cx: CellCx) {
    let len = cx.matrix("logits").with_untracked(Array2::ncols);
    cx.set(
        "logits",
        InputValue::Matrix(Array2::from_elem((1, len), 1000.0)),
    );
}

/// The weights between their limits.
fn ends(cx: CellCx) -> AnyView {
    let grid = cx.grid_with("ends", Signal::stored(Vec::new()), "end", "logit");
    let now = Signal::derive(move || {
        let cols = grid.with(|g| g.as_ref().map_or(0, |g| g.cols));
        (0..cols).map(|j| (1, j)).collect::<Vec<_>>()
    });
    view! {
        <HeatMap
            grid
            label="Weights at the cold limit, now, and at the hot limit"
            domain=Signal::stored(Domain::Fixed(0.0, 1.0))
            format=Format::Fixed(3)
            concept=Concept::Weight
            mark=now
        />
        <dl class="readout">
            <div class="c-weight">
                <dt>"largest weight"</dt>
                <dd>{cx.num("largest", &[], Format::Fixed(4))}</dd>
            </div>
            <div>
                <dt>"entropy, nats"</dt>
                <dd>{cx.num("entropy", &[], Format::Fixed(4))}</dd>
            </div>
            <div>
                <dt>"entropy of equal shares"</dt>
                <dd>{cx.num("entropy.uniform", &[], Format::Fixed(4))}</dd>
            </div>
            <div>
                <dt>"norm of the Jacobian"</dt>
                <dd>{cx.num("norm", &[], Format::Fixed(4))}</dd>
            </div>
        </dl>
    }
    .into_any()
}

/// Each weight against the temperature.
fn curves(cx: CellCx, computed: Computed) -> AnyView {
    let tau = cx.number("tau");
    let chart = Signal::derive(move || {
        let here = tau.get();
        computed.with(|c| {
            let c = c.as_ref()?;
            let taus = values(c, "curve.tau");
            let weights = values(c, "curve.weights");
            let series = weights
                .chunks(taus.len().max(1))
                .enumerate()
                .map(|(i, ys)| Series {
                    name: c.words("logit").get(i).cloned().unwrap_or_default(),
                    source: format!("curve.weights[{i},{{}}]"),
                    kind: Kind::Line,
                    xs: taus.clone(),
                    ys: ys.to_vec(),
                    concept: COLOURS[i % COLOURS.len()],
                })
                .collect();
            Some(Chart {
                title: "Weight of each logit against the temperature".to_owned(),
                x_label: "temperature $\u{3c4}$".to_owned(),
                y_label: "weight".to_owned(),
                series,
                x_log: true,
                y_range: Some((0.0, 1.0)),
                marks: vec![(here, "now".to_owned())],
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("weights", chart);
    view! { <ChartView chart label="Weights against temperature" height=280 format=Format::Fixed(4) /> }
        .into_any()
}

/// One way of computing softmax, step by step.
fn steps(cx: CellCx, way: &'static str, title: &'static str) -> AnyView {
    let (tensor, total, exponent) = if way == "safe" {
        (
            "safe.steps",
            "safe.total",
            "($x$ \u{2212} largest) / $\u{3c4}$",
        )
    } else {
        ("written.steps", "written.total", "$x / \u{3c4}$")
    };
    let names = cx.words("logit");
    let row = move |i: usize, name: String| {
        view! {
            <tr>
                <th scope="row" data-label="">{name}</th>
                <td>{cx.num(tensor, &[0, i], Format::Fixed(2))}</td>
                <td>{cx.num(tensor, &[1, i], Format::Power(2))}</td>
                <td>{cx.num(tensor, &[2, i], Format::Fixed(4))}</td>
            </tr>
        }
    };
    view! {
        <section class="panel">
            <p class="panel-title">{set(title)}</p>
            <div class="scroll" tabindex="0" role="region" aria-label=spoken(title)>
                <table>
                    <caption class="vh">{spoken(title)}</caption>
                    <thead>
                        <tr>
                            <th scope="col">"logit"</th>
                            <th scope="col">{set(exponent)}</th>
                            <th scope="col">"exponential"</th>
                            <th scope="col">"weight"</th>
                        </tr>
                    </thead>
                    <tbody>
                        {move || names.get().into_iter().enumerate().map(|(i, name)| row(i, name)).collect_view()}
                        <tr>
                            <th scope="row">"sum"</th>
                            <td></td>
                            <td>{cx.num(total, &[], Format::Power(2))}</td>
                            <td></td>
                        </tr>
                    </tbody>
                </table>
            </div>
        </section>
    }
    .into_any()
}

/// The note on whether the form as written gave a number.
fn verdict(cx: CellCx) -> AnyView {
    let broken = cx.value("written.broken", Vec::new());
    let fails = move || broken.get().is_some_and(|n| n > 0.0);
    view! {
        <p class="verdict" class:bad=fails class:good=move || !fails()>
            {move || {
                if fails() {
                    "As written, exp overflows the range of 32-bit numbers. Weights that are not a number: "
                } else {
                    "Both ways agree here. Weights that are not a number: "
                }
            }} {cx.num("written.broken", &[], Format::Count)}
            {move || if fails() { ". The safe form still works." } else { "." }}
        </p>
    }
    .into_any()
}
