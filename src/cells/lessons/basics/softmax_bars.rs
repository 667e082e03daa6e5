//! Four scores and a temperature to drag, and the weights as bars.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::shares;
use crate::widgets::{More, set};

/// The inputs: a score for each word, in the order of the tensors.
const SCORES: [&str; 4] = ["mat", "sofa", "floor", "moon"];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls">
            {SCORES.map(|name| cx.slider(name, Format::Fixed(1))).collect_view()}
            {cx.slider("tau", Format::Fixed(1))}
        </div>
        <section class="panel">
            <p class="panel-title">"The cat sat on the \u{2026}"</p>
            {shares(cx, "weights", &SCORES)}
        </section>
        <More summary="Softmax step by step">{steps(cx)}</More>
    }
    .into_any()
}

/// Score, power of e and weight of each word.
fn steps(cx: CellCx) -> AnyView {
    let title = "Softmax step by step";
    let rows = SCORES.iter().enumerate().map(|(place, &word)| {
        view! {
            <tr>
                <th scope="row" data-label="">{word}</th>
                <td>{cx.num("scores", &[place], Format::Fixed(1))}</td>
                <td>{cx.num("exponents", &[place], Format::Fixed(2))}</td>
                <td>{cx.num("exponentials", &[place], Format::Power(3))}</td>
                <td>{cx.num("weights", &[place], Format::Fixed(4))}</td>
            </tr>
        }
    });
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label=title>
            <table>
                <caption class="vh">{title}</caption>
                <thead>
                    <tr>
                        <th scope="col">"word"</th>
                        <th scope="col">"score"</th>
                        <th scope="col">{set("score / $\u{3c4}$")}</th>
                        <th scope="col">"e to this power"</th>
                        <th scope="col">"divided by the sum"</th>
                    </tr>
                </thead>
                <tbody>
                    {rows.collect_view()}
                    <tr>
                        <th scope="row">"sum"</th>
                        <td></td>
                        <td></td>
                        <td>{cx.num("total", &[], Format::Power(3))}</td>
                        <td></td>
                    </tr>
                </tbody>
            </table>
        </div>
    }
    .into_any()
}
