//! The view of `window-cost`: the four stages as a table, and the pairs against the side of the picture.

use cells::InputValue;
use cells::format::Format;
use cells::lessons::windows::window_cost::DEPTHS;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::values;
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::{Concept, More, set};

/// The curves: name, tensor, colour.
const CURVES: [(&str, &str, Concept); 2] = [
    ("every patch with every patch", "curve.all", Concept::Score),
    ("in windows", "curve.windows", Concept::Output),
];

/// Examples: name, side of the picture, side of a patch, side of a window.
const CASES: [(&str, f64, f64, f64); 3] = [
    ("Swin V2-T, 256 pixels", 256.0, 4.0, 8.0),
    ("512 pixels", 512.0, 4.0, 8.0),
    ("One window for all", 256.0, 16.0, 16.0),
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls">
            {cx.log_slider("side", Format::Count)} {cx.slider("patch", Format::Count)} {cx.slider("window", Format::Count)}
        </div>
        {cases(cx)}
        {table(cx)}
        <div class="cols-2 map-after">
            {chart(cx)}
            <p>
                "The attention layers of all blocks need " {cx.num("total.windows", &[], Format::Power(2))}
                " multiplications in windows and " {cx.num("total.all", &[], Format::Power(2))}
                " without them: " <strong>{cx.num("total.ratio", &[], Format::Fixed(1))}</strong>
                " times as many. This includes the projections, but not the MLPs."
            </p>
        </div>
        <More summary="Another number of channels">{cx.slider("width", Format::Count)}</More>
    }
    .into_any()
}

fn cases(cx: CellCx) -> AnyView {
    let now = ["side", "patch", "window"].map(|name| cx.number(name));
    let button = |(name, side, patch, window): (&'static str, f64, f64, f64)| {
        let is_here = move || (now.map(|n| n.get()) == [side, patch, window]).to_string();
        let press = move |_| {
            cx.set_all(vec![
                ("side", InputValue::Number(side)),
                ("patch", InputValue::Number(patch)),
                ("window", InputValue::Number(window)),
            ]);
        };
        view! {
            <button type="button" class="button" aria-pressed=is_here on:click=press>
                <span data-label="">{name}</span>
            </button>
        }
    };
    view! {
        <div class="row" role="group" aria-label="Examples of pictures and windows">
            {CASES.map(button).collect_view()}
        </div>
    }
    .into_any()
}

fn table(cx: CellCx) -> AnyView {
    let row = |n: usize| {
        view! {
            <tr>
                <th scope="row" data-label="">{format!("stage {}", n + 1)}</th>
                <td>{cx.num("depth", &[n], Format::Count)}</td>
                <td>{cx.num("side", &[n], Format::Count)} " \u{d7} " {cx.num("side", &[n], Format::Count)}</td>
                <td>{cx.num("width", &[n], Format::Count)}</td>
                <td>{cx.num("windows", &[n], Format::Count)}</td>
                <td>{cx.num("all", &[n], Format::Count)}</td>
                <td>{cx.num("pairs", &[n], Format::Count)}</td>
                <td>{cx.num("ratio", &[n], Format::Fixed(1))}</td>
            </tr>
        }
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="The stages and their pairs">
            <table>
                <caption class="vh">"For each stage its sizes, and the pairs of one layer"</caption>
                <thead>
                    <tr>
                        <th scope="col"><span class="vh">"stage"</span></th>
                        <th scope="col">"blocks"</th>
                        <th scope="col">"tokens"</th>
                        <th scope="col">"channels"</th>
                        <th scope="col">"windows"</th>
                        <th scope="col" data-label="">{set("all pairs $N^2$")}</th>
                        <th scope="col" data-label="">{set("in windows $N M^2$")}</th>
                        <th scope="col">"times fewer"</th>
                    </tr>
                </thead>
                <tbody>{(0..DEPTHS.len()).map(row).collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}

fn chart(cx: CellCx) -> AnyView {
    let (computed, side) = (cx.computed(), cx.number("side"));
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let series = CURVES.map(|(name, source, concept)| Series {
                name: name.to_owned(),
                source: source.to_owned(),
                kind: Kind::Line,
                xs: values(c, "curve.side"),
                ys: values(c, source),
                concept,
            });
            Some(Chart {
                title: "Pairs of one layer of the first stage".to_owned(),
                x_label: "side of the picture in pixels".to_owned(),
                y_label: "pairs".to_owned(),
                series: series.to_vec(),
                x_log: true,
                y_log: true,
                marks: vec![(side.get(), "here".to_owned())],
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("pairs", chart);
    view! { <ChartView chart label="Pairs against the side of the picture" height=115 format=Format::Count /> }
        .into_any()
}
