//! Two models from one seed, one of them broken, trained side by side.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::lessons::training::train_tiny::{losses, measured};
use crate::cells::parts::figures::Computed;
use crate::cells::parts::player::{UNTIL, beginning, player};
use crate::plot::{Chart, ChartView};
use crate::widgets::{Concept, More};

/// Steps that the cell makes by itself: enough for the two curves to part.
const UNASKED: f64 = 300.0;

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    view! {
        <fieldset class="choice">
            <legend>"Keep in the second model"</legend>
            <div class="row">
                {cx.toggle_box("scaling")} {cx.toggle_box("mask")} {cx.toggle_box("residual")} {cx.toggle_box("norm")}
                {cx.toggle_box("positions")} {cx.toggle_box("warmup")}
            </div>
        </fieldset>
        <div class="controls">{cx.choice_box("task")} {player(cx, UNASKED)}</div>
        {verdict(cx)}
        {curves(cx, computed)}
        <More summary="Both models in numbers">{table(cx)}</More>
        <More summary="Learning rate and seed">
            <div class="controls">{cx.slider("rate", Format::Typed)} {cx.seed_box()}</div>
        </More>
        {beginning(cx)}
    }
    .into_any()
}

/// The name of a part in a sentence.
fn part_name(part: &str) -> &str {
    match part {
        "mask" => "causal mask",
        "residual" => "residual connections",
        "norm" => "layer norm",
        "warmup" => "warm-up",
        part => part,
    }
}

/// The parts that are switched off, in words.
fn verdict(cx: CellCx) -> AnyView {
    let off = cx.words("off");
    let words = move || {
        off.with(|off| match off.as_slice() {
            [] => "Nothing is off: both models are the same, and so are their curves.".to_owned(),
            off => {
                let names: Vec<&str> = off.iter().map(|part| part_name(part)).collect();
                format!("Switched off in the second model: {}.", names.join(", "))
            }
        })
    };
    view! {
        <p>
            {words} " Both have trained for " <span data-train="steps">{cx.num("steps", &[], Format::Count)}</span>
            " steps."
        </p>
    }
    .into_any()
}

fn curves(cx: CellCx, computed: Computed) -> AnyView {
    let loss = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            Some(Chart {
                title: "Training loss, nats per symbol".to_owned(),
                x_label: "step".to_owned(),
                y_label: "loss".to_owned(),
                series: vec![
                    losses(c, "whole.loss", "whole", Concept::Weight),
                    losses(c, "broken.loss", "broken", Concept::Score),
                ],
                ..Chart::default()
            })
        })
    });
    let written = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let curve = |at, tensor, name, concept| measured(c, at, tensor, name, concept);
            Some(Chart {
                title: "Held-out sequences written fully correctly".to_owned(),
                x_label: "step".to_owned(),
                y_label: "share".to_owned(),
                series: vec![
                    curve("whole.looks", "whole.written", "whole", Concept::Weight),
                    curve("broken.looks", "broken.written", "broken", Concept::Score),
                ],
                y_range: Some((0.0, 1.0)),
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("loss", loss);
    cx.offer_chart("written", written);
    view! {
        <div class="cols-2">
            <ChartView chart=loss beside=vec![written] label="Loss of both models" height=200 until=UNTIL />
            <ChartView chart=written beside=vec![loss] label="Held-out sequences written fully correctly" height=200 format=Format::Percent(1) until=UNTIL />
        </div>
    }
    .into_any()
}

fn table(cx: CellCx) -> AnyView {
    let row = move |words: &'static str, names: [&'static str; 2], format: Format| {
        view! {
            <tr>
                <th scope="row">{words}</th>
                {names.map(|name| view! { <td data-train=name>{cx.num(name, &[], format)}</td> }).collect_view()}
            </tr>
        }
    };
    let share = Format::Percent(1);
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Both models on held-out sequences">
            <table>
                <thead>
                    <tr>
                        <th scope="col">"held-out sequences"</th>
                        <th scope="col">"whole"</th>
                        <th scope="col">"broken"</th>
                    </tr>
                </thead>
                <tbody>
                    {row("loss", ["whole.held.now", "broken.held.now"], Format::Fixed(4))}
                    {row("correct with teacher forcing", ["whole.right.now", "broken.right.now"], share)}
                    {row("correct when free-running", ["whole.written.now", "broken.written.now"], share)}
                </tbody>
            </table>
        </div>
        <p class="hint">
            "Measured on " {cx.num("held.count", &[], Format::Count)} " sequences that training never sees, every "
            {cx.num("looks.every", &[], Format::Count)} " steps."
        </p>
    }
    .into_any()
}
