//! The view of `train-on-few`: two networks that learn side by side, and the logged runs.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{Computed, command_of_runs, values};
use crate::cells::parts::kept_runs::{KeptRuns, Trained};
use crate::cells::parts::player::{UNTIL, beginning, seeds_player};
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::{Concept, More};

/// Steps that the cell makes by itself.
const UNASKED: f64 = 50.0;

/// Sizes of training sets.
const SIZES: usize = 3;

/// A network: its name, its results here, and its colour.
#[derive(Clone, Copy)]
struct Network {
    name: &'static str,
    right: &'static str,
    now: &'static str,
    loss: &'static str,
    parameters: &'static str,
    concept: Concept,
}

const NETWORKS: [Network; 2] = [
    Network {
        name: "CNN",
        right: "cnn.right",
        now: "cnn.right.now",
        loss: "cnn.loss.now",
        parameters: "cnn.parameters",
        concept: Concept::Score,
    },
    Network {
        name: "Vision Transformer",
        right: "vit.right",
        now: "vit.right.now",
        loss: "vit.loss.now",
        parameters: "vit.parameters",
        concept: Concept::Weight,
    },
];

/// The networks whose finished runs are kept.
const TRAINED: [Trained; 2] = [kept(0), kept(1)];

/// What is kept of a network.
const fn kept(n: usize) -> Trained {
    Trained {
        name: NETWORKS[n].name,
        result: NETWORKS[n].now,
        concept: NETWORKS[n].concept,
    }
}

/// The logged runs: mean, lowest and highest of each network.
const LOGGED: [[&str; 3]; 2] = [
    ["log.cnn.mean", "log.cnn.low", "log.cnn.high"],
    ["log.vit.mean", "log.vit.low", "log.vit.high"],
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    let kept = KeptRuns::new(cx, &TRAINED);
    view! {
        <div class="controls">
            {cx.verbatim_choice_box("size")} {cx.choice_box("variant")} {seeds_player(cx, UNASKED)}
        </div>
        <div class="cols-2">
            <div class="stack tight">{here(cx, computed)} {now(cx)}</div>
            <div class="stack tight">
                {logged(cx, computed)} {kept.tracks("Your runs over the logged runs, on drawn digits")}
            </div>
        </div>
        <More summary="Your runs and those on MNIST as tables">
            {kept.table()} {table(cx)} {note(cx)} {command_of_runs(cx)}
        </More>
        <More summary="Seed">{cx.seed_box()}</More>
        {beginning(cx)}
    }
    .into_any()
}

/// The runs of this tab.
fn here(cx: CellCx, computed: Computed) -> AnyView {
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let line = |network: Network| Series {
                name: network.name.to_owned(),
                source: network.right.to_owned(),
                kind: Kind::Line,
                xs: values(c, "looks"),
                ys: values(c, network.right),
                concept: network.concept,
            };
            Some(Chart {
                title: "Trained here: right answers by step".to_owned(),
                x_label: "step, in this tab".to_owned(),
                y_label: "share right".to_owned(),
                series: NETWORKS.map(line).to_vec(),
                y_range: Some((0.0, 1.0)),
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("here", chart);
    view! {
        <ChartView chart label="Trained here: drawn test digits read right" height=165 format=Format::Percent(1) until=UNTIL />
    }
    .into_any()
}

/// The runs of this tab, now.
fn now(cx: CellCx) -> AnyView {
    let row = |network: Network| {
        let loss = cx.value(network.loss, Vec::new());
        let name = network.loss;
        let number = move || match loss.get() {
            None => "none yet".into_any(),
            Some(_) => cx.num(name, &[], Format::Fixed(3)),
        };
        view! {
            <tr>
                <th scope="row" data-label="">{network.name}</th>
                <td data-train=network.now>{cx.num(network.now, &[], Format::Percent(1))}</td>
                <td>{number}</td>
                <td>{cx.num(network.parameters, &[], Format::Count)}</td>
            </tr>
        }
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="The runs of this tab">
            <table>
                <caption>
                    "Your runs: step " <span data-train="steps">{cx.num("steps", &[], Format::Count)}</span> " of "
                    {cx.num("most", &[], Format::Count)}
                </caption>
                <thead>
                    <tr>
                        <th scope="col">"network"</th>
                        <th scope="col">"right of " {cx.num("test", &[], Format::Count)}</th>
                        <th scope="col">"loss"</th>
                        <th scope="col">"parameters"</th>
                    </tr>
                </thead>
                <tbody>{NETWORKS.map(row).collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}

/// The logged runs, and the reader's run among them.
fn logged(cx: CellCx, computed: Computed) -> AnyView {
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let sizes = values(c, "sizes");
            let line = |(network, [mean, ..]): (Network, [&'static str; 3])| Series {
                name: network.name.to_owned(),
                source: mean.to_owned(),
                kind: Kind::Line,
                xs: sizes.clone(),
                ys: values(c, mean),
                concept: network.concept,
            };
            let both = NETWORKS.into_iter().zip(LOGGED);
            let series = both.map(line).collect();
            Some(Chart {
                title: "Logged runs on MNIST: right answers by number of training digits"
                    .to_owned(),
                x_label: "training digits".to_owned(),
                y_label: "share right".to_owned(),
                series,
                x_log: true,
                y_range: Some((0.5, 1.0)),
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("logged", chart);
    view! {
        <ChartView chart label="Logged runs on MNIST: right answers against the number of training digits" height=165
            format=Format::Percent(1) />
    }
    .into_any()
}

fn note(cx: CellCx) -> AnyView {
    view! {
        <p class="hint">
            "The left chart shows your runs, on digits that this site draws. The right chart shows our logged runs on MNIST, with a class token: means over "
            {cx.num("seeds", &[], Format::Count)} " seeds, " {cx.num("log.steps", &[], Format::Count)}
            " steps, tested with " {cx.num("log.test", &[], Format::Count)} " digits."
        </p>
    }
    .into_any()
}

/// The logged runs with their spread.
fn table(cx: CellCx) -> AnyView {
    let cell = move |names: [&'static str; 3], n: usize| {
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
                <td>{cx.num("sizes", &[n], Format::Count)}</td>
                {LOGGED.map(|names| cell(names, n)).collect_view()}
            </tr>
        }
    };
    let rows = (0..SIZES).map(row);
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Right answers by number of training digits">
            <table>
                <caption>"Right answers: the mean over the seeds, with the lowest and the highest"</caption>
                <thead>
                    <tr>
                        <th scope="col">"training digits"</th>
                        <th scope="col">"CNN"</th>
                        <th scope="col">"Vision Transformer"</th>
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}
