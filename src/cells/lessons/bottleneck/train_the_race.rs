//! The view of `train-the-race`: two models learn side by side; how much of each length they get
//! right.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::lessons::training::train_tiny::losses;
use crate::cells::parts::figures::{Computed, values};
use crate::cells::parts::player::{UNTIL, beginning, player};
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::{Concept, More};

/// Steps that the cell makes by itself: enough for attention to lead on every length.
const UNASKED: f64 = 300.0;

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    view! {
        <div class="controls">
            {cx.choice_box("task")} {cx.toggle_box("backwards")}
        </div>
        {player(cx, UNASKED)}
        <p>
            "Both models have made " <span data-train="steps">{cx.num("steps", &[], Format::Count)}</span>
            " steps, on the same sequences. The model with one vector has "
            {cx.num("fixed.parameters", &[], Format::Count)} " parameters, the one with attention "
            {cx.num("attention.parameters", &[], Format::Count)} "."
        </p>
        {charts(cx, computed)}
        <More summary="Length, learning rate and seed">
            <div class="controls">
                {cx.slider("longest", Format::Count)} {cx.slider("rate", Format::Typed)} {cx.seed_box()}
            </div>
        </More>
        <More summary="Losses, and fully correct sequences">
        <dl class="readout">
            <div class="c-score">
                <dt>"loss of the last step, one vector"</dt>
                <dd>{cx.num("fixed.loss.now", &[], Format::Fixed(4))}</dd>
            </div>
            <div class="c-weight">
                <dt>"loss of the last step, attention"</dt>
                <dd>{cx.num("attention.loss.now", &[], Format::Fixed(4))}</dd>
            </div>
        </dl>
        {table(cx)}
        </More>
        {beginning(cx)}
    }
    .into_any()
}

fn charts(cx: CellCx, computed: Computed) -> AnyView {
    let right = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let line = |source: &str, name: &str, concept| Series {
                name: name.to_owned(),
                source: source.to_owned(),
                kind: Kind::Line,
                xs: values(c, "lengths"),
                ys: values(c, source),
                concept,
            };
            Some(Chart {
                title: "Correct held-out symbols, by length".to_owned(),
                x_label: "symbols in the sequence".to_owned(),
                y_label: "share".to_owned(),
                series: vec![
                    line("fixed.symbols", "one vector", Concept::Score),
                    line("attention.symbols", "attention", Concept::Weight),
                ],
                y_range: Some((0.0, 1.0)),
                marks: vec![(c.at("longest", &[])?, "longest trained on".to_owned())],
                ..Chart::default()
            })
        })
    });
    let loss = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            Some(Chart {
                title: "Training loss, nats per symbol".to_owned(),
                x_label: "step".to_owned(),
                y_label: "loss".to_owned(),
                series: vec![
                    losses(c, "fixed.loss", "one vector", Concept::Score),
                    losses(c, "attention.loss", "attention", Concept::Weight),
                ],
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("right", right);
    cx.offer_chart("loss", loss);
    view! {
        <div class="cols-2">
            <ChartView chart=right beside=vec![loss] label="Correct held-out symbols, by length" height=210 format=Format::Percent(1) />
            <ChartView chart=loss beside=vec![right] label="Loss of both models" height=210 until=UNTIL />
        </div>
    }
    .into_any()
}

/// Sequences that are fully correct, by length.
fn table(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    let count = Memo::new(move |_| {
        computed.with(|c| {
            let lengths = c.as_ref().and_then(|c| c.tensor("lengths"));
            lengths.map_or(0, |lengths| lengths.values.len())
        })
    });
    let heads = move || {
        (0..count.get())
            .map(|n| view! { <th scope="col">{cx.num("lengths", &[n], Format::Count)}</th> })
            .collect_view()
    };
    let row = move |label: &'static str, name: &'static str| {
        let cells = move || {
            (0..count.get())
                .map(|n| view! { <td data-train=format!("{name}.{n}")>{cx.num(name, &[n], Format::Percent(0))}</td> })
                .collect_view()
        };
        view! { <tr><th scope="row">{label}</th>{cells}</tr> }
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Held-out sequences fully correct, by length">
            <table>
                <thead><tr><th scope="col">"fully correct, by length"</th>{heads}</tr></thead>
                <tbody>{row("one vector", "fixed.whole")} {row("attention", "attention.whole")}</tbody>
            </table>
        </div>
        <p class="hint">
            "Measured on " {cx.num("held.count", &[], Format::Count)}
            " sequences of each length that training never sees, every " {cx.num("looks.every", &[], Format::Count)}
            " steps; each symbol is predicted from the correct prefix."
        </p>
    }
    .into_any()
}
