//! A reliability diagram of two translators, and their calibration errors against the temperature.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{Computed, command_of_runs, values};
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::{Concept, More};

/// A run: its name, its colour, and its tensors.
struct Run {
    name: &'static str,
    concept: Concept,
    confidence: &'static str,
    accuracy: &'static str,
    errors: &'static str,
    /// Perplexity, accuracy, mean confidence, calibration error, the least one and its temperature.
    figures: [(&'static str, Format); 6],
}

const RUNS: [Run; 2] = [
    Run {
        name: "without smoothing",
        concept: Concept::Output,
        confidence: "plain.confidence",
        accuracy: "plain.accuracy",
        errors: "plain.errors",
        figures: [
            ("plain.perplexity", Format::Fixed(2)),
            ("plain.right", Format::Percent(1)),
            ("plain.mean", Format::Percent(1)),
            ("plain.error", Format::Percent(1)),
            ("plain.best.error", Format::Percent(1)),
            ("plain.best.temperature", Format::Fixed(1)),
        ],
    },
    Run {
        name: "with smoothing",
        concept: Concept::Score,
        confidence: "smoothed.confidence",
        accuracy: "smoothed.accuracy",
        errors: "smoothed.errors",
        figures: [
            ("smoothed.perplexity", Format::Fixed(2)),
            ("smoothed.right", Format::Percent(1)),
            ("smoothed.mean", Format::Percent(1)),
            ("smoothed.error", Format::Percent(1)),
            ("smoothed.best.error", Format::Percent(1)),
            ("smoothed.best.temperature", Format::Fixed(1)),
        ],
    },
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    view! {
        <div class="controls">{cx.slider("temperature", Format::Fixed(1))} {cx.verbatim_choice_box("bins")}</div>
        <div class="cols-2">{diagram(cx, computed)} {errors(cx, computed)}</div>
        {table(cx)}
        <p class="hint">
            "Logged runs, not trained in this tab: " {cx.num("log.steps", &[], Format::Count)}
            " steps each, one seed, measured on " {cx.num("log.tokens", &[], Format::Count)}
            " held-out tokens, each after right tokens."
        </p>
        <More summary="The command of the runs">{command_of_runs(cx)}</More>
    }
    .into_any()
}

/// Accuracy against confidence, with the line on which each prediction keeps what it promises.
fn diagram(cx: CellCx, computed: Computed) -> AnyView {
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let line = |name: &str, xs: &str, ys: &str, concept| Series {
                name: name.to_owned(),
                source: ys.to_owned(),
                kind: Kind::Line,
                xs: values(c, xs),
                ys: values(c, ys),
                concept,
            };
            let runs = RUNS
                .each_ref()
                .map(|run| line(run.name, run.confidence, run.accuracy, run.concept));
            let mut series = vec![line("as promised", "promised", "promised", Concept::Plain)];
            series.extend(runs);
            Some(Chart {
                title: "Right tokens by confidence".to_owned(),
                x_label: "confidence: the largest probability".to_owned(),
                y_label: "share right".to_owned(),
                series,
                y_range: Some((0.0, 1.0)),
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("reliability", chart);
    view! { <ChartView chart label="Reliability diagram" height=250 format=Format::Percent(1) /> }
        .into_any()
}

/// The calibration error at each temperature.
fn errors(cx: CellCx, computed: Computed) -> AnyView {
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let line = |run: &Run| Series {
                name: run.name.to_owned(),
                source: run.errors.to_owned(),
                kind: Kind::Line,
                xs: values(c, "temperatures"),
                ys: values(c, run.errors),
                concept: run.concept,
            };
            Some(Chart {
                title: "Calibration error by temperature".to_owned(),
                x_label: "temperature".to_owned(),
                y_label: "calibration error".to_owned(),
                series: RUNS.iter().map(line).collect(),
                marks: vec![(c.at("temperature", &[])?, "chosen".to_owned())],
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("errors", chart);
    view! { <ChartView chart label="Calibration error against the temperature" height=250 format=Format::Percent(1) /> }
        .into_any()
}

/// The figures of both runs.
fn table(cx: CellCx) -> AnyView {
    let rows = RUNS.each_ref().map(|run| {
        let cells = run
            .figures
            .map(|(tensor, format)| view! { <td>{cx.num(tensor, &[], format)}</td> });
        view! {
            <tr>
                <th scope="row">{run.name}</th>
                {cells.collect_view()}
            </tr>
        }
    });
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Figures of both runs">
            <table>
                <caption class="vh">"Figures of the two runs at the chosen temperature, and their least calibration error"</caption>
                <thead>
                    <tr>
                        <th scope="col">"at temperature " {cx.num("temperature", &[], Format::Fixed(1))}</th>
                        <th scope="col">"perplexity"</th>
                        <th scope="col">"right tokens"</th>
                        <th scope="col">"mean confidence"</th>
                        <th scope="col">"calibration error"</th>
                        <th scope="col">"least error"</th>
                        <th scope="col">"where"</th>
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}
