//! The view of `cover-patches`: the changed digit, what three models read, and how they fare on test digits.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::digit_models::{MODELS, picture};
use crate::cells::parts::figures::{command_of_runs, values};
use crate::cells::parts::model_note::trained;
use crate::cells::parts::pad::folded_pad;
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::More;

/// The results of each model: its answer, how sure it is, and its shares of test digits with covered and
/// with shuffled patches.
const RESULTS: [[&str; 4]; 3] = [
    ["cnn.answer", "cnn.sure", "covered.cnn", "shuffled.cnn"],
    ["vit.answer", "vit.sure", "covered.vit", "shuffled.vit"],
    ["bag.answer", "bag.sure", "covered.bag", "shuffled.bag"],
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls">{cx.slider("covered", Format::Count)} {cx.toggle_box("shuffled")}</div>
        <div class="cols-2">
            <div class="stack">
                <div class="received">{picture(cx, "changed", "The changed digit")}</div>
                {table(cx)}
            </div>
            {curves(cx)}
        </div>
        {folded_pad(cx)}
        <More summary="The seed, and how the test digits were read">
            {cx.seed_box()}
            <p>
                {cx.num("log.digits", &[], Format::Count)}
                " test digits of MNIST, each with its own random patches covered, or its own order of the patches."
            </p>
            {command_of_runs(cx)}
        </More>
        {trained(&["digit-cnn", "digit-vit", "digit-vit-nopos"])}
    }
    .into_any()
}

/// What each model reads here, and how many shuffled test digits it reads.
fn table(cx: CellCx) -> AnyView {
    let rows = MODELS.into_iter().zip(RESULTS);
    let rows = rows.map(|(model, [answer, sure, _, shuffled])| {
        view! {
            <tr>
                <th scope="row" data-label="">{model.title}</th>
                <td data-read=model.short>{cx.num(answer, &[], Format::Count)}</td>
                <td>{cx.num(sure, &[], Format::Percent(0))}</td>
                <td>{cx.num(shuffled, &[0], Format::Percent(1))}</td>
            </tr>
        }
    });
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="What each model reads of covered patches">
            <table>
                <caption>
                    {cx.num("hidden", &[], Format::Count)} " of " {cx.num("patches", &[], Format::Count)}
                    " patches are covered"
                </caption>
                <thead>
                    <tr>
                        <th scope="col">"model"</th>
                        <th scope="col">"reads"</th>
                        <th scope="col">"probability"</th>
                        <th scope="col">"right, test digits shuffled"</th>
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}

/// The share of test digits that each model reads, over the number of covered patches.
fn curves(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let line = |n: usize| Series {
                name: MODELS[n].short.to_owned(),
                source: RESULTS[n][2].to_owned(),
                kind: Kind::Line,
                xs: values(c, "counts"),
                ys: values(c, RESULTS[n][2]),
                concept: MODELS[n].concept,
            };
            Some(Chart {
                title: "Right answers by covered patches".to_owned(),
                x_label: "covered patches, of 49".to_owned(),
                y_label: "share right".to_owned(),
                series: (0..MODELS.len()).map(line).collect(),
                y_range: Some((0.0, 1.0)),
                marks: vec![(c.at("hidden", &[])?, "your digit".to_owned())],
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("covered", chart);
    view! {
        <ChartView chart label="Share of 500 test digits read right, against covered patches" height=260
            format=Format::Percent(1) />
    }
    .into_any()
}
