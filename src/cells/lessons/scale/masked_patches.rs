//! The view of `masked-patches`: four digits as the network sees, paints and should paint them, and its
//! error beside that of the mean digit.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::values;
use crate::cells::parts::player::{UNTIL, beginning, player};
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::{Concept, Domain, HeatMap, More, Palette};

/// Steps that the cell makes by itself.
const UNASKED: f64 = 50.0;

/// The curves: name, tensor, colour.
const CURVES: [(&str, &str, Concept); 2] = [
    ("the network", "error", Concept::Weight),
    ("the mean digit", "error.mean.line", Concept::Score),
];

/// The rows of the published accuracies.
const PUBLISHED: [&str; 3] = [
    "masked patches of JFT, without labels",
    "not at all: from scratch",
    "JFT with labels",
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls">{player(cx, UNASKED)}</div>
        <div class="cols-2 map-beside">
            <div class="stack tight">
                <HeatMap grid=cx.grid("mosaic") label="Four digits: as seen, as painted, as they are" palette=Palette::Brightness
                    domain=Domain::Fixed(0.0, 1.0) format=Format::Fixed(2) picture=true no_legend=true no_readout=true />
                <p class="hint">"Top: as the network sees them. Middle: as it paints them. Bottom: as they are."</p>
            </div>
            <div class="stack tight">{chart(cx)} {numbers(cx)}</div>
        </div>
        <More summary="Published: ViT-B/16 on ImageNet">{published(cx)}</More>
        <More summary="Seed">{cx.seed_box()}</More>
        {beginning(cx)}
    }
    .into_any()
}

fn chart(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let line = |(name, source, concept): (&str, &str, Concept)| Series {
                name: name.to_owned(),
                source: source.to_owned(),
                kind: Kind::Line,
                xs: values(c, "looks"),
                ys: values(c, source),
                concept,
            };
            Some(Chart {
                title: "Mean squared error over hidden patches".to_owned(),
                x_label: "step, in this tab".to_owned(),
                y_label: "error".to_owned(),
                series: CURVES.map(line).to_vec(),
                y_range: Some((0.0, 0.06)),
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("error", chart);
    view! {
        <ChartView chart label="Mean squared error over the hidden patches of test digits, by step" height=210
            format=Format::Fixed(4) until=UNTIL />
    }
    .into_any()
}

fn numbers(cx: CellCx) -> AnyView {
    view! {
        <p>
            "Step " <span data-train="steps">{cx.num("steps", &[], Format::Count)}</span> " of "
            {cx.num("most", &[], Format::Count)} ": the error of the network is "
            <strong data-train="error">{cx.num("error.now", &[], Format::Fixed(4))}</strong> ", that of the mean digit "
            {cx.num("error.mean", &[], Format::Fixed(4))} "."
        </p>
        <p class="hint">
            {cx.num("hidden", &[], Format::Count)} " of " {cx.num("patches", &[], Format::Count)}
            " patches are hidden; learned from " {cx.num("learned", &[], Format::Count)} " drawn digits, measured on "
            {cx.num("test", &[], Format::Count)} " others."
        </p>
    }
    .into_any()
}

/// What was published of a large model: its accuracies, and the differences.
fn published(cx: CellCx) -> AnyView {
    let row = |(n, name): (usize, &'static str)| {
        let gain = match n.checked_sub(1) {
            None => "".into_any(),
            Some(other) => cx.num("gains", &[other], Format::Fixed(1)),
        };
        view! {
            <tr>
                <th scope="row">{name}</th>
                <td>{cx.num("published", &[n], Format::Percent(1))}</td>
                <td>{gain}</td>
            </tr>
        }
    };
    let rows = PUBLISHED.into_iter().enumerate().map(row);
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Published accuracies">
            <table>
                <caption>
                    <span data-label="">
                        "Pictures of ImageNet that ViT-B/16 names (Dosovitskiy et al., 2021, section 4.6 and table 5)"
                    </span>
                    ", and how many points more it names after masked patch prediction"
                </caption>
                <thead>
                    <tr>
                        <th scope="col">"pre-training"</th>
                        <th scope="col">"accuracy"</th>
                        <th scope="col">"gain"</th>
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}
