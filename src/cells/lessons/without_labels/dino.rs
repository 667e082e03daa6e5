//! The view of `dino`: two networks that teach themselves side by side, and the logged runs.

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

/// The lines of the left chart: name, tensor, colour.
const READ: [(&str, &str, Concept); 3] = [
    ("centred and sharpened", "both.moved", Concept::Weight),
    ("one part missing", "lacking.moved", Concept::Score),
    ("pixels", "pixels.line", Concept::Residual),
];

/// The lines of the right chart.
const ENTROPIES: [(&str, &str, Concept); 4] = [
    ("both: mean target", "both.all", Concept::Weight),
    ("both: single targets", "both.each", Concept::Output),
    ("missing: mean target", "lacking.all", Concept::Score),
    ("missing: single targets", "lacking.each", Concept::Position),
];

/// The rows of the table of this tab: name, in place, moved.
const NOW: [[&str; 3]; 3] = [
    ["centred and sharpened", "both.right.now", "both.moved.now"],
    ["one part missing", "lacking.right.now", "lacking.moved.now"],
    ["pixels", "pixels.right", "pixels.moved"],
];

/// The networks whose finished runs are kept, by what they read of the moved digits.
const TRAINED: [Trained; 2] = [
    Trained {
        name: NOW[0][0],
        result: NOW[0][2],
        concept: READ[0].2,
    },
    Trained {
        name: NOW[1][0],
        result: NOW[1][2],
        concept: READ[1].2,
    },
];

/// The rows of the logged runs: name, mean, lowest and highest.
const LOGGED: [[&str; 4]; 5] = [
    [
        "centred and sharpened",
        "log.both.mean",
        "log.both.low",
        "log.both.high",
    ],
    [
        "not centred",
        "log.not-centred.mean",
        "log.not-centred.low",
        "log.not-centred.high",
    ],
    [
        "not sharpened",
        "log.not-sharpened.mean",
        "log.not-sharpened.low",
        "log.not-sharpened.high",
    ],
    [
        "before the first step",
        "log.random.mean",
        "log.random.low",
        "log.random.high",
    ],
    [
        "pixels",
        "log.pixels.mean",
        "log.pixels.low",
        "log.pixels.high",
    ],
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    let kept = KeptRuns::new(cx, &TRAINED);
    view! {
        <div class="controls">{cx.choice_box("without")} {seeds_player(cx, UNASKED)}</div>
        <div class="cols-2">
            {chart(cx, computed, "read", ("Moved test digits read right", "share right"), "looks", &READ)}
            {chart(cx, computed, "entropies", ("Entropies of the targets", "nats"), "", &ENTROPIES)}
        </div>
        <div class="cols-2">
            {now(cx)}
            {kept.tracks("Moved digits: your runs over the logged runs")}
        </div>
        <More summary="Your runs and those on MNIST as tables">
            {kept.table()} {logged(cx)} {command_of_runs(cx)}
        </More>
        <More summary="Seed">{cx.seed_box()}</More>
        {beginning(cx)}
    }
    .into_any()
}

/// A chart over the steps; without a tensor of its own, the steps are counted from one.
fn chart(
    cx: CellCx,
    computed: Computed,
    id: &'static str,
    (title, y_label): (&'static str, &'static str),
    xs: &'static str,
    lines: &'static [(&'static str, &'static str, Concept)],
) -> AnyView {
    let is_share = !xs.is_empty();
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let line = |&(name, source, concept): &(&str, &str, Concept)| {
                let ys = values(c, source);
                let xs = match is_share {
                    true => values(c, xs),
                    false => (1..=ys.len()).map(|step| step as f64).collect(),
                };
                Series {
                    name: name.to_owned(),
                    source: source.to_owned(),
                    kind: Kind::Line,
                    xs,
                    ys,
                    concept,
                }
            };
            Some(Chart {
                title: title.to_owned(),
                x_label: "step, in this tab".to_owned(),
                y_label: y_label.to_owned(),
                series: lines.iter().map(line).collect(),
                y_range: Some(if is_share { (0.0, 1.0) } else { (0.0, 3.6) }),
                ..Chart::default()
            })
        })
    });
    cx.offer_chart(id, chart);
    let format = if is_share {
        Format::Percent(1)
    } else {
        Format::Fixed(2)
    };
    view! { <ChartView chart label=title height=190 format until=UNTIL /> }.into_any()
}

/// The runs of this tab, now.
fn now(cx: CellCx) -> AnyView {
    let row = |[name, right, moved]: [&'static str; 3]| {
        view! {
            <tr>
                <th scope="row">{name}</th>
                <td data-train=right>{cx.num(right, &[], Format::Percent(1))}</td>
                <td data-train=moved>{cx.num(moved, &[], Format::Percent(1))}</td>
            </tr>
        }
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="The runs of this tab">
            <table>
                <caption>
                    "Step " <span data-train="steps">{cx.num("steps", &[], Format::Count)}</span> " of "
                    {cx.num("most", &[], Format::Count)} ": " {cx.num("seen", &[], Format::Count)}
                    " digits without labels; then the labels of " {cx.num("known", &[], Format::Count)}
                    " digits vote on " {cx.num("test", &[], Format::Count)} " others"
                </caption>
                <thead>
                    <tr>
                        <th scope="col">"vectors"</th>
                        <th scope="col">"right, in place"</th>
                        <th scope="col">"right, moved"</th>
                    </tr>
                </thead>
                <tbody>{NOW.map(row).collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}

/// The logged runs with their spread.
fn logged(cx: CellCx) -> AnyView {
    let cell = move |[_, mean, low, high]: [&'static str; 4], n: usize| {
        view! {
            <td>
                {cx.num(mean, &[n], Format::Percent(1))} " (" {cx.num(low, &[n], Format::Percent(1))} " to "
                {cx.num(high, &[n], Format::Percent(1))} ")"
            </td>
        }
    };
    let row = move |names: [&'static str; 4]| {
        view! {
            <tr>
                <th scope="row">{names[0]}</th>
                {(0..2).map(|n| cell(names, n)).collect_view()}
            </tr>
        }
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="The logged runs">
            <table>
                <caption>
                    {cx.num("log.seen", &[], Format::Count)} " digits without labels, "
                    {cx.num("log.steps", &[], Format::Count)} " steps; the labels of "
                    {cx.num("log.known", &[], Format::Count)} " vote on " {cx.num("log.test", &[], Format::Count)}
                    " test digits. Means over " {cx.num("seeds", &[], Format::Count)} " seeds, with the lowest and the highest"
                </caption>
                <thead>
                    <tr>
                        <th scope="col">"vectors"</th>
                        <th scope="col">"right, in place"</th>
                        <th scope="col">"right, moved"</th>
                    </tr>
                </thead>
                <tbody>{LOGGED.map(row).collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}
