//! The gradient of one word's loss by each alignment score, and the alignment that follows from it.

use cells::InputValue;
use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::lessons::alignment::alignment_scores::{FEATURES, SOURCE};
use crate::cells::parts::figures::{Computed, curve, step_button, values};
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::{Concept, More, set};

/// Colours of the source words.
const COLOURS: [Concept; 4] = [
    Concept::Query,
    Concept::Key,
    Concept::Position,
    Concept::Weight,
];

/// The words that may follow.
const TARGET: &[&str] = &["occhi", "blu", "ha"];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    view! {
        <div class="controls">
            {cx.choice_box("right")} {cx.slider("updates", Format::Count)} {cx.slider("rate", Format::Fixed(1))}
            <div class="row" role="group" aria-label="Follow the gradient">
                <button
                    type="button"
                    class="button"
                    on:click=move |_| cx.set("updates", InputValue::Number(0.0))
                >
                    "Reset the scores"
                </button>
                {step_button(cx, &["updates"], 1.0, "One update")} {step_button(cx, &["updates"], 10.0, "Ten updates")}
            </div>
        </div>
        {readout(cx)}
        {curves(cx, computed)}
        <More summary="The gradient for each score">{table(cx)}</More>
        <More summary="Initial scores, annotations and output layer">
            <div class="row">
                {cx.matrix_edit("e", Concept::Score, &["e"], SOURCE)}
                {cx.matrix_edit("h", Concept::Value, SOURCE, FEATURES)}
                {cx.matrix_edit("u", Concept::Output, TARGET, FEATURES)}
            </div>
        </More>
    }
    .into_any()
}

/// For each source word its weight, its pull, and the gradient in both ways.
fn table(cx: CellCx) -> AnyView {
    let title = "Gradient of the loss for each score";
    let row = move |j: usize, word: &'static str| {
        let gradient = cx.value("gradient", vec![j]);
        let says = move || match gradient.get() {
            Some(slope) if slope < 0.0 => "\u{2191} up",
            Some(slope) if slope > 0.0 => "\u{2193} down",
            _ => "stays",
        };
        let up = move || gradient.get().is_some_and(|slope| slope < 0.0);
        view! {
            <tr>
                <th scope="row" data-label="">{word}</th>
                <td>{cx.num("scores", &[j], Format::Fixed(3))}</td>
                <td>{cx.num("weights", &[j], Format::Fixed(3))}</td>
                <td>{cx.num("pulls", &[j], Format::Fixed(3))}</td>
                <td>{cx.num("by_hand", &[j], Format::Fixed(4))}</td>
                <td>{cx.num("gradient", &[j], Format::Fixed(4))}</td>
                <td class="verdict" class:good=up>{says}</td>
            </tr>
        }
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label=title>
            <table>
                <caption>{title}</caption>
                <thead>
                    <tr>
                        <th scope="col">"source word"</th>
                        <th scope="col">{set("score $e$")}</th>
                        <th scope="col">{set("weight $\u{3b1}$")}</th>
                        <th scope="col">{set("$\u{2202}loss/\u{2202}c \u{b7} (h \u{2212} c)$")}</th>
                        <th scope="col">{set("$\u{3b1}$ times that (formula)")}</th>
                        <th scope="col">{set("$\u{2202}loss/\u{2202}e$, automatic")}</th>
                        <th scope="col">"next update"</th>
                    </tr>
                </thead>
                <tbody>{SOURCE.iter().enumerate().map(|(j, &word)| row(j, word)).collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}

fn readout(cx: CellCx) -> AnyView {
    let words = TARGET
        .iter()
        .enumerate()
        .map(|(i, &word)| {
            view! {
                <div class="c-output">
                    <dt>"probability of \u{201c}" <span data-label="">{word}</span> "\u{201d}"</dt>
                    <dd>{cx.num("probabilities", &[i], Format::Percent(1))}</dd>
                </div>
            }
        })
        .collect_view();
    view! {
        <dl class="readout">
            {words} <div class="c-score">
                <dt>"loss (\u{2212}ln p of the correct word), nats"</dt>
                <dd>{cx.num("loss", &[], Format::Fixed(4))}</dd>
            </div> <div>
                <dt>"difference, automatic and formula"</dt>
                <dd>{cx.num("difference", &[], Format::Power(1))}</dd>
            </div>
        </dl>
    }
    .into_any()
}

/// Weights and loss on the way down.
fn curves(cx: CellCx, computed: Computed) -> AnyView {
    let updates = cx.number("updates");
    let marks = move || vec![(updates.get(), "now".to_owned())];
    let weights = Signal::derive(move || {
        let marks = marks();
        computed.with(|c| {
            let c = c.as_ref()?;
            let (all, count) = (values(c, "curve.weights"), values(c, "curve.loss").len());
            let series = all.chunks(count.max(1)).enumerate().map(|(j, ys)| Series {
                name: SOURCE.get(j).copied().unwrap_or_default().to_owned(),
                source: format!("curve.weights[{j},{{}}]"),
                kind: Kind::Line,
                xs: (0..ys.len()).map(|n| n as f64).collect(),
                ys: ys.to_vec(),
                concept: COLOURS[j % COLOURS.len()],
            });
            Some(Chart {
                title: "Weight of each source word".to_owned(),
                x_label: "updates".to_owned(),
                y_label: "weight".to_owned(),
                series: series.collect(),
                y_range: Some((0.0, 1.0)),
                marks,
                ..Chart::default()
            })
        })
    });
    let loss = Signal::derive(move || {
        let marks = marks();
        computed.with(|c| {
            let c = c.as_ref()?;
            Some(Chart {
                title: "Loss of the correct word".to_owned(),
                x_label: "updates".to_owned(),
                y_label: "nats".to_owned(),
                series: vec![curve(c, "curve.loss", "", Concept::Score, |n| n as f64)],
                marks,
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("weights", weights);
    cx.offer_chart("loss", loss);
    view! {
        <div class="cols-2">
            <ChartView chart=weights beside=vec![loss] label="Weight of each source word" height=200 format=Format::Fixed(3) />
            <ChartView chart=loss beside=vec![weights] label="Loss of the correct word" height=200 format=Format::Fixed(4) />
        </div>
    }
    .into_any()
}
