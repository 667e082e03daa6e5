//! The panels of a sentence encoder: the similarity of two sentences, and predictions for gaps
//! where the model has a head for them.

use cells::format::Format;
use leptos::prelude::*;
use worker::model::protocol::{Compared, Filled, ModelInfo, ModelRequest};

use super::answers::Answers;
use super::inside::share;
use super::message::problem;
use super::session::Lab;
use super::text::visible;
use crate::widgets::Num;

/// The panels of an encoder.
pub(super) fn sentences_panel(lab: Lab, loaded: &ModelInfo) -> AnyView {
    let numbers = !loaded.has_vocabulary;
    let note = numbers.then(|| {
        let words = "This model came without a vocabulary, so its text is shown as token ids.";
        view! { <p class="cell-note">{words}</p> }
    });
    let fills = (loaded.fills && !numbers).then(|| gaps(lab));
    view! {
        <div class="lab-text">
            {note}
            {similarity(lab, numbers)}
            {fills}
            {problem(lab.answers.error)}
        </div>
    }
    .into_any()
}

/// Sends a request unless an answer is awaited.
fn ask(lab: Lab, request: ModelRequest) {
    let Answers { busy, error, .. } = lab.answers;
    if !busy.get_untracked() {
        busy.set(true);
        error.set(None);
        lab.send(request);
    }
}

fn similarity(lab: Lab, numbers: bool) -> AnyView {
    let firsts = match numbers {
        true => ["101 1996 4633 102", "101 2009 102"],
        false => ["The weather is lovely today.", "It's so sunny outside!"],
    };
    let [first, second] = firsts.map(|text| RwSignal::new(text.to_owned()));
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        lab.answers.compared.set(None);
        let (first, second) = (first.get_untracked(), second.get_untracked());
        ask(lab, ModelRequest::Compare { first, second });
    };
    view! {
        <form class="lab-text" on:submit=submit>
            {field("first", "First sentence", first)}
            {field("second", "Second sentence", second)}
            <button type="submit" class="button primary" aria-disabled=move || lab.answers.busy.get().to_string()>"Compare"</button>
        </form>
        <div class="lab-text" aria-live="polite">{move || lab.answers.compared.get().map(compared)}</div>
    }
    .into_any()
}

fn field(name: &'static str, words: &'static str, text: RwSignal<String>) -> AnyView {
    view! {
        <label class="field"><span>{words}</span>
            <input type="text" name=name autocomplete="off"
                prop:value=move || text.get() on:input=move |event| text.set(event_target_value(&event)) />
        </label>
    }
    .into_any()
}

fn compared(found: Compared) -> AnyView {
    let Compared {
        tokens: [first, second],
        similarity,
        elapsed_ms,
    } = found;
    let value = Signal::stored(Some(f64::from(similarity)));
    view! {
        <dl class="lab-facts">
            <div class="lab-similarity"><dt>"Cosine similarity"</dt>
                <dd><Num value from="similarity[0,1]" format=Format::Fixed(4) /></dd></div>
            <div><dt>"Time"</dt><dd>{format!("{elapsed_ms:.0} ms")}</dd></div>
        </dl>
        {tokens("Tokens of the first sentence", first)}
        {tokens("Tokens of the second sentence", second)}
    }
    .into_any()
}

/// Tokens in a row, to be read.
fn tokens(label: &'static str, tokens: Vec<String>) -> AnyView {
    let tokens = tokens.iter().map(|token| {
        view! { <li><span class="token">{visible(token)}</span></li> }
    });
    view! {
        <div class="lab-tokens"><ol class="tokens" aria-label=label>{tokens.collect_view()}</ol></div>
    }
    .into_any()
}

fn gaps(lab: Lab) -> AnyView {
    let text = RwSignal::new("The capital of France is [MASK].".to_owned());
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        lab.answers.filled.set(None);
        ask(lab, ModelRequest::Fill(text.get_untracked()));
    };
    view! {
        <form class="lab-text" on:submit=submit>
            {field("gaps", "A text with a [MASK] for each gap", text)}
            <button type="submit" class="button primary" aria-disabled=move || lab.answers.busy.get().to_string()>"Fill the gaps"</button>
        </form>
        <div class="lab-text" aria-live="polite">{move || lab.answers.filled.get().map(filled)}</div>
    }
    .into_any()
}

fn filled(found: Filled) -> AnyView {
    let lists = found
        .gaps
        .into_iter()
        .enumerate()
        .map(|(n, (gap, candidates))| {
            let rows = candidates.into_iter().enumerate().map(|(k, candidate)| {
                let from = format!("candidates[{gap},{k}]");
                share(
                    visible(candidate.text.trim_start()),
                    candidate.probability,
                    from,
                )
            });
            view! {
                <div class="panel lab-candidates">
                    <p class="share-title">{format!("Gap {}", n + 1)}</p>
                    <ul class="shares">{rows.collect_view()}</ul>
                </div>
            }
        });
    view! {
        {tokens("Tokens of the text", found.tokens)}
        <div class="lab-inside">{lists.collect_view()}</div>
    }
    .into_any()
}
