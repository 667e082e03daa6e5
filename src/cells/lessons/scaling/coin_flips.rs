//! Heads minus tails as a histogram, and its spread for four numbers of coins.

use cells::format::Format;
use cells::lessons::scaling::coin_flips::COUNTS;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::values;
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::{Concept, More, set};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        {cx.choice_box("flips")}
        <div class="cols-2">{histogram(cx)} {spreads(cx)}</div>
        <More summary="The seed">{cx.seed_box()}</More>
    }
    .into_any()
}

fn histogram(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let root = c.at("root", &[])?;
            Some(Chart {
                title: "Heads minus tails, a thousand times".to_owned(),
                x_label: "heads minus tails".to_owned(),
                y_label: "how often".to_owned(),
                series: vec![Series {
                    source: "histogram".to_owned(),
                    kind: Kind::Bars,
                    xs: values(c, "centres"),
                    ys: values(c, "histogram"),
                    concept: Concept::Score,
                    ..Series::default()
                }],
                marks: vec![
                    (-root, "\u{2212}\u{221a}d".to_owned()),
                    (root, "\u{221a}d".to_owned()),
                ],
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("heads-minus-tails", chart);
    view! { <ChartView chart label="Heads minus tails" height=200 format=Format::Count /> }
        .into_any()
}

/// The measured spread of each number of coins beside the root.
fn spreads(cx: CellCx) -> AnyView {
    let row = |n: usize| {
        view! {
            <tr>
                <th scope="row">{cx.num("coins", &[n], Format::Count)}</th>
                <td>{cx.num("deviations", &[n], Format::Fixed(2))}</td>
                <td>{cx.num("roots", &[n], Format::Count)}</td>
            </tr>
        }
    };
    view! {
        <table>
            <caption>"Measured in " {cx.num("repeats", &[], Format::Count)} " repetitions"</caption>
            <thead>
                <tr>
                    <th scope="col">"coins"</th>
                    <th scope="col">"standard deviation"</th>
                    <th scope="col">{set("$\u{221a}d$")}</th>
                </tr>
            </thead>
            <tbody>{(0..COUNTS.len()).map(row).collect_view()}</tbody>
        </table>
    }
    .into_any()
}
