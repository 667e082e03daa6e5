//! The view of `linear-probe`: right answers by depth, here and in the logged runs.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{command_of_runs, values};
use crate::cells::parts::model_note::trained;
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::{Concept, More};

/// The features: their name, their shares here and in the log, and their colour.
const FEATURES: [(&str, &str, &str, Concept); 3] = [
    ("digit-gpt", "trained", "log.trained", Concept::Weight),
    (
        "random parameters",
        "random",
        "log.random",
        Concept::Residual,
    ),
    ("raw pixels", "pixels", "log.pixels", Concept::Score),
];

/// Depths: the embedding and four blocks.
const DEPTHS: usize = 5;

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls">{cx.verbatim_choice_box("labels")}</div>
        <div class="cols-2">
            <div class="stack tight">
                {chart(cx, false)}
                <p class="hint">
                    "Digits that this site draws: " {cx.num("labels.now", &[], Format::Count)} " with labels, "
                    {cx.num("test", &[], Format::Count)} " to test with."
                </p>
            </div>
            <div class="stack tight">
                {chart(cx, true)}
                <p class="hint">
                    "Logged, MNIST: " {cx.num("log.labels", &[], Format::Count)} " with labels, "
                    {cx.num("log.test", &[], Format::Count)} " to test with."
                </p>
            </div>
        </div>
        {table(cx)}
        <More summary="The seed of the random parameters, and the logged runs">
            {cx.seed_box()} {command_of_runs(cx)}
        </More>
        {trained(&["digit-gpt"])}
    }
    .into_any()
}

/// The shares by depth.
fn chart(cx: CellCx, logged: bool) -> AnyView {
    let computed = cx.computed();
    let title = if logged {
        "Logged runs"
    } else {
        "Computed here"
    };
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let line = |(name, here, log, concept): (&str, &'static str, &'static str, Concept)| {
                let source = if logged { log } else { here };
                Series {
                    name: name.to_owned(),
                    source: source.to_owned(),
                    kind: Kind::Line,
                    xs: values(c, "depths"),
                    ys: values(c, source),
                    concept,
                }
            };
            Some(Chart {
                title: title.to_owned(),
                x_label: "after block".to_owned(),
                y_label: "share right".to_owned(),
                series: FEATURES.map(line).to_vec(),
                y_range: Some((0.0, 1.0)),
                ..Chart::default()
            })
        })
    });
    cx.offer_chart(if logged { "logged" } else { "here" }, chart);
    view! {
        <ChartView chart label="Share of test digits that a linear probe reads right, by depth" height=200
            format=Format::Percent(1) />
    }
    .into_any()
}

/// The shares as a table.
fn table(cx: CellCx) -> AnyView {
    let row = |(name, here, log, _): (&'static str, &'static str, &'static str, Concept)| {
        let last = DEPTHS - 1;
        view! {
            <tr>
                <th scope="row">{name}</th>
                <td data-probe=here>{cx.num(here, &[last], Format::Percent(1))}</td>
                <td>{cx.num(log, &[last], Format::Percent(1))}</td>
            </tr>
        }
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Right answers from the last block">
            <table>
                <thead>
                    <tr>
                        <th scope="col">"features after the last block"</th>
                        <th scope="col">"right, here"</th>
                        <th scope="col">"right, MNIST"</th>
                    </tr>
                </thead>
                <tbody>{FEATURES.map(row).collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}
