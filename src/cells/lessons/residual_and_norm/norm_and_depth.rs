//! The gradient of each block with the norms before or after the sums, and logged runs with and
//! without warm-up.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{Computed, command_of_runs, curve, values};
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::{Concept, More, set};

/// The two places of the norms: name, gradients, the last one, that of a stack of one block, and
/// their ratio.
const PLACES: [[&str; 5]; 2] = [
    [
        "pre-norm",
        "before",
        "last.before",
        "one.before",
        "ratio.before",
    ],
    [
        "post-norm",
        "after",
        "last.after",
        "one.after",
        "ratio.after",
    ],
];

/// The logged runs: name, tensor of the curve, and of its end.
const RUNS: [(&str, &str, &str, Concept); 4] = [
    (
        "pre-norm",
        "cold.before",
        "cold.before.last",
        Concept::Score,
    ),
    (
        "pre-norm, warm-up",
        "warm.before",
        "warm.before.last",
        Concept::Output,
    ),
    (
        "post-norm",
        "cold.after",
        "cold.after.last",
        Concept::Weight,
    ),
    (
        "post-norm, warm-up",
        "warm.after",
        "warm.after.last",
        Concept::Residual,
    ),
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    view! {
        <div class="controls">{cx.slider("depth", Format::Count)}</div>
        <div class="cols-2">{gradients(cx, computed)} {runs(cx, computed)}</div>
        {table(cx)}
        <p class="hint">
            "On the left: means over " {cx.num("stacks", &[], Format::Count)}
            " untrained stacks. On the right: logged runs, not trained in this tab, of "
            {cx.num("log.depth", &[], Format::Count)} " blocks, means over "
            {cx.num("seeds", &[], Format::Count)} " seeds."
        </p>
        <More summary="The ends of the runs, and the seed">
            {ends(cx)} {cx.seed_box()} {command_of_runs(cx)}
        </More>
    }
    .into_any()
}

fn gradients(cx: CellCx, computed: Computed) -> AnyView {
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let line = |place: usize, concept| {
                let [name, tensor, ..] = PLACES[place];
                curve(c, tensor, name, concept, |n| (n + 1) as f64)
            };
            Some(Chart {
                title: "Gradient of each block".to_owned(),
                x_label: "block, from the input up".to_owned(),
                y_label: "length of the gradient".to_owned(),
                series: vec![line(0, Concept::Score), line(1, Concept::Weight)],
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("gradients", chart);
    view! { <ChartView chart label="Gradient of each block" height=228 /> }.into_any()
}

fn runs(cx: CellCx, computed: Computed) -> AnyView {
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let line = |(name, tensor, _, concept): (&str, &str, &str, Concept)| Series {
                name: name.to_owned(),
                source: tensor.to_owned(),
                kind: Kind::Line,
                xs: values(c, "log.step"),
                ys: values(c, tensor),
                concept,
            };
            Some(Chart {
                title: "Loss of the logged runs".to_owned(),
                x_label: "step".to_owned(),
                y_label: "loss, nats per symbol".to_owned(),
                series: RUNS.map(line).to_vec(),
                marks: vec![(c.at("log.warmup", &[])?, "end of warm-up".to_owned())],
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("runs", chart);
    view! { <ChartView chart label="Loss of the logged runs" height=228 /> }.into_any()
}

/// The last block against a stack of one block.
fn table(cx: CellCx) -> AnyView {
    let rows = PLACES.map(|[name, _, last, one, ratio]| {
        view! {
            <tr>
                <th scope="row">{name}</th>
                <td>{cx.num(one, &[], Format::Fixed(2))}</td>
                <td>{cx.num(last, &[], Format::Fixed(2))}</td>
                <td>{cx.num(ratio, &[], Format::Fixed(2))}</td>
            </tr>
        }
    });
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="The gradient of the last block">
            <table>
                <caption class="vh">"The gradient of the only block of a stack, and of the last block of the deep one"</caption>
                <thead>
                    <tr>
                        <th scope="col">"norms"</th>
                        <th scope="col">"a single block"</th>
                        <th scope="col">"last of " {cx.num("depth", &[], Format::Count)} " blocks"</th>
                        <th scope="col">"ratio"</th>
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}

/// Where the runs end, and how they were made.
fn ends(cx: CellCx) -> AnyView {
    let rows = RUNS.map(|(name, _, last, _)| {
        view! {
            <tr>
                <th scope="row">{name}</th>
                <td>{cx.num(last, &[0], Format::Fixed(3))}</td>
                <td>{cx.num(last, &[1], Format::Fixed(3))}</td>
                <td>{cx.num(last, &[2], Format::Fixed(3))}</td>
            </tr>
        }
    });
    view! {
        <p>
            "A stack reverses rows of symbols, as in the lesson on training, for "
            {cx.num("log.steps", &[], Format::Count)} " steps of Adam. With warm-up the learning rate climbs for "
            {cx.num("log.warmup", &[], Format::Count)} " steps and then stays; without, it is that high from the first step."
        </p>
        <div class="scroll" tabindex="0" role="region" aria-label="The ends of the runs">
            <table>
                <caption class="vh">{set("Loss over the last steps: mean, lowest and highest over the seeds")}</caption>
                <thead>
                    <tr>
                        <th scope="col">"loss at the end"</th>
                        <th scope="col">"mean"</th>
                        <th scope="col">"lowest"</th>
                        <th scope="col">"highest"</th>
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}
