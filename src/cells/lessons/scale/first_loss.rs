//! The view of `first-loss`: the first loss, ln K beside it, and the loss by the scale of the head.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::values;
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::{Concept, More, set};

/// The curves: name, tensor, colour.
const CURVES: [(&str, &str, Concept); 2] = [
    ("first loss", "losses", Concept::Score),
    ("ln K + s\u{b2}/2", "rule", Concept::Residual),
];

/// The numbers: label, tensor.
const NUMBERS: [(&str, &str); 4] = [
    ("first loss, in nats", "loss"),
    ("$ln K$", "uniform"),
    ("the first minus the second", "excess"),
    ("length of the gradient for the vectors", "gradient"),
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls">{cx.slider("scale", Format::Fixed(2))} {cx.slider("classes", Format::Count)}</div>
        <div class="cols-2">{table(cx)} {chart(cx)}</div>
        <More summary="Seed">{cx.seed_box()}</More>
    }
    .into_any()
}

fn table(cx: CellCx) -> AnyView {
    let row = |(label, name): (&'static str, &'static str)| {
        view! {
            <tr>
                <th scope="row" data-label="">{set(label)}</th>
                <td>{cx.num(name, &[], Format::Fixed(6))}</td>
            </tr>
        }
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Losses of the head">
            <table>
                <caption class="vh">"The loss before the first step"</caption>
                <thead class="vh">
                    <tr>
                        <th scope="col">"number"</th>
                        <th scope="col">"value"</th>
                    </tr>
                </thead>
                <tbody>{NUMBERS.map(row).collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}

fn chart(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let series = CURVES.map(|(name, source, concept)| Series {
                name: name.to_owned(),
                source: source.to_owned(),
                kind: Kind::Line,
                xs: values(c, "scales"),
                ys: values(c, source),
                concept,
            });
            Some(Chart {
                title: "The first loss by the scale of the head".to_owned(),
                x_label: "scale of the head".to_owned(),
                y_label: "loss, in nats".to_owned(),
                series: series.to_vec(),
                marks: vec![(c.at("scale.now", &[])?, "here".to_owned())],
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("losses", chart);
    view! { <ChartView chart label="The first loss against the scale of the head" height=220 format=Format::Fixed(2) /> }
        .into_any()
}
