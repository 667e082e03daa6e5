//! The view of `pixels-as-tokens`: a table and a chart of what patches of each side cost.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::{Concept, More, set};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    let rows = Memo::new(move |_| {
        computed.with(|c| {
            c.as_ref()
                .and_then(|c| c.tensor("side"))
                .map_or(0, |t| t.values.len())
        })
    });
    let chart: Signal<Option<Chart>> = Memo::new(move |_| {
        computed.with(|c| {
            let c = c.as_ref()?;
            let values =
                |name: &str| Some(c.tensor(name)?.values.iter().copied().collect::<Vec<f64>>());
            Some(Chart {
                title: "Scores of one head".to_owned(),
                x_label: "side $P$ of a patch, in pixels".to_owned(),
                y_label: "scores".to_owned(),
                series: vec![Series {
                    name: "scores".to_owned(),
                    source: "scores".to_owned(),
                    kind: Kind::Line,
                    xs: values("side")?,
                    ys: values("scores")?,
                    concept: Concept::Score,
                }],
                x_log: true,
                y_log: true,
                ..Chart::default()
            })
        })
    })
    .into();
    cx.offer_chart("scores", chart);
    view! {
        <div class="controls">{cx.slider("size", Format::Count)} {cx.slider("d_k", Format::Count)}</div>
        <div class="scroll" tabindex="0" role="region" aria-label="Costs by patch size">
            <table class="values">
                <caption>"One attention head over the whole picture"</caption>
                <thead>
                    <tr>
                        <th scope="col">{set("Side $P$")}</th><th scope="col">{set("Tokens $N$")}</th><th scope="col" data-label="name">{set("Scores $N^2$")}</th>
                        <th scope="col" data-label="unit">"Bytes (32-bit)"</th><th scope="col">{set("Multiplications of $Q K^\u{22a4}$")}</th>
                    </tr>
                </thead>
                <tbody>{move || (0..rows.get()).map(|i| row(cx, i)).collect_view()}</tbody>
            </table>
        </div>
        <More summary="The scores as a chart">
            <ChartView chart=chart label="Scores of one head against the side of a patch" format=Format::Count />
        </More>
    }
    .into_any()
}

fn row(cx: CellCx, i: usize) -> AnyView {
    view! {
        <tr>
            <th scope="row">{cx.num("side", &[i], Format::Count)}</th>
            <td>{cx.num("tokens", &[i], Format::Count)}</td>
            <td>{cx.num("scores", &[i], Format::Count)}</td>
            <td>{cx.num("bytes", &[i], Format::Count)}</td>
            <td>{cx.num("multiplications", &[i], Format::Count)}</td>
        </tr>
    }
    .into_any()
}
