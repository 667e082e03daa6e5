//! Parameters and tokens for a budget after three rules, and their curves.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::values;
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::Concept;

/// The rules: name, colour, and tensors: the curve, parameters, tokens, tokens for each parameter,
/// loss.
const LAWS: [(&str, Concept, [&str; 5]); 3] = [
    (
        "Kaplan et al.",
        Concept::Score,
        [
            "kaplan.curve",
            "kaplan.parameters",
            "kaplan.tokens",
            "kaplan.each",
            "kaplan.loss",
        ],
    ),
    (
        "Hoffmann et al., formula",
        Concept::Output,
        [
            "hoffmann.curve",
            "hoffmann.parameters",
            "hoffmann.tokens",
            "hoffmann.each",
            "hoffmann.loss",
        ],
    ),
    (
        "Hoffmann et al., ratio",
        Concept::Key,
        [
            "ratio.curve",
            "ratio.parameters",
            "ratio.tokens",
            "ratio.each",
            "ratio.loss",
        ],
    ),
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls">{cx.slider("power", Format::Fixed(2))}</div>
        {chart(cx)}
        {table(cx)}
        <p>
            "The budget is " {cx.num("operations", &[], Format::Power(2))}
            " operations. Kaplan et al. ask for " {cx.num("disagreement", &[], Format::Fixed(1))}
            " times as many parameters as the formula of Hoffmann et al."
        </p>
    }
    .into_any()
}

fn chart(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let xs = values(c, "budgets");
            let series = LAWS.map(|(name, concept, [curve, ..])| Series {
                name: name.to_owned(),
                source: curve.to_owned(),
                kind: Kind::Line,
                xs: xs.clone(),
                ys: values(c, curve),
                concept,
            });
            Some(Chart {
                title: "Parameters for a budget".to_owned(),
                x_label: "operations of training".to_owned(),
                y_label: "parameters".to_owned(),
                series: series.to_vec(),
                x_log: true,
                y_log: true,
                marks: vec![(c.at("operations", &[])?, "budget".to_owned())],
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("parameters", chart);
    view! { <ChartView chart label="Parameters against the budget" height=240 format=Format::Power(1) /> }
        .into_any()
}

fn table(cx: CellCx) -> AnyView {
    let row = |(name, concept, names): (&'static str, Concept, [&'static str; 5])| {
        let [_, parameters, tokens, each, loss] = names;
        view! {
            <tr class=concept.class()>
                <th scope="row">{name}</th>
                <td>{cx.num(parameters, &[], Format::Fixed(1))}</td>
                <td>{cx.num(tokens, &[], Format::Fixed(1))}</td>
                <td>{cx.num(each, &[], Format::Power(1))}</td>
                <td>{cx.num(loss, &[], Format::Fixed(3))}</td>
            </tr>
        }
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Model sizes by rule">
            <table>
                <caption class="vh">"For each rule the parameters and tokens, the tokens for each parameter, and the loss that Hoffmann et al. predict"</caption>
                <thead>
                    <tr>
                        <th scope="col">"rule"</th>
                        <th scope="col">"billion parameters"</th>
                        <th scope="col">"billion tokens"</th>
                        <th scope="col">"tokens each"</th>
                        <th scope="col">"predicted loss"</th>
                    </tr>
                </thead>
                <tbody>{LAWS.map(row).collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}
