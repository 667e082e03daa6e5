//! The pad, the picture that the model receives, its ten probabilities, and their film.

use cells::format::Format;
use cells::{Computation, Drawing};
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::bars::share_row;
use crate::cells::parts::figures::values;
use crate::cells::parts::model_note::trained;
use crate::cells::parts::pad::{pad, received};
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::{Concept, More, sketch};

/// The digits.
const CLASSES: usize = 10;

/// Most lines of the film, and the probability that a digit must reach at some moment to get one.
const MOST_LINES: usize = 6;
const REACHES: f64 = 0.25;

/// The colours of the lines, in the order of the digits.
const COLOURS: [Concept; MOST_LINES] = [
    Concept::Query,
    Concept::Output,
    Concept::Position,
    Concept::Weight,
    Concept::Residual,
    Concept::Value,
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let row = move |class: usize| {
        let number = cx.num("probabilities", &[class], Format::Percent(1));
        share_row(
            cx,
            class.to_string(),
            ("probabilities", vec![class]),
            number,
        )
    };
    let points = cx.value("points", Vec::new());
    let is_empty = Memo::new(move |_| points.get() == Some(0.0));
    view! {
        <div class="drawing">
            {pad(cx)}
            {received(cx)}
            <div class="drawing-answer">
                <p class="verdict">
                    {move || if is_empty.get() { "The pad is empty. In a blank picture it reads " } else { "It reads " }}
                    <strong>{cx.num("answer", &[], Format::Count)}</strong> ", with "
                    {cx.num("answer.probability", &[], Format::Percent(1))}
                </p>
                <ul class="shares">{(0..CLASSES).map(row).collect_view()}</ul>
            </div>
        </div>
        {film(cx)}
        <More summary="Where it changed its mind">{changes(cx)}</More>
        {trained(&["digit-vit"])}
    }
    .into_any()
}

/// The probabilities over the strokes.
fn film(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    let chart: Signal<Option<Chart>> =
        Memo::new(move |_| computed.with(|c| drawn_film(c.as_ref()?))).into();
    cx.offer_chart("film", chart);
    view! {
        <ChartView chart=chart label="The probability of each digit while the drawing grows" height=140
            format=Format::Percent(1) />
    }
    .into_any()
}

fn drawn_film(c: &Computation) -> Option<Chart> {
    let xs = values(c, "moments");
    let line = |class: usize| -> Option<Vec<f64>> {
        (0..xs.len()).map(|n| c.at("film", &[n, class])).collect()
    };
    let lines = (0..CLASSES).filter_map(|class| Some((class, line(class)?)));
    let reached = lines.filter(|(_, ys)| ys.iter().any(|&p| p > REACHES));
    let series = reached.zip(COLOURS).map(|((class, ys), concept)| Series {
        name: class.to_string(),
        source: format!("film[{{}},{class}]"),
        kind: Kind::Line,
        xs: xs.clone(),
        ys,
        concept,
    });
    // A line where each later stroke begins.
    let strokes = values(c, "stroke");
    let marks = (1..xs.len()).filter(|&n| strokes[n] > strokes[n - 1]);
    let marks = marks.map(|n| (xs[n - 1], format!("stroke {}", strokes[n])));
    Some(Chart {
        title: "While you drew".to_owned(),
        x_label: "points of the drawing".to_owned(),
        y_label: "probability".to_owned(),
        series: series.collect(),
        y_range: Some((0.0, 1.0)),
        marks: marks.collect(),
        ..Chart::default()
    })
}

/// The moments at which another digit became the most likely one.
fn changes(cx: CellCx) -> AnyView {
    let drawings = cx.words("change.drawing");
    let item = move |(n, text): (usize, String)| {
        view! {
            <li>
                {sketch(&Drawing::parse(&text).unwrap_or_default())}
                <span>
                    {cx.num("change.from", &[n], Format::Count)} " \u{2192} "
                    <strong>{cx.num("change.to", &[n], Format::Count)}</strong> ", "
                    {cx.num("change.probability", &[n], Format::Percent(0))}
                </span>
                <span class="hint">"stroke " {cx.num("change.stroke", &[n], Format::Count)}</span>
            </li>
        }
    };
    let items = move || {
        drawings
            .get()
            .into_iter()
            .enumerate()
            .map(item)
            .collect_view()
    };
    view! {
        <p>"Each picture is your drawing at the moment when another digit became the most likely one."</p>
        <ul class="sketches">{items}</ul>
    }
    .into_any()
}
