//! The learning rate of the paper as a curve.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::values;
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::Concept;

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let series = Series {
                name: "rate".to_owned(),
                source: "rate".to_owned(),
                kind: Kind::Line,
                xs: values(c, "step"),
                ys: values(c, "rate"),
                concept: Concept::Output,
            };
            Some(Chart {
                title: "Learning rate".to_owned(),
                x_label: "step".to_owned(),
                y_label: "learning rate".to_owned(),
                series: vec![series],
                marks: vec![(c.at("warmup", &[])?, "end of warm-up".to_owned())],
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("rate", chart);
    view! {
        <div class="controls">{cx.slider("width", Format::Count)} {cx.slider("warmup", Format::Count)}</div>
        <ChartView chart label="Learning rate by step" height=240 format=Format::Power(2) />
        <p class="verdict">
            "First step: " {cx.num("first", &[], Format::Power(1))} ". Highest, at step "
            {cx.num("warmup", &[], Format::Count)} ": "
            <strong>{cx.num("peak", &[], Format::Power(2))}</strong> ". At step "
            {cx.num("last.step", &[], Format::Count)} ": " {cx.num("last", &[], Format::Power(2))} "."
        </p>
    }
    .into_any()
}
