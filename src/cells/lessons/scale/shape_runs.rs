//! The view of `shape-runs`: right answers by depth, width or patch size, and by the work of a picture.

use cells::format::Format;
use cells::lessons::scale::shape_runs::FACTORS;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{Computed, command_of_runs, values};
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::{Concept, More};

/// What the numbers of each factor are called.
const NAMES: [&str; 3] = ["blocks", "dimension", "patch side in pixels"];

/// Each factor on the right: name, shares, work, colour.
const ALL: [(&str, &str, &str, Concept); 3] = [
    ("depth", "depth.mean", "depth.work", Concept::Score),
    ("width", "width.mean", "width.work", Concept::Weight),
    ("patch", "patch.mean", "patch.work", Concept::Output),
];

/// Each factor in the table: its name, values, mean, lowest and highest share.
const ROWS: [[&str; 5]; 3] = [
    [
        "blocks",
        "depth.values",
        "depth.mean",
        "depth.low",
        "depth.high",
    ],
    [
        "dimension",
        "width.values",
        "width.mean",
        "width.low",
        "width.high",
    ],
    [
        "patch side",
        "patch.values",
        "patch.mean",
        "patch.low",
        "patch.high",
    ],
];

/// Shapes of a factor.
const SHAPES: usize = 4;

/// Ends of both vertical axes.
const SHARES: (f64, f64) = (0.8, 0.95);

/// What the numbers of this factor are called.
fn name_of(factor: &str) -> &'static str {
    let mut all = FACTORS.iter().zip(NAMES);
    all.find_map(|(known, name)| (*known == factor).then_some(name))
        .unwrap_or_default()
}

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    view! {
        <div class="controls">{cx.choice_box("factor")}</div>
        <div class="cols-2">{one(cx, computed)} {work(cx, computed)}</div>
        {costs(cx)}
        <p class="hint">
            "Logged, not trained in this tab: " {cx.num("log.steps", &[], Format::Count)} " steps on "
            {cx.num("log.digits", &[], Format::Count)} " digits, means over " {cx.num("seeds", &[], Format::Count)}
            " seeds, " {cx.num("log.test", &[], Format::Count)} " test digits. The base: "
            {cx.num("base.depth", &[], Format::Count)} " blocks, dimension " {cx.num("base.width", &[], Format::Count)}
            ", patches of " {cx.num("base.patch", &[], Format::Count)} " pixels."
        </p>
        <More summary="All runs as a table">{table(cx)} {command_of_runs(cx)}</More>
    }
    .into_any()
}

/// The chosen factor: mean and spread over the seeds.
fn one(cx: CellCx, computed: Computed) -> AnyView {
    let factor = cx.choice("factor");
    let chart = Signal::derive(move || {
        let name = factor.with(|factor| name_of(factor));
        computed.with(|c| {
            let c = c.as_ref()?;
            let xs = values(c, "values");
            let series = |tensor: &str, name: &str, kind, concept| Series {
                name: name.to_owned(),
                source: tensor.to_owned(),
                kind,
                xs: xs.clone(),
                ys: values(c, tensor),
                concept,
            };
            Some(Chart {
                title: format!("Right answers by {name}"),
                x_label: name.to_owned(),
                y_label: "share right".to_owned(),
                series: vec![
                    series("mean", "mean", Kind::Line, Concept::Weight),
                    series("low", "lowest seed", Kind::Points, Concept::Plain),
                    series("high", "highest seed", Kind::Points, Concept::Residual),
                ],
                x_log: true,
                y_range: Some(SHARES),
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("one", chart);
    view! {
        <ChartView chart label="Right answers of the logged runs by the factor that changes" height=170
            format=Format::Percent(1) />
    }
    .into_any()
}

/// All factors by the multiplications for a picture.
fn work(cx: CellCx, computed: Computed) -> AnyView {
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let series = ALL.map(|(name, mean, work, concept)| Series {
                name: name.to_owned(),
                source: mean.to_owned(),
                kind: Kind::Line,
                xs: values(c, work),
                ys: values(c, mean),
                concept,
            });
            Some(Chart {
                title: "All three by their work".to_owned(),
                x_label: "multiplications for a picture".to_owned(),
                y_label: "share right".to_owned(),
                series: series.to_vec(),
                x_log: true,
                y_range: Some(SHARES),
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("work", chart);
    view! {
        <ChartView chart label="Right answers of the logged runs by multiplications, for depth, width and patch size" height=170
            format=Format::Percent(1) />
    }
    .into_any()
}

/// What the chosen factor costs.
fn costs(cx: CellCx) -> AnyView {
    let factor = cx.choice("factor");
    let name = move || factor.with(|factor| name_of(factor));
    let row = move |n: usize| {
        view! {
            <tr>
                <th scope="row">{cx.num("values", &[n], Format::Count)}</th>
                <td>{cx.num("tokens", &[n], Format::Count)}</td>
                <td>{cx.num("parameters", &[n], Format::Count)}</td>
                <td>{cx.num("work", &[n], Format::Count)}</td>
                <td>{cx.num("mean", &[n], Format::Percent(1))}</td>
            </tr>
        }
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="What the shapes cost">
            <table>
                <caption class="vh">"Tokens, parameters and multiplications of the networks, and their right answers"</caption>
                <thead>
                    <tr>
                        <th scope="col">{name}</th>
                        <th scope="col">"tokens"</th>
                        <th scope="col">"parameters"</th>
                        <th scope="col">"multiplications"</th>
                        <th scope="col">"right, mean"</th>
                    </tr>
                </thead>
                <tbody>{(0..SHAPES).map(row).collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}

/// All shapes with their spread.
fn table(cx: CellCx) -> AnyView {
    let row = move |[name, values, mean, low, high]: [&'static str; 5], n: usize| {
        view! {
            <tr>
                <th scope="row">{name} " " {cx.num(values, &[n], Format::Count)}</th>
                <td>{cx.num(mean, &[n], Format::Percent(2))}</td>
                <td>{cx.num(low, &[n], Format::Percent(2))}</td>
                <td>{cx.num(high, &[n], Format::Percent(2))}</td>
            </tr>
        }
    };
    let rows = ROWS.map(|names| (0..SHAPES).map(|n| row(names, n)).collect_view());
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Right answers of all shapes">
            <table>
                <caption>"Right answers: mean, lowest and highest of the seeds"</caption>
                <thead>
                    <tr>
                        <th scope="col">"what changes"</th>
                        <th scope="col">"mean"</th>
                        <th scope="col">"lowest"</th>
                        <th scope="col">"highest"</th>
                    </tr>
                </thead>
                <tbody>{rows.into_iter().collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}
