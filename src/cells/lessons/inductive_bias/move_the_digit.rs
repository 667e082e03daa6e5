//! The view of `move-the-digit`: the moved digit, what three models read, and how they fare on test digits.

use cells::format::Format;
use cells::lessons::inductive_bias::move_the_digit::FARTHEST;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::digit_models::{MODELS, picture};
use crate::cells::parts::figures::{command_of_runs, values};
use crate::cells::parts::model_note::trained;
use crate::cells::parts::pad::folded_pad;
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::More;

/// The results of each model: its answer in place, its answer now, how sure it is, and its shares.
const RESULTS: [[&str; 4]; 3] = [
    ["cnn.before", "cnn.after", "cnn.sure", "moved.cnn"],
    ["vit.before", "vit.after", "vit.sure", "moved.vit"],
    ["bag.before", "bag.after", "bag.sure", "moved.bag"],
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls">{cx.slider("right", Format::Count)} {cx.slider("down", Format::Count)}</div>
        <div class="cols-2">
            <div class="stack">
                <div class="row center">
                    <div class="received">{picture(cx, "moved", "The moved digit")}</div>
                    <p class="hint">
                        {cx.num("lost", &[], Format::Percent(0))} " of the ink is outside the picture."
                    </p>
                </div>
                {table(cx)}
            </div>
            {curves(cx)}
        </div>
        {folded_pad(cx)}
        <More summary="The curves as a table">{logged(cx)} {command_of_runs(cx)}</More>
        {trained(&["digit-cnn", "digit-vit", "digit-vit-nopos"])}
    }
    .into_any()
}

/// What each model reads, in place and moved.
fn table(cx: CellCx) -> AnyView {
    let rows = MODELS.into_iter().zip(RESULTS);
    let rows = rows.map(|(model, [before, after, sure, _])| {
        view! {
            <tr>
                <th scope="row" data-label="">{model.title}</th>
                <td>{cx.num(before, &[], Format::Count)}</td>
                <td data-read=model.short>{cx.num(after, &[], Format::Count)}</td>
                <td>{cx.num(sure, &[], Format::Percent(0))}</td>
            </tr>
        }
    });
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="What each model reads of the moved digit">
            <table>
                <caption class="vh">"What each model reads, in place and moved"</caption>
                <thead>
                    <tr>
                        <th scope="col">"model"</th>
                        <th scope="col">"reads in place"</th>
                        <th scope="col">"moved"</th>
                        <th scope="col">"probability"</th>
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}

/// The share of test digits that each model reads, over the distance.
fn curves(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let line = |n: usize| Series {
                name: MODELS[n].short.to_owned(),
                source: RESULTS[n][3].to_owned(),
                kind: Kind::Line,
                xs: values(c, "distances"),
                ys: values(c, RESULTS[n][3]),
                concept: MODELS[n].concept,
            };
            Some(Chart {
                title: "Right answers by distance".to_owned(),
                x_label: "pixels that a digit is moved by".to_owned(),
                y_label: "share right".to_owned(),
                series: (0..MODELS.len()).map(line).collect(),
                y_range: Some((0.0, 1.0)),
                marks: vec![(c.at("distance", &[])?, "your digit".to_owned())],
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("moved", chart);
    view! {
        <ChartView chart label="Share of 500 test digits read right, against the distance" height=260
            format=Format::Percent(1) />
    }
    .into_any()
}

/// The same in numbers.
fn logged(cx: CellCx) -> AnyView {
    let row = move |by: usize| {
        view! {
            <tr>
                <td>{cx.num("distances", &[by], Format::Count)}</td>
                {RESULTS.map(|[_, _, _, shares]| view! { <td>{cx.num(shares, &[by], Format::Percent(1))}</td> }).collect_view()}
            </tr>
        }
    };
    view! {
        <p>
            {cx.num("log.digits", &[], Format::Count)}
            " test digits of MNIST, each moved in four directions. Ink that leaves the picture is lost."
        </p>
        <div class="scroll" tabindex="0" role="region" aria-label="Right answers by distance">
            <table>
                <caption class="vh">"Right answers by distance"</caption>
                <thead>
                    <tr>
                        <th scope="col">"pixels"</th>
                        {MODELS.map(|model| view! { <th scope="col" data-label="">{model.short}</th> }).collect_view()}
                    </tr>
                </thead>
                <tbody>{(0..=FARTHEST).map(row).collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}
