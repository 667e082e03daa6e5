//! The view of `bpe-train`: merges one by one, the text that they were learned from, and another
//! text cut by them.

use cells::InputValue;
use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{curve, step_button, values};
use crate::cells::parts::vocabulary::{none_marked, token_boxes};
use crate::plot::{Chart, ChartView};
use crate::widgets::Concept;

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let possible = cx.value("possible", Vec::new());
    let run = move |_| {
        if let Some(all) = possible.get_untracked() {
            cx.set("merges", InputValue::Number(all));
        }
    };
    view! {
        <div class="controls">
            {cx.text_box("text")}
            <div class="row" role="group" aria-label="Merges">
                {step_button(cx, &["merges"], 1.0, "Merge the next pair")}
                {step_button(cx, &["merges"], -1.0, "Undo")}
                <button type="button" class="button" on:click=run>"Merge all"</button>
            </div>
        </div>
        {token_boxes(cx, "tokens", None, "The text as tokens", newest(cx))}
        <div class="cols-2">
            <section class="panel">
                <p class="panel-title">
                    "Merges so far: " {cx.num("merges", &[], Format::Count)} " of "
                    {cx.num("possible", &[], Format::Count)}
                </p>
                {merges(cx)}
                {next(cx)}
            </section>
            {chart(cx)}
        </div>
        <div class="controls">{cx.text_box("other")}</div>
        {token_boxes(cx, "other.tokens", None, "The other text as tokens", none_marked())}
        <p class="verdict">
            "Tokens: " {cx.num("count", &[], Format::Count)} " for the "
            {cx.num("bytes", &[], Format::Count)} " bytes of the first text, "
            {cx.num("other.count", &[], Format::Count)} " for the "
            {cx.num("other.bytes", &[], Format::Count)} " bytes of the other."
        </p>
    }
    .into_any()
}

/// The tokens that the last merge has made.
fn newest(cx: CellCx) -> Signal<Option<Vec<bool>>> {
    let computed = cx.computed();
    Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let last = values(c, "new").last().copied()?;
            Some(values(c, "ids").into_iter().map(|id| id == last).collect())
        })
    })
}

/// The pair that is merged next.
fn next(cx: CellCx) -> AnyView {
    let pair = cx.words("next");
    let words = move || match &pair.get()[..] {
        [left, right] => view! {
            "The most frequent pair now: " <b data-from="next[0]">{left.clone()}</b> " + "
            <b data-from="next[1]">{right.clone()}</b> ", count "
            {cx.num("next.count", &[0], Format::Count)} "."
        }
        .into_any(),
        _ => view! { "No pair occurs twice any more: this text has nothing left to merge." }
            .into_any(),
    };
    view! { <p>{words}</p> }.into_any()
}

/// The merges in the order of learning, each with the count of its pair.
fn merges(cx: CellCx) -> AnyView {
    let (left, right) = (cx.words("left"), cx.words("right"));
    let each = move || {
        let pairs = left.get().into_iter().zip(right.get()).enumerate();
        pairs
            .map(|(n, (left, right))| {
                view! {
                    <li>
                        <b data-from=format!("left[{n}]")>{left}</b> " + "
                        <b data-from=format!("right[{n}]")>{right}</b> ": "
                        {cx.num("counts", &[n], Format::Count)}
                    </li>
                }
            })
            .collect_view()
    };
    view! { <ol class="merges" aria-label="Merges with the counts of their pairs">{each}</ol> }
        .into_any()
}

/// How many tokens both texts have after each merge.
fn chart(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let line =
                |tensor: &str, name: &str, concept| curve(c, tensor, name, concept, |n| n as f64);
            Some(Chart {
                title: "Tokens after each merge".to_owned(),
                x_label: "merges".to_owned(),
                y_label: "tokens".to_owned(),
                series: vec![
                    line("course", "text", Concept::Key),
                    line("other.course", "other text", Concept::Value),
                ],
                marks: vec![(c.at("merges", &[])?, "now".to_owned())],
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("merges", chart);
    view! { <ChartView chart label="Tokens of both texts after each merge" height=150 /> }
        .into_any()
}
