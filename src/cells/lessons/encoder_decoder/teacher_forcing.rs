//! One sentence token by token, with the loss after the right tokens and after the decoder's own;
//! and both over all sentences by position.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{curve, values};
use crate::cells::parts::model_note::trained;
use crate::plot::{Chart, ChartView};
use crate::widgets::{Concept, More};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let english = cx.words("english");
    view! {
        <div class="controls">{cx.slider("sentence", Format::Count)}</div>
        <p class="panel-title" data-from="english[0]" aria-live="polite">
            {move || english.with(|e| e.first().cloned())}
        </p>
        {one(cx)}
        <div class="cols-2">{chart(cx)} {readout(cx)}</div>
        <More summary="The curves as a table">{table(cx)}</More>
        {trained(&["translator"])}
    }
    .into_any()
}

/// The tokens of a sentence with both losses.
fn one(cx: CellCx) -> AnyView {
    let (right, own) = (cx.words("right.tokens"), cx.words("own.tokens"));
    let heads = move || {
        let tokens = right.get().into_iter().enumerate();
        tokens
            .map(|(n, token)| view! { <th scope="col" lang="it" data-from=format!("right.tokens[{n}]")>{token}</th> })
            .collect_view()
    };
    let chosen = move || {
        let tokens = own.get().into_iter().zip(right.get()).enumerate();
        tokens
            .map(|(n, (token, expected))| {
                let class = if token == expected { "verdict good" } else { "verdict bad" };
                view! { <td class=class lang="it" data-from=format!("own.tokens[{n}]")>{token}</td> }
            })
            .collect_view()
    };
    let losses = move |name: &'static str| {
        let count = right.with(Vec::len);
        (0..count)
            .map(|n| view! { <td>{cx.num(name, &[n], Format::Fixed(2))}</td> })
            .collect_view()
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="The sentence, token by token">
            <table>
                <tbody>
                    <tr><th scope="row">"right token"</th> {heads}</tr>
                    <tr><th scope="row">"loss after right tokens"</th> {move || losses("right")}</tr>
                    <tr><th scope="row">"loss after its own"</th> {move || losses("own")}</tr>
                    <tr><th scope="row">"its own token"</th> {chosen}</tr>
                </tbody>
            </table>
        </div>
    }
    .into_any()
}

fn chart(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let line = |tensor, name, concept| curve(c, tensor, name, concept, |n| (n + 1) as f64);
            Some(Chart {
                title: "Loss by position, all sentences".to_owned(),
                x_label: "position in the translation".to_owned(),
                y_label: "loss, nats".to_owned(),
                series: vec![
                    line("position.right", "after right tokens", Concept::Output),
                    line("position.own", "after its own", Concept::Score),
                ],
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("positions", chart);
    view! { <ChartView chart label="Loss by position" height=220 format=Format::Fixed(2) /> }
        .into_any()
}

fn readout(cx: CellCx) -> AnyView {
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Mean losses">
            <table>
                <thead>
                    <tr>
                        <th scope="col">"mean loss"</th>
                        <th scope="col">"tokens"</th>
                        <th scope="col">"after right tokens"</th>
                        <th scope="col">"after its own"</th>
                    </tr>
                </thead>
                <tbody>
                    <tr>
                        <th scope="row">"this sentence"</th>
                        <td></td>
                        <td>{cx.num("one.right", &[], Format::Fixed(2))}</td>
                        <td>{cx.num("one.own", &[], Format::Fixed(2))}</td>
                    </tr>
                    <tr>
                        <th scope="row">{cx.num("sentences", &[], Format::Count)} " sentences"</th>
                        <td>{cx.num("tokens", &[], Format::Count)}</td>
                        <td>{cx.num("mean.right", &[], Format::Fixed(2))}</td>
                        <td>{cx.num("mean.own", &[], Format::Fixed(2))}</td>
                    </tr>
                    <tr>
                        <th scope="row">"after a first difference"</th>
                        <td>{cx.num("after.tokens", &[], Format::Count)}</td>
                        <td>{cx.num("after.right", &[], Format::Fixed(2))}</td>
                        <td>{cx.num("after.own", &[], Format::Fixed(2))}</td>
                    </tr>
                </tbody>
            </table>
        </div>
    }
    .into_any()
}

/// The curves, with the number of sentences of each position.
fn table(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    let count = Memo::new(move |_| {
        computed.with(|c| c.as_ref().map_or(0, |c| values(c, "position").len()))
    });
    let rows = move || {
        (0..count.get())
            .map(|n| {
                view! {
                    <tr>
                        <th scope="row">{cx.num("position", &[n], Format::Count)}</th>
                        <td>{cx.num("position.count", &[n], Format::Count)}</td>
                        <td>{cx.num("position.right", &[n], Format::Fixed(2))}</td>
                        <td>{cx.num("position.own", &[n], Format::Fixed(2))}</td>
                    </tr>
                }
            })
            .collect_view()
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Loss by position">
            <table>
                <thead>
                    <tr>
                        <th scope="col">"position"</th>
                        <th scope="col">"sentences"</th>
                        <th scope="col">"after right tokens"</th>
                        <th scope="col">"after its own"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
    .into_any()
}
