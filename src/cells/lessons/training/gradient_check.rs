//! The loss along one weight, its gradient, and what moving that weight says.

use cells::InputValue;
use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{Computed, step_button, untrained, values};
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::{Concept, Domain, HeatMap, More, Palette, Place, set};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    view! {
        {curve(cx, computed)}
        {sums(cx)}
        <More summary="The error at every $h$">{errors(cx, computed)}</More>
        <More summary="Choose another parameter">
            {picker(cx)}
            <div class="controls">
                {cx.choice_box("matrix")} {cx.slider("row", Format::Count)} {cx.slider("column", Format::Count)} {cx.seed_box()}
            </div>
        </More>
        {untrained(cx)}
    }
    .into_any()
}

/// The loss along the weight, the tangent whose slope is the gradient, and both sides of the weight.
fn curve(cx: CellCx, computed: Computed) -> AnyView {
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let losses = values(c, "along.loss");
            let [low, high] = [f64::min, f64::max].map(|more| losses.iter().copied().reduce(more));
            let room = 0.1 * (high? - low?).max(1e-3);
            let (low, high) = (low? - room, high? + room);
            let series = |name: &str, source: &str, xs: &str, kind, concept| Series {
                name: name.to_owned(),
                source: source.to_owned(),
                kind,
                xs: values(c, xs),
                // The tangent leaves the chart where the loss bends away from it.
                ys: values(c, source)
                    .into_iter()
                    .map(|y| if low <= y && y <= high { y } else { f64::NAN })
                    .collect(),
                concept,
            };
            Some(Chart {
                title: "The loss along one parameter".to_owned(),
                x_label: "the parameter $w$".to_owned(),
                y_label: "loss".to_owned(),
                series: vec![
                    series("loss", "along.loss", "along", Kind::Line, Concept::Score),
                    series("tangent", "tangent", "along", Kind::Line, Concept::Weight),
                    series(
                        "$w \u{b1} h$",
                        "sides.loss",
                        "sides",
                        Kind::Points,
                        Concept::Plain,
                    ),
                ],
                y_range: Some((low, high)),
                marks: vec![(c.at("weight", &[])?, "w".to_owned())],
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("along", chart);
    view! { <ChartView chart label="The loss along one parameter, with its tangent" height=240 /> }
        .into_any()
}

/// The gradients of the matrix; pressing one picks its parameter.
fn picker(cx: CellCx) -> AnyView {
    let (row, column) = (cx.number("row"), cx.number("column"));
    let mark = Signal::derive(move || vec![(row.get() as usize - 1, column.get() as usize - 1)]);
    let pick = Callback::new(move |(row, column): Place| {
        let number = |at: usize| InputValue::Number((at + 1) as f64);
        cx.set_all(vec![("row", number(row)), ("column", number(column))]);
    });
    view! {
        <HeatMap
            grid=cx.grid("gradient")
            label="Gradient by parameter, its first rows and columns; click one to check it"
            palette=Palette::Diverging
            domain=Signal::stored(Domain::Symmetric)
            format=Format::Fixed(4)
            concept=Concept::Score
            on_press=pick
            mark
        />
    }
    .into_any()
}

/// Errors of both kinds of difference, for each h.
fn errors(cx: CellCx, computed: Computed) -> AnyView {
    let here = cx.value("h.now", Vec::new());
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let series = |source: &str, name: &str, kind, concept| Series {
                name: name.to_owned(),
                source: source.to_owned(),
                kind,
                xs: values(c, "h"),
                ys: values(c, source),
                concept,
            };
            Some(Chart {
                title: "Error of each difference".to_owned(),
                x_label: "h".to_owned(),
                y_label: "error".to_owned(),
                series: vec![
                    series("error.central", "central", Kind::Line, Concept::Weight),
                    series("error.one-sided", "one-sided", Kind::Line, Concept::Score),
                    series("grain", "one ulp / 2h", Kind::Points, Concept::Residual),
                ],
                x_log: true,
                y_log: true,
                marks: here
                    .get()
                    .map(|h| vec![(h, "here".to_owned())])
                    .unwrap_or_default(),
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("errors", chart);
    view! { <ChartView chart label="Error of each difference" height=280 format=Format::Power(2) /> }
        .into_any()
}

/// The difference at one h, written out.
fn sums(cx: CellCx) -> AnyView {
    let item = move |words: &'static str, name: &'static str, format: Format| {
        view! {
            <div>
                <dt>{set(words)}</dt>
                <dd>{cx.num(name, &[], format)}</dd>
            </div>
        }
    };
    view! {
        <div class="controls">
            {cx.slider("power", Format::Count)}
            <div class="row">
                {step_button(cx, &["power"], -1.0, "Halve $h$")} {step_button(cx, &["power"], 1.0, "Double $h$")}
            </div>
        </div>
        <dl class="readout">
            {item("the parameter $w$", "weight", Format::Fixed(6))} {item("$h$", "h.now", Format::Power(2))}
            {item("loss at $w \u{2212} h$", "below", Format::Fixed(8))}
            {item("loss at $w + h$", "above", Format::Fixed(8))}
            {item("difference in ulps", "grains", Format::Count)}
            {item("central difference", "central.now", Format::Fixed(7))}
            {item("gradient", "slope", Format::Fixed(7))}
            {item("error", "error.now", Format::Power(2))}
        </dl>
    }
    .into_any()
}
