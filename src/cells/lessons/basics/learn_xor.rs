//! Two networks that learn XOR side by side: their answers in the plane, their losses, and the four
//! points.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{Computed, curve, probability_map};
use crate::cells::parts::player::{UNTIL, beginning, player};
use crate::plot::{Chart, ChartView};
use crate::widgets::{Concept, More, Place};

/// Steps that the cell makes by itself: enough for one of the two networks to have learned.
const UNASKED: f64 = 400.0;

/// Where the four points are in the maps, which a test of the computation checks.
const POINTS: [Place; 4] = [(18, 6), (6, 6), (18, 18), (6, 18)];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    view! {
        <div class="controls">
            {player(cx, UNASKED)}
            <p>
                "Steps: " <span data-train="steps">{cx.num("steps", &[], Format::Count)}</span>
            </p>
        </div>
        <div class="cols-3">
            {probability_map(cx, "with.map", "With the nonlinearity", POINTS.to_vec())}
            {probability_map(cx, "without.map", "Without the nonlinearity", POINTS.to_vec())}
            <div class="stack">{losses(cx, computed)} {table(cx)}</div>
        </div>
        <More summary="Hidden numbers, learning rate and seed">
            <div class="controls">
                {cx.slider("hidden", Format::Count)} {cx.slider("rate", Format::Fixed(2))} {cx.seed_box()}
            </div>
        </More>
        {beginning(cx)}
    }
    .into_any()
}

fn losses(cx: CellCx, computed: Computed) -> AnyView {
    let loss = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let line = |tensor, name, concept| curve(c, tensor, name, concept, |n| (n + 1) as f64);
            Some(Chart {
                title: "Loss".to_owned(),
                x_label: "step".to_owned(),
                y_label: "loss".to_owned(),
                series: vec![
                    line("with.loss", "with", Concept::Weight),
                    line("without.loss", "without", Concept::Score),
                ],
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("loss", loss);
    view! { <ChartView chart=loss label="Loss of both networks" height=180 until=UNTIL /> }
        .into_any()
}

/// The four points, their classes, and what each network says.
fn table(cx: CellCx) -> AnyView {
    let title = "The four points and both answers";
    let row = move |n: usize| {
        view! {
            <tr>
                <th scope="row">
                    {cx.num("points", &[n, 0], Format::Count)} ", " {cx.num("points", &[n, 1], Format::Count)}
                </th>
                <td>{cx.num("classes", &[n], Format::Count)}</td>
                <td>{cx.num("with.answers", &[n], Format::Fixed(2))}</td>
                <td>{cx.num("without.answers", &[n], Format::Fixed(2))}</td>
            </tr>
        }
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label=title>
            <table>
                <caption class="vh">{title}</caption>
                <thead>
                    <tr>
                        <th scope="col">"point"</th>
                        <th scope="col">"right answer"</th>
                        <th scope="col">"with"</th>
                        <th scope="col">"without"</th>
                    </tr>
                </thead>
                <tbody>
                    {[0, 1, 2, 3].map(row).collect_view()}
                    <tr>
                        <th scope="row">"correct"</th>
                        <td></td>
                        <td data-train="with.right">{cx.num("with.right", &[], Format::Count)}</td>
                        <td data-train="without.right">{cx.num("without.right", &[], Format::Count)}</td>
                    </tr>
                </tbody>
            </table>
        </div>
    }
    .into_any()
}
