//! The view of `data-curve`: our logged runs by their number of digits, and the published curve.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{Computed, command_of_runs, values};
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::{Concept, More};

/// Our two networks: name, mean, lowest, highest, colour.
const OURS: [(&str, [&str; 3], Concept); 2] = [
    ("CNN", ["cnn.mean", "cnn.low", "cnn.high"], Concept::Score),
    (
        "Vision Transformer",
        ["vit.mean", "vit.low", "vit.high"],
        Concept::Weight,
    ),
];

/// The published models: name, shares, colour.
const PUBLISHED: [(&str, &str, Concept); 2] = [
    ("ViT-B/16", "published.base", Concept::Score),
    ("ViT-L/16", "published.large", Concept::Weight),
];

/// Sets of digits that are logged, the most of both kinds of runs.
const SIZES: usize = 5;

/// The names of the published sets of pictures.
const SETS: [&str; 3] = ["ImageNet", "ImageNet-21k", "JFT-300M"];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    view! {
        <div class="controls">{cx.verbatim_choice_box("length")}</div>
        <div class="cols-2">
            <div class="stack tight">{ours(cx, computed)} {note(cx)}</div>
            <div class="stack tight">
                {published(cx, computed)}
                <p class="hint">
                    "Published: " <span data-label="">"right answers (top-1 accuracy)"</span>
                    " on ImageNet after pre-training on three sets of pictures and fine-tuning ("
                    <span data-label="">"Dosovitskiy et al., 2021, table 5"</span> ")."
                </p>
            </div>
        </div>
        <More summary="Both charts as tables">{table(cx)} {published_table(cx)} {command_of_runs(cx)}</More>
    }
    .into_any()
}

/// Our logged runs.
fn ours(cx: CellCx, computed: Computed) -> AnyView {
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let series = OURS.map(|(name, [mean, ..], concept)| Series {
                name: name.to_owned(),
                source: mean.to_owned(),
                kind: Kind::Line,
                xs: values(c, "sizes"),
                ys: values(c, mean),
                concept,
            });
            Some(Chart {
                title: "Logged here: right answers by number of training digits".to_owned(),
                x_label: "training digits".to_owned(),
                y_label: "share right".to_owned(),
                series: series.to_vec(),
                x_log: true,
                y_range: Some((0.5, 1.0)),
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("ours", chart);
    view! {
        <ChartView chart label="Our logged runs on MNIST: right answers against the number of training digits" height=230
            format=Format::Percent(1) />
    }
    .into_any()
}

fn note(cx: CellCx) -> AnyView {
    view! {
        <p class="hint">
            "Logged, not computed here: " {cx.num("log.steps", &[], Format::Count)} " steps on digits of MNIST, mean of "
            {cx.num("seeds", &[], Format::Count)} " seeds, tested with " {cx.num("log.test", &[], Format::Count)} " digits."
        </p>
    }
    .into_any()
}

/// The published curve.
fn published(cx: CellCx, computed: Computed) -> AnyView {
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let series = PUBLISHED.map(|(name, source, concept)| Series {
                name: name.to_owned(),
                source: source.to_owned(),
                kind: Kind::Line,
                xs: values(c, "published.pictures"),
                ys: values(c, source),
                concept,
            });
            Some(Chart {
                title: "Published: a base and a large model by number of pictures".to_owned(),
                x_label: "pictures of pre-training".to_owned(),
                y_label: "accuracy".to_owned(),
                series: series.to_vec(),
                x_log: true,
                y_range: Some((0.7, 0.9)),
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("published", chart);
    view! {
        <ChartView chart label="Published: accuracy on ImageNet against the number of pictures of pre-training" height=230
            format=Format::Percent(1) />
    }
    .into_any()
}

/// Our logged runs with their spread.
fn table(cx: CellCx) -> AnyView {
    let cell = move |[mean, low, high]: [&'static str; 3], n: usize| {
        view! {
            <td>
                {cx.num(mean, &[n], Format::Percent(1))} " (" {cx.num(low, &[n], Format::Percent(1))} " to "
                {cx.num(high, &[n], Format::Percent(1))} ")"
            </td>
        }
    };
    let row = move |n: usize| {
        let size = cx.value("sizes", vec![n]);
        let is_there = move || size.get().is_some();
        view! {
            <Show when=is_there>
                <tr>
                    <td>{cx.num("sizes", &[n], Format::Count)}</td>
                    {OURS.map(|(_, names, _)| cell(names, n)).collect_view()}
                    <td>{cx.num("gap", &[n], Format::Percent(1))}</td>
                </tr>
            </Show>
        }
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Right answers by number of training digits">
            <table>
                <caption>"Right answers: the mean over the seeds, with the lowest and the highest"</caption>
                <thead>
                    <tr>
                        <th scope="col">"training digits"</th>
                        {OURS.map(|(name, ..)| view! { <th scope="col">{name}</th> }).collect_view()}
                        <th scope="col">"difference of the means"</th>
                    </tr>
                </thead>
                <tbody>{(0..SIZES).map(row).collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}

/// The published numbers.
fn published_table(cx: CellCx) -> AnyView {
    let row = move |n: usize| {
        view! {
            <tr>
                <th scope="row" data-label="">{SETS[n]}</th>
                <td>{cx.num("published.pictures", &[n], Format::Count)}</td>
                {PUBLISHED.map(|(_, source, _)| view! { <td>{cx.num(source, &[n], Format::Percent(1))}</td> }).collect_view()}
            </tr>
        }
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Published accuracy by number of pictures">
            <table>
                <caption>"Published accuracy on ImageNet"</caption>
                <thead>
                    <tr>
                        <th scope="col">"pre-trained on"</th>
                        <th scope="col">"pictures"</th>
                        {PUBLISHED.map(|(name, ..)| view! { <th scope="col" data-label="">{name}</th> }).collect_view()}
                    </tr>
                </thead>
                <tbody>{(0..SETS.len()).map(row).collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}
