//! Multiplications with and without the cache, token by token, and what the cache takes.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{Computed, values};
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::Concept;

/// The input that chooses the number of heads of keys and values.
const KV_HEADS: &str = "kv-heads";

/// What the chart says until there is something to draw.
const UNTIL: &str = "The chart is computed when the cell is in view.";

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls">{cx.slider("tokens", Format::Count)} {cx.verbatim_choice_box(KV_HEADS)}</div>
        {chart(cx, cx.computed())}
        {table(cx)}
        <p class="verdict">
            "Largest difference between the logits of both ways: "
            {cx.num("difference", &[], Format::Power(0))}
        </p>
        <p class="cell-note">
            "An untrained decoder with Llama\u{2019}s parts: "
            {cx.num("heads", &[], Format::Count)} " heads of queries, "
            {cx.num("kv.heads", &[], Format::Count)} " of keys and values, "
            {cx.num("parameters", &[], Format::Count)} " parameters."
        </p>
    }
    .into_any()
}

/// The work up to each token.
fn chart(cx: CellCx, computed: Computed) -> AnyView {
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let tokens = values(c, "token");
            let series = |tensor: &str, name: &str, concept| Series {
                name: name.to_owned(),
                source: tensor.to_owned(),
                kind: Kind::Line,
                xs: tokens.clone(),
                ys: values(c, tensor),
                concept,
            };
            Some(Chart {
                title: "Multiplications up to each token".to_owned(),
                x_label: "tokens written".to_owned(),
                y_label: "million multiplications".to_owned(),
                series: vec![
                    series("whole.running", "without a cache", Concept::Score),
                    series("cached.running", "with a cache", Concept::Weight),
                ],
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("work", chart);
    view! {
        <ChartView chart label="Multiplications up to each token" height=230 format=Format::Fixed(2) until=UNTIL />
    }
    .into_any()
}

fn table(cx: CellCx) -> AnyView {
    let row = |label: &'static str, last: &'static str, total: &'static str, bytes: AnyView| {
        view! {
            <tr>
                <th scope="row">{label}</th>
                <td>{cx.num(last, &[], Format::Count)}</td>
                <td>{cx.num(total, &[], Format::Count)}</td>
                <td>{bytes}</td>
            </tr>
        }
    };
    let bytes = view! {
        {cx.num("bytes", &[], Format::Count)} " of " {cx.num("bytes.full", &[], Format::Count)}
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Work and memory of both ways">
            <table class="values">
                <thead>
                    <tr>
                        <th scope="col">"multiplications"</th>
                        <th scope="col">"for the last token"</th>
                        <th scope="col">"for all tokens"</th>
                        <th scope="col">"bytes kept"</th>
                    </tr>
                </thead>
                <tbody>
                    {row("without a cache", "whole.last", "whole.total", view! { "none" }.into_any())}
                    {row("with a cache", "cached.last", "cached.total", bytes.into_any())}
                    <tr>
                        <th scope="row">"ratio"</th>
                        <td></td>
                        <td><strong>{cx.num("ratio", &[], Format::Fixed(1))}</strong></td>
                        <td>{cx.num("bytes.share", &[], Format::Percent(1))}</td>
                    </tr>
                </tbody>
            </table>
        </div>
    }
    .into_any()
}
