//! The last checkpoints of a training run and the mean of their parameters: loss and BLEU.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{Computed, command_of_runs, values};
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::{Concept, More};

/// A figure: its name, its tensors (of each checkpoint, of the last, of the mean, and the
/// difference), and its format.
struct Figure {
    name: &'static str,
    tensors: [&'static str; 4],
    format: Format,
}

const FIGURES: [Figure; 3] = [
    Figure {
        name: "loss",
        tensors: [
            "now.loss",
            "now.last.loss",
            "now.mean.loss",
            "now.gain.loss",
        ],
        format: Format::Fixed(3),
    },
    Figure {
        name: "right tokens",
        tensors: [
            "now.right",
            "now.last.right",
            "now.mean.right",
            "now.gain.right",
        ],
        format: Format::Percent(1),
    },
    Figure {
        name: "BLEU",
        tensors: [
            "now.bleu",
            "now.last.bleu",
            "now.mean.bleu",
            "now.gain.bleu",
        ],
        format: Format::Fixed(1),
    },
];

/// A chart: its name, title and vertical axis, and the tensors of the checkpoints and of their mean.
type Drawn = [&'static str; 5];
const LOSS: Drawn = [
    "loss",
    "Loss on held-out tokens",
    "loss, nats",
    "now.loss",
    "now.line.loss",
];
const BLEU: Drawn = [
    "bleu",
    "BLEU on held-out sentences",
    "BLEU",
    "now.bleu",
    "now.line.bleu",
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    view! {
        <div class="controls">{cx.choice_box("run")} {cx.slider("count", Format::Count)}</div>
        <div class="cols-2">
            {chart(cx, computed, LOSS, Format::Fixed(3))} {chart(cx, computed, BLEU, Format::Fixed(1))}
        </div>
        {table(cx)}
        <p class="hint">
            "Logged runs, not trained in this tab: " {cx.num("log.steps", &[], Format::Count)}
            " steps each, checkpoints " {cx.num("log.apart", &[], Format::Count)}
            " steps apart, one seed. BLEU: " {cx.num("log.translated", &[], Format::Count)}
            " sentences of nine and ten words, greedy decoding."
        </p>
        <More summary="Every checkpoint, and the command">{all(cx)} {command_of_runs(cx)}</More>
    }
    .into_any()
}

/// A figure of each checkpoint, and of their mean as a line over those that it is the mean of.
fn chart(
    cx: CellCx,
    computed: Computed,
    [name, title, y_label, each, mean]: Drawn,
    format: Format,
) -> AnyView {
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let series = |tensor: &str, steps: &str, name: &str, kind, concept| Series {
                name: name.to_owned(),
                source: tensor.to_owned(),
                kind,
                xs: values(c, steps),
                ys: values(c, tensor),
                concept,
            };
            Some(Chart {
                title: title.to_owned(),
                x_label: "step of the checkpoint".to_owned(),
                y_label: y_label.to_owned(),
                series: vec![
                    series(each, "now.step", "checkpoint", Kind::Points, Concept::Plain),
                    series(
                        mean,
                        "now.line.step",
                        "their mean",
                        Kind::Line,
                        Concept::Output,
                    ),
                ],
                ..Chart::default()
            })
        })
    });
    cx.offer_chart(name, chart);
    view! { <ChartView chart label=title height=190 format /> }.into_any()
}

/// The last checkpoint beside the mean.
fn table(cx: CellCx) -> AnyView {
    let head = FIGURES
        .each_ref()
        .map(|figure| view! { <th scope="col">{figure.name}</th> });
    let row = |n: usize| {
        let cells = FIGURES
            .each_ref()
            .map(|figure| view! { <td>{cx.num(figure.tensors[n], &[], figure.format)}</td> });
        cells.collect_view()
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="The last checkpoint and the mean">
            <table>
                <caption class="vh">"The last checkpoint, the mean of the last checkpoints, and the difference"</caption>
                <thead>
                    <tr>
                        <th scope="col">"model"</th>
                        {head.collect_view()}
                    </tr>
                </thead>
                <tbody>
                    <tr><th scope="row">"last checkpoint"</th> {row(1)}</tr>
                    <tr>
                        <th scope="row">"mean of the last " {cx.num("count", &[], Format::Count)}</th>
                        {row(2)}
                    </tr>
                    <tr><th scope="row">"difference"</th> {row(3)}</tr>
                </tbody>
            </table>
        </div>
        <p>
            "On other sentences the difference in BLEU may be anything from "
            {cx.num("now.lead.low", &[], Format::Fixed(1))} " to "
            {cx.num("now.lead.high", &[], Format::Fixed(1))} " ("
            <span data-label="">"95 % interval"</span> ")."
        </p>
    }
    .into_any()
}

/// The figures of each checkpoint.
fn all(cx: CellCx) -> AnyView {
    let head = FIGURES
        .each_ref()
        .map(|figure| view! { <th scope="col">{figure.name}</th> });
    let rows = (0..5).map(|n| {
        let cells = FIGURES
            .each_ref()
            .map(|figure| view! { <td>{cx.num(figure.tensors[0], &[n], figure.format)}</td> });
        view! {
            <tr>
                <th scope="row">{cx.num("now.step", &[n], Format::Count)}</th>
                {cells.collect_view()}
            </tr>
        }
    });
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Every checkpoint">
            <table>
                <thead>
                    <tr>
                        <th scope="col">"step"</th>
                        {head.collect_view()}
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}
