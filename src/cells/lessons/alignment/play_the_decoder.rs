//! The reader plays the decoder: four sliders for the scores of *occhi*, and the loss.

use cells::format::Format;
use cells::{InputKind, InputValue};
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::lessons::alignment::alignment_scores::{FEATURES, SOURCE};
use crate::cells::parts::figures::shares;
use crate::widgets::More;

/// The inputs: a score for each source word, in the order of [`SOURCE`].
const SCORES: [&str; 4] = ["she", "has", "blue", "eyes"];

/// The words that may follow.
const TARGET: [&str; 3] = ["occhi", "blu", "ha"];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls">
            {SCORES.map(|name| cx.slider(name, Format::Fixed(2))).collect_view()}
            <div class="row" role="group" aria-label="Let the gradient move the scores">
                {zero_button(cx)} {gradient_button(cx, "next.one", "One update")}
                {gradient_button(cx, "next.ten", "Ten updates")}
            </div>
        </div>
        {loss(cx)}
        <section class="panel">
            <p class="panel-title">"Weights while \u{201c}occhi\u{201d} is written"</p>
            {shares(cx, "weights", SOURCE)}
        </section>
        <More summary="Context and probabilities">{mixture(cx)}</More>
        <More summary="The gradient for each score">{gradient(cx)}</More>
    }
    .into_any()
}

/// A button that puts all scores back to zero, the even mixture.
fn zero_button(cx: CellCx) -> AnyView {
    let zero = move |_| cx.set_all(SCORES.map(|name| (name, InputValue::Number(0.0))).to_vec());
    view! { <button type="button" class="button" on:click=zero>"Even scores"</button> }.into_any()
}

/// A button that moves the four sliders to the computed scores after some updates, within their
/// limits.
fn gradient_button(cx: CellCx, tensor: &'static str, words: &'static str) -> AnyView {
    let targets = SCORES.map(|name| {
        let place = SCORES.iter().position(|other| *other == name);
        (name, cx.value(tensor, place.into_iter().collect()))
    });
    let press = move |_| {
        let found = targets.iter().filter_map(|(name, to)| {
            let InputKind::Number { min, max, .. } = cx.input_spec(name)?.kind else {
                return None;
            };
            let to = to.get_untracked()?.clamp(min, max);
            Some((*name, InputValue::Number(to)))
        });
        let found: Vec<_> = found.collect();
        if found.len() == SCORES.len() {
            cx.set_all(found);
        }
    };
    view! { <button type="button" class="button" on:click=press>{words}</button> }.into_any()
}

fn loss(cx: CellCx) -> AnyView {
    view! {
        <dl class="readout">
            <div class="c-score">
                <dt>"loss of \u{201c}occhi\u{201d}, nats"</dt>
                <dd>{cx.num("loss", &[], Format::Fixed(4))}</dd>
            </div>
            <div>
                <dt>"loss of an even mixture"</dt>
                <dd>{cx.num("even.loss", &[], Format::Fixed(4))}</dd>
            </div>
            <div>
                <dt>"lowest loss of any mixture"</dt>
                <dd>{cx.num("best.loss", &[], Format::Fixed(4))}</dd>
            </div>
        </dl>
    }
    .into_any()
}

fn mixture(cx: CellCx) -> AnyView {
    let context = FEATURES.iter().enumerate().map(|(place, &name)| {
        view! {
            <div class="c-output">
                <dt>"context: " <span data-label="">{name}</span></dt>
                <dd>{cx.num("context", &[place], Format::Fixed(3))}</dd>
            </div>
        }
    });
    let words = TARGET.iter().enumerate().map(|(place, &word)| {
        view! {
            <div>
                <dt>"probability of \u{201c}" <span data-label="">{word}</span> "\u{201d}"</dt>
                <dd>{cx.num("probabilities", &[place], Format::Percent(1))}</dd>
            </div>
        }
    });
    view! { <dl class="readout">{context.collect_view()} {words.collect_view()}</dl> }.into_any()
}

fn gradient(cx: CellCx) -> AnyView {
    let rows = SOURCE.iter().enumerate().map(|(place, &word)| {
        view! {
            <div class="c-score">
                <dt data-label="">{word}</dt>
                <dd>{cx.num("gradient", &[place], Format::Fixed(4))}</dd>
            </div>
        }
    });
    view! {
        <dl class="readout">{rows.collect_view()}</dl>
        <p>"A negative number means that a higher score would lower the loss. An update subtracts this gradient from the scores, at a learning rate of one."</p>
    }
    .into_any()
}
