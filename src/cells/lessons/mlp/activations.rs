//! Right facts by learning rate of our logged runs, and four runs that learn side by side here.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{Computed, command_of_runs, values};
use crate::cells::parts::player::{UNTIL, beginning, player};
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::{Concept, More};

/// Steps that the cell makes by itself.
const UNASKED: f64 = 200.0;

/// A nonlinearity: its name, the tensors of its run here, of the logged runs, and its colour.
struct Row {
    name: &'static str,
    right: &'static str,
    now: &'static str,
    loss: &'static str,
    logged: [&'static str; 3],
    concept: Concept,
}

const ROWS: [Row; 4] = [
    Row {
        name: "ReLU",
        right: "relu.right",
        now: "relu.right.now",
        loss: "relu.loss.now",
        logged: ["log.relu", "log.relu.low", "log.relu.high"],
        concept: Concept::Score,
    },
    Row {
        name: "GELU",
        right: "gelu.right",
        now: "gelu.right.now",
        loss: "gelu.loss.now",
        logged: ["log.gelu", "log.gelu.low", "log.gelu.high"],
        concept: Concept::Weight,
    },
    Row {
        name: "SiLU",
        right: "silu.right",
        now: "silu.right.now",
        loss: "silu.loss.now",
        logged: ["log.silu", "log.silu.low", "log.silu.high"],
        concept: Concept::Residual,
    },
    Row {
        name: "SwiGLU",
        right: "swiglu.right",
        now: "swiglu.right.now",
        loss: "swiglu.loss.now",
        logged: ["log.swiglu", "log.swiglu.low", "log.swiglu.high"],
        concept: Concept::Output,
    },
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    view! {
        <div class="cols-2">
            <div class="stack">{logged(cx, computed)} {note(cx)}</div>
            <div class="stack">
                <div class="controls">{cx.verbatim_choice_box("rate")} {player(cx, UNASKED)}</div>
                {here(cx, computed)} {now(cx)}
            </div>
        </div>
        <More summary="The logged runs with their spread">{table(cx)} {command_of_runs(cx)}</More>
        <More summary="Seed">{cx.seed_box()}</More>
        {beginning(cx)}
    }
    .into_any()
}

/// The logged runs: a line for each nonlinearity over the learning rates.
fn logged(cx: CellCx, computed: Computed) -> AnyView {
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let line = |row: &Row| Series {
                name: row.name.to_owned(),
                source: row.logged[0].to_owned(),
                kind: Kind::Line,
                xs: values(c, "rates"),
                ys: values(c, row.logged[0]),
                concept: row.concept,
            };
            Some(Chart {
                title: "Logged runs: facts stored, by learning rate".to_owned(),
                x_label: "learning rate".to_owned(),
                y_label: "share right".to_owned(),
                series: ROWS.iter().map(line).collect(),
                x_log: true,
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("logged", chart);
    view! {
        <ChartView chart label="Share of right facts against the learning rate" height=240 format=Format::Percent(1) />
    }
    .into_any()
}

/// The runs that are trained here.
fn here(cx: CellCx, computed: Computed) -> AnyView {
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let line = |row: &Row| Series {
                name: row.name.to_owned(),
                source: row.right.to_owned(),
                kind: Kind::Line,
                xs: values(c, "counts"),
                ys: values(c, row.right),
                concept: row.concept,
            };
            Some(Chart {
                title: "Trained here: facts stored".to_owned(),
                x_label: "step".to_owned(),
                y_label: "share right".to_owned(),
                series: ROWS.iter().map(line).collect(),
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("here", chart);
    view! {
        <ChartView chart label="Share of right facts against the steps" height=180 format=Format::Percent(1) until=UNTIL />
    }
    .into_any()
}

/// Where the four runs are now.
fn now(cx: CellCx) -> AnyView {
    let head = ROWS
        .each_ref()
        .map(|row| view! { <th scope="col">{row.name}</th> });
    let right = ROWS.each_ref().map(
        |row| view! { <td data-train=row.now>{cx.num(row.now, &[], Format::Percent(1))}</td> },
    );
    let loss = ROWS
        .each_ref()
        .map(|row| view! { <td>{cx.num(row.loss, &[], Format::Fixed(2))}</td> });
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="The four runs">
            <table>
                <caption class="vh">"Right facts and loss of the four runs"</caption>
                <thead>
                    <tr>
                        <th scope="col">
                            "step " <span data-train="steps">{cx.num("steps", &[], Format::Count)}</span>
                        </th>
                        {head.collect_view()}
                    </tr>
                </thead>
                <tbody>
                    <tr>
                        <th scope="row">"right"</th>
                        {right.collect_view()}
                    </tr>
                    <tr>
                        <th scope="row">"loss"</th>
                        {loss.collect_view()}
                    </tr>
                </tbody>
            </table>
        </div>
    }
    .into_any()
}

fn note(cx: CellCx) -> AnyView {
    view! {
        <p class="hint">
            {cx.num("facts", &[], Format::Count)} " random facts, "
            {cx.num("parameters", &[], Format::Count)} " parameters in each model, width "
            {cx.num("width", &[], Format::Count)} ". Inner width "
            {cx.num("inner", &[], Format::Count)} ", and " {cx.num("gated", &[], Format::Count)}
            " with SwiGLU. Logged: the mean of " {cx.num("seeds", &[], Format::Count)} " seeds after "
            {cx.num("log.steps", &[], Format::Count)} " steps."
        </p>
    }
    .into_any()
}

/// The logged runs with their spread.
fn table(cx: CellCx) -> AnyView {
    let head =
        (0..4).map(|n| view! { <th scope="col">{cx.num("rates", &[n], Format::Typed)}</th> });
    let rows = ROWS.each_ref().map(|row| {
        let [mean, low, high] = row.logged;
        let cells = (0..4).map(|n| {
            view! {
                <td>
                    {cx.num(mean, &[n], Format::Percent(1))} " ("
                    {cx.num(low, &[n], Format::Percent(1))} " to "
                    {cx.num(high, &[n], Format::Percent(1))} ")"
                </td>
            }
        });
        view! {
            <tr>
                <th scope="row">{row.name}</th>
                {cells.collect_view()}
            </tr>
        }
    });
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="The logged runs">
            <table>
                <caption>"Right facts: the mean, and in brackets the lowest and the highest seed"</caption>
                <thead>
                    <tr>
                        <th scope="col">"learning rate"</th>
                        {head.collect_view()}
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}
