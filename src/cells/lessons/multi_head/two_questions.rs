//! Right answers against the number of heads, from our logged runs, and a run that is trained here.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{Computed, command_of_runs, values};
use crate::cells::parts::player::{UNTIL, beginning, player};
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::{Concept, Domain, HeatMap, More};

/// Steps that the cell makes by itself: enough to see the answers rise.
const UNASKED: f64 = 200.0;

/// Heads of the run whose weights are shown.
const SHOWN: usize = 4;

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    view! {
        <div class="cols-2">
            <div class="stack">{race(cx, computed)} {note(cx)}</div>
            <div class="stack">
                <div class="controls">{cx.choice_box("heads")} {player(cx, UNASKED)}</div>
                {run(cx, computed)} {answers(cx)}
            </div>
        </div>
        <More summary="Weights of the heads on one sequence">{heads(cx)}</More>
        <More summary="The logged runs as a table">{table(cx)} {command_of_runs(cx)}</More>
        <More summary="Seed">{cx.seed_box()}</More>
        {beginning(cx)}
    }
    .into_any()
}

/// The logged runs: a line for each task, and the spread over the seeds.
fn race(cx: CellCx, computed: Computed) -> AnyView {
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let heads = values(c, "heads");
            let series = |tensor: &str, name: &str, kind, concept| Series {
                name: name.to_owned(),
                source: tensor.to_owned(),
                kind,
                xs: heads.clone(),
                ys: values(c, tensor),
                concept,
            };
            let now = Series {
                name: "the run beside".to_owned(),
                source: "run.now".to_owned(),
                kind: Kind::Points,
                xs: vec![c.at("heads.now", &[])?],
                ys: values(c, "run.now"),
                concept: Concept::Query,
            };
            Some(Chart {
                title: "Right answers by number of heads".to_owned(),
                x_label: "heads".to_owned(),
                y_label: "share right".to_owned(),
                series: vec![
                    series(
                        "logged",
                        "both questions, mean",
                        Kind::Line,
                        Concept::Weight,
                    ),
                    series("logged.low", "lowest seed", Kind::Points, Concept::Plain),
                    series(
                        "logged.high",
                        "highest seed",
                        Kind::Points,
                        Concept::Residual,
                    ),
                    series("single", "one question, mean", Kind::Line, Concept::Score),
                    now,
                ],
                x_log: true,
                y_range: Some((0.0, 1.0)),
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("race", chart);
    view! {
        <ChartView chart label="Right answers against the number of heads" height=280 format=Format::Percent(1) until=UNTIL />
    }
    .into_any()
}

/// The run that is trained here: right answers to each question.
fn run(cx: CellCx, computed: Computed) -> AnyView {
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let looks = values(c, "looks");
            let series = |tensor: &str, name: &str, concept| Series {
                name: name.to_owned(),
                source: tensor.to_owned(),
                kind: Kind::Line,
                xs: looks.clone(),
                ys: values(c, tensor),
                concept,
            };
            Some(Chart {
                title: "The run trained here".to_owned(),
                x_label: "step".to_owned(),
                y_label: "share right".to_owned(),
                series: vec![
                    series("before", "symbol before", Concept::Weight),
                    series("first", "first symbol", Concept::Score),
                ],
                y_range: Some((0.0, 1.0)),
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("run", chart);
    view! {
        <ChartView chart label="Right answers of the run against its steps" height=180 format=Format::Percent(1) until=UNTIL />
    }
    .into_any()
}

/// The run's right answers now.
fn answers(cx: CellCx) -> AnyView {
    view! {
        <dl class="readout">
            <div>
                <dt>"steps"</dt>
                <dd data-train="steps">{cx.num("steps", &[], Format::Count)}</dd>
            </div>
            <div>
                <dt>"symbol before"</dt>
                <dd data-train="before">{cx.num("before.now", &[], Format::Percent(1))}</dd>
            </div>
            <div>
                <dt>"first symbol"</dt>
                <dd data-train="first">{cx.num("first.now", &[], Format::Percent(1))}</dd>
            </div>
            <div>
                <dt>"both"</dt>
                <dd data-train="both">{cx.num("both.now", &[], Format::Percent(1))}</dd>
            </div>
        </dl>
    }
    .into_any()
}

fn note(cx: CellCx) -> AnyView {
    view! {
        <p class="hint">
            "Logged runs: " {cx.num("seeds", &[], Format::Count)} " seeds for each number of heads ("
            {cx.num("single.seeds", &[], Format::Count)} " with one question), "
            {cx.num("logged.steps", &[], Format::Count)} " steps, "
            {cx.num("parameters", &[], Format::Count)} " parameters in each run. Sequences of "
            {cx.num("length", &[], Format::Count)} " out of "
            {cx.num("symbols", &[], Format::Count)} " symbols; "
            {cx.num("answers", &[], Format::Count)} " held-out answers to each question."
        </p>
    }
    .into_any()
}

/// The weights of the first heads of the run on the first held-out sequence.
fn heads(cx: CellCx) -> AnyView {
    let count = cx.value("heads.now", Vec::new());
    let count = Memo::new(move |_| count.get().map_or(0, |count| count as usize).min(SHOWN));
    let map = move |head: usize| {
        view! {
            <HeatMap
                grid=cx.grid_with("weights", Signal::stored(vec![head]), "symbols", "symbols")
                label=format!("Weights of head {}", head + 1)
                domain=Domain::Fixed(0.0, 1.0)
                format=Format::Fixed(2)
                concept=Concept::Weight
                picture=true
                no_legend=true
            />
        }
    };
    view! { <div class="gallery">{move || (0..count.get()).map(map).collect_view()}</div> }
        .into_any()
}

/// The logged runs with their spread.
fn table(cx: CellCx) -> AnyView {
    let spread = move |names: [&'static str; 3], n: usize| {
        view! {
            <td>
                {cx.num(names[0], &[n], Format::Percent(1))} " ("
                {cx.num(names[1], &[n], Format::Percent(1))} " to "
                {cx.num(names[2], &[n], Format::Percent(1))} ")"
            </td>
        }
    };
    let row = move |n: usize| {
        view! {
            <tr>
                <td>{cx.num("heads", &[n], Format::Count)}</td>
                <td>{cx.num("head.width", &[n], Format::Count)}</td>
                {spread(["logged", "logged.low", "logged.high"], n)}
                {spread(["single", "single.low", "single.high"], n)}
            </tr>
        }
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Right answers by number of heads">
            <table>
                <caption>"Right answers: the mean over the seeds, with the lowest and the highest"</caption>
                <thead>
                    <tr>
                        <th scope="col">"heads"</th>
                        <th scope="col">"width of a head"</th>
                        <th scope="col">"both questions"</th>
                        <th scope="col">"symbol before alone"</th>
                    </tr>
                </thead>
                <tbody>{(0..7).map(row).collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}
