//! The loss of every token of a list that is said twice, with switches for all heads: those of
//! tiny-gpt, or of a model that the reader has opened.

use cells::InputValue;
use cells::format::Format;
use cells::lessons::heads::induction::{HEADS, ON, SWITCHES, TOGETHER};
use leptos::prelude::*;
use ndarray::Array2;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{Computed, curve};
use crate::cells::parts::model_note::{only_if, trained};
use crate::cells::parts::said::{is_yours, said_box};
use crate::plot::{Chart, ChartView};
use crate::widgets::{Concept, More};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let controls = view! { {buttons(cx)} {switches(cx)} };
    body(cx, controls.into_any())
}

/// The view of the cell on a model that the reader has opened.
pub(crate) fn opened_view(cx: CellCx) -> AnyView {
    body(cx, opened_switches(cx))
}

fn body(cx: CellCx, controls: AnyView) -> AnyView {
    let yours = is_yours(cx);
    let list = Signal::derive(move || !yours.get());
    view! {
        <div class="controls">{said_box(cx)}</div>
        {losses(cx, cx.computed())}
        <div class="cols-2">
            <div class="stack">{controls}</div>
            <div class="stack">
                {means(cx, list)}
                <p class="hint">
                    <span data-label="">"1.3 is head 3 of layer 1."</span>
                    " An even guess among all tokens of the vocabulary costs "
                    {cx.num("guess", &[], Format::Fixed(2))} "."
                </p>
            </div>
        </div>
        <More summary="The tokens and their losses">{table(cx)}</More>
        {trained(&["tiny-gpt"])}
    }
    .into_any()
}

/// The losses with all heads on, and as switched now.
fn losses(cx: CellCx, computed: Computed) -> AnyView {
    let yours = is_yours(cx);
    let chart = Signal::derive(move || {
        let marks = |list: f64| vec![(list + 1.0, "said again".to_owned())];
        computed.with(|c| {
            let c = c.as_ref()?;
            let line = |tensor, name, concept| curve(c, tensor, name, concept, |n| (n + 1) as f64);
            let list = c.at("list", &[]).filter(|_| !yours.get());
            Some(Chart {
                title: "Loss of each token".to_owned(),
                x_label: "token".to_owned(),
                y_label: "loss, nats".to_owned(),
                series: vec![
                    line("loss", "all heads on", Concept::Residual),
                    line("loss.now", "as switched now", Concept::Weight),
                ],
                marks: list.map(marks).unwrap_or_default(),
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("loss", chart);
    view! { <ChartView chart label="Loss of each token" height=180 format=Format::Fixed(2) /> }
        .into_any()
}

/// Buttons for heads that belong together.
fn buttons(cx: CellCx) -> AnyView {
    let all = TOGETHER.map(|(words, off)| {
        let press = move |_| {
            let switches = SWITCHES.iter().enumerate();
            let values = switches.map(|(number, &(name, _))| {
                (name, InputValue::Toggle(!off.contains(&number)))
            });
            cx.set_all(values.collect());
        };
        view! { <button type="button" class="button" on:click=press><span data-label="">{words}</span></button> }
    });
    view! {
        <div class="row" role="group" aria-label="Switch heads together">{all.collect_view()}</div>
    }
    .into_any()
}

/// A switch for each head, a row for each layer.
fn switches(cx: CellCx) -> AnyView {
    let rows = SWITCHES.chunks(HEADS).map(|row| {
        let row = row.iter().map(|&(name, _)| cx.toggle_box(name));
        view! { <div class="head-switches">{row.collect_view()}</div> }
    });
    view! { <div role="group" aria-label="Heads, layer by layer">{rows.collect_view()}</div> }
        .into_any()
}

/// A switch for each head of an opened model, a row for each layer.
fn opened_switches(cx: CellCx) -> AnyView {
    let on = cx.matrix(ON);
    let sizes = Memo::new(move |_| on.with(|on| on.dim()));
    let set = move |change: &dyn Fn(&mut Array2<f32>)| {
        let mut now = on.get_untracked();
        change(&mut now);
        cx.set(ON, InputValue::Matrix(now));
    };
    let switch = move |layer: usize, head: usize| {
        let is_on = move || on.with(|on| on.get((layer, head)).is_some_and(|&on| on != 0.0));
        let press = move |_| {
            set(&|now| {
                if let Some(now) = now.get_mut((layer, head)) {
                    *now = 1.0 - *now;
                }
            });
        };
        let name = format!("{}.{}", layer + 1, head + 1);
        view! {
            <button type="button" class="button" aria-pressed=move || is_on().to_string() on:click=press>
                <span data-label="">{name}</span>
            </button>
        }
    };
    let row = move |layer: usize, heads: usize| {
        let row = (0..heads).map(|head| switch(layer, head));
        view! { <div class="head-buttons">{row.collect_view()}</div> }
    };
    let rows = move || {
        let (layers, heads) = sizes.get();
        (0..layers).map(|layer| row(layer, heads)).collect_view()
    };
    let all = move |value: f32| move |_| set(&|now| now.fill(value));
    view! {
        <div class="row" role="group" aria-label="Switch heads together">
            <button type="button" class="button" on:click=all(1.0)>"All on"</button>
            <button type="button" class="button" on:click=all(0.0)>"All off"</button>
        </div>
        <div class="scroll" tabindex="0" role="group" aria-label="Heads that are on, layer by layer">{rows}</div>
    }
    .into_any()
}

/// The mean losses.
fn means(cx: CellCx, list: Signal<bool>) -> AnyView {
    let first = move || {
        view! {
            <tr>
                <th scope="row">"first time"</th>
                <td>{cx.num("first", &[], Format::Fixed(2))}</td>
                <td>{cx.num("first.now", &[], Format::Fixed(2))}</td>
            </tr>
        }
        .into_any()
    };
    let name = move || {
        if list.get() {
            "second time"
        } else {
            "whole text"
        }
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Mean losses">
            <table>
                <caption>"Mean loss, " {cx.num("off", &[], Format::Count)} " heads off"</caption>
                <thead>
                    <tr>
                        <th scope="col">"tokens"</th>
                        <th scope="col">"all on"</th>
                        <th scope="col">"now"</th>
                    </tr>
                </thead>
                <tbody>
                    {only_if(list, first)}
                    <tr>
                        <th scope="row">{name}</th>
                        <td>{cx.num("mean", &[], Format::Fixed(3))}</td>
                        <td data-train="mean">{cx.num("mean.now", &[], Format::Fixed(3))}</td>
                    </tr>
                </tbody>
            </table>
        </div>
    }
    .into_any()
}

/// Every token with its losses.
fn table(cx: CellCx) -> AnyView {
    let tokens = cx.words("predicted");
    let rows = move || {
        let row = |(t, token): (usize, String)| {
            view! {
                <tr>
                    <th scope="row" data-label="">{token}</th>
                    <td>{cx.num("loss", &[t], Format::Fixed(2))}</td>
                    <td>{cx.num("loss.now", &[t], Format::Fixed(2))}</td>
                </tr>
            }
        };
        tokens.get().into_iter().enumerate().map(row).collect_view()
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Tokens and their losses">
            <table>
                <caption class="vh">"Each token, its loss with all heads on, and its loss now"</caption>
                <thead>
                    <tr>
                        <th scope="col">"token"</th>
                        <th scope="col">"all on"</th>
                        <th scope="col">"now"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
    .into_any()
}
