//! A ball on the curve of a loss: it moves against the slope, by the learning rate times the slope.

use cells::format::Format;
use cells::{Computation, InputValue};
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{Computed, step_button, values};
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::{Concept, set};

/// Ends of the vertical axis: the loss at both ends of the curve is the upper one.
const LOSSES: (f64, f64) = (0.0, 64.0);

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    view! {
        <div class="controls">
            {cx.slider("rate", Format::Fixed(3))} {cx.slider("start", Format::Fixed(1))}
            <div class="row" role="group" aria-label="Gradient descent">
                {step_button(cx, &["updates"], 1.0, "Take a step")}
                {step_button(cx, &["updates"], -1.0, "Take it back")}
                <button
                    type="button"
                    class="button"
                    on:click=move |_| cx.set("updates", InputValue::Number(0.0))
                >
                    "Return to the start"
                </button>
            </div>
        </div>
        {curve(cx, computed)}
        {sum(cx)}
        {readout(cx)}
    }
    .into_any()
}

/// Whether a point of the descent is in the picture.
fn is_inside(along: &[f64], w: f64, loss: f64) -> bool {
    let (first, last) = (along.first(), along.last());
    first.is_some_and(|&first| first <= w)
        && last.is_some_and(|&last| w <= last)
        && loss <= LOSSES.1
}

/// The points of the descent so far, up to the first that is outside the picture.
fn so_far(c: &Computation, along: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let count = c.at("updates", &[]).unwrap_or(0.0) as usize + 1;
    let points = values(c, "path").into_iter().zip(values(c, "path.loss"));
    let shown = points.take(count);
    shown
        .take_while(|&(w, loss)| is_inside(along, w, loss))
        .unzip()
}

/// The loss, the tangent at the ball, the ball, and where it was before.
fn curve(cx: CellCx, computed: Computed) -> AnyView {
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let along = values(c, "along");
            let series = |name: &str, source: &str, kind, concept, (xs, ys)| Series {
                name: name.to_owned(),
                source: source.to_owned(),
                kind,
                xs,
                ys,
                concept,
            };
            // The tangent leaves the picture where the loss bends away from it.
            let clip = |y: f64| {
                if LOSSES.0 <= y && y <= LOSSES.1 {
                    y
                } else {
                    f64::NAN
                }
            };
            let tangent = values(c, "tangent").into_iter().map(clip).collect();
            let loss = (along.clone(), values(c, "along.loss"));
            let (w, height) = (c.at("here", &[0])?, c.at("here.loss", &[0])?);
            let is_here = is_inside(&along, w, height);
            let ball = if is_here {
                (vec![w], vec![height])
            } else {
                (vec![], vec![])
            };
            let path = so_far(c, &along);
            Some(Chart {
                title: "The loss for each value of the parameter".to_owned(),
                x_label: "parameter $w$".to_owned(),
                y_label: "loss $L$".to_owned(),
                series: vec![
                    series("ball", "here.loss", Kind::Points, Concept::Weight, ball),
                    series(
                        "before",
                        "path.loss",
                        Kind::Points,
                        Concept::Plain,
                        path.clone(),
                    ),
                    series("before", "path.loss", Kind::Line, Concept::Plain, path),
                    series(
                        "tangent",
                        "tangent",
                        Kind::Line,
                        Concept::Position,
                        (along, tangent),
                    ),
                    series("loss", "along.loss", Kind::Line, Concept::Score, loss),
                ],
                y_range: Some(LOSSES),
                marks: if is_here {
                    vec![(w, "ball".to_owned())]
                } else {
                    Vec::new()
                },
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("descent", chart);
    view! { <ChartView chart label="The loss over the parameter, with the steps of the descent" height=270 /> }
        .into_any()
}

/// The next step, written out.
fn sum(cx: CellCx) -> AnyView {
    view! {
        <p class="sum">
            {set("$w \u{2212} \u{3b7} \u{b7}$ gradient =")} " "
            <span class="term c-weight">{cx.num("here", &[0], Format::Fixed(3))}</span> " \u{2212} "
            <span class="term">{cx.num("rate", &[], Format::Fixed(3))}</span> " \u{d7} "
            <span class="term c-position">{cx.num("gradient", &[], Format::Fixed(3))}</span> " = "
            <strong>{cx.num("next", &[], Format::Fixed(3))}</strong>
        </p>
    }
    .into_any()
}

fn readout(cx: CellCx) -> AnyView {
    let item = move |words: &'static str, name: &'static str, index: &[usize], format| {
        view! {
            <div>
                <dt>{set(words)}</dt>
                <dd>{cx.num(name, index, format)}</dd>
            </div>
        }
    };
    view! {
        <dl class="readout">
            {item("steps", "updates", &[], Format::Count)}
            {item("parameter $w$", "here", &[0], Format::Fixed(3))}
            {item("loss $L$", "here.loss", &[0], Format::Fixed(3))}
            {item("gradient", "gradient", &[], Format::Fixed(3))}
            {item("input $x$", "x", &[], Format::Count)}
            {item("right answer $y$", "y", &[], Format::Count)}
        </dl>
    }
    .into_any()
}
