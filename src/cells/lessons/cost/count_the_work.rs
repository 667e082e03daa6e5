//! The multiplications of four layers against the length of the text, and a table of them with the
//! steps and paths.

use cells::InputValue;
use cells::format::Format;
use cells::lessons::cost::count_the_work::CASES;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::values;
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::{Concept, More, set};

/// The layers: name, how the work grows, colour, and tensors: the curve, multiplications, steps in
/// sequence, path.
const LAYERS: [(&str, &str, Concept, [&str; 4]); 4] = [
    (
        "self-attention",
        "$2T^2C$",
        Concept::Weight,
        [
            "attention.curve",
            "attention.multiplications",
            "attention.sequential",
            "attention.path",
        ],
    ),
    (
        "recurrence",
        "$2TC^2$",
        Concept::Score,
        [
            "recurrent.curve",
            "recurrent.multiplications",
            "recurrent.sequential",
            "recurrent.path",
        ],
    ),
    (
        "convolution",
        "$kTC^2$",
        Concept::Value,
        [
            "convolution.curve",
            "convolution.multiplications",
            "convolution.sequential",
            "convolution.path",
        ],
    ),
    (
        "windowed attention",
        "$2rTC$",
        Concept::Position,
        [
            "restricted.curve",
            "restricted.multiplications",
            "restricted.sequential",
            "restricted.path",
        ],
    ),
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls">
            {cx.log_slider("tokens", Format::Count)} {cx.log_slider("width", Format::Count)}
        </div>
        {cases(cx)}
        {chart(cx)}
        {table(cx)}
        <p>
            "One head has " {cx.num("scores", &[], Format::Count)}
            " scores. Attention multiplies " {cx.num("ratio", &[], Format::Power(1))}
            " times as often as the recurrence."
        </p>
        <More summary="Kernel, window and the projections">
            <div class="controls">
                {cx.slider("kernel", Format::Count)} {cx.log_slider("window", Format::Count)}
            </div>
            <p>
                "Attention also needs the projections to " {set("$Q$")} ", " {set("$K$")} " and " {set("$V$")}
                " and that of the output, which the table leaves out: " {set("$4TC^2$")} " = "
                {cx.num("projections", &[], Format::Count)} " multiplications."
            </p>
        </More>
    }
    .into_any()
}

/// Buttons for three texts, each with what the ratio is there.
fn cases(cx: CellCx) -> AnyView {
    let (tokens, width) = (cx.number("tokens"), cx.number("width"));
    let button = |(name, t, c): (&'static str, usize, usize)| {
        let (t, c) = (t as f64, c as f64);
        let is_here = move || (tokens.get() == t && width.get() == c).to_string();
        let press = move |_| {
            cx.set_all(vec![
                ("tokens", InputValue::Number(t)),
                ("width", InputValue::Number(c)),
            ]);
        };
        view! {
            <button type="button" class="button" aria-pressed=is_here on:click=press>
                <span data-label="">{name}</span>
            </button>
        }
    };
    view! {
        <div class="row" role="group" aria-label="Examples of texts and models">
            {CASES.map(button).collect_view()}
        </div>
    }
    .into_any()
}

fn chart(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    let (tokens, width) = (cx.number("tokens"), cx.number("width"));
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let xs = values(c, "lengths");
            let series = LAYERS.map(|(name, _, concept, [curve, ..])| Series {
                name: name.to_owned(),
                source: curve.to_owned(),
                kind: Kind::Line,
                xs: xs.clone(),
                ys: values(c, curve),
                concept,
            });
            Some(Chart {
                title: "Multiplications of one layer".to_owned(),
                x_label: "tokens $T$".to_owned(),
                y_label: "multiplications".to_owned(),
                series: series.to_vec(),
                x_log: true,
                y_log: true,
                marks: vec![
                    (tokens.get(), "T".to_owned()),
                    (width.get(), "C".to_owned()),
                ],
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("multiplications", chart);
    view! { <ChartView chart label="Multiplications against tokens" height=150 format=Format::Count /> }
        .into_any()
}

fn table(cx: CellCx) -> AnyView {
    let row = |(name, growth, concept, names): (&'static str, &str, Concept, [&'static str; 4])| {
        let [_, multiplications, sequential, path] = names;
        view! {
            <tr class=concept.class()>
                <th scope="row">{name}</th>
                <td data-label="">{set(growth)}</td>
                <td>{cx.num(multiplications, &[], Format::Count)}</td>
                <td>{cx.num(sequential, &[], Format::Count)}</td>
                <td>{cx.num(path, &[], Format::Count)}</td>
            </tr>
        }
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Costs of four layers">
            <table>
                <caption class="vh">"For each layer its multiplications, the steps in sequence and the longest path"</caption>
                <thead>
                    <tr>
                        <th scope="col">"layer"</th>
                        <th scope="col">"growth"</th>
                        <th scope="col">"multiplications"</th>
                        <th scope="col">"steps in sequence"</th>
                        <th scope="col">"longest path"</th>
                    </tr>
                </thead>
                <tbody>{LAYERS.map(row).collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}
