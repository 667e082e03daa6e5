//! A token of the text: the most likely tokens in its position, and its attention weights.

use cells::format::{Format, number};
use leptos::prelude::*;
use worker::model::protocol::{AttentionPosition, Candidate, ModelRequest};

use super::message::problem;
use super::session::Lab;
use super::text::visible;

/// Number of tokens that are listed with their weights; the others are summed up.
const LISTED: usize = 16;

/// The two panels of the chosen token; of the newest where none is chosen.
pub(super) fn inside(lab: Lab, layers: usize, heads: usize) -> AnyView {
    let text = lab.text;
    let (layer, head) = (RwSignal::new(0_usize), RwSignal::new(0_usize));
    Effect::new(move |_| {
        if let Some(token) = text.selected.get() {
            let (layer, head) = (layer.get(), head.get());
            lab.send(ModelRequest::Attend(AttentionPosition {
                token,
                layer,
                head,
            }));
        }
    });
    let shown = Memo::new(move |_| {
        let last = text.tokens.with(Vec::len).checked_sub(1)?;
        Some(text.selected.get().unwrap_or(last).min(last))
    });
    let candidates = move || {
        let at = shown.get()?;
        let list = text
            .tokens
            .with(|tokens| Some(tokens.get(at)?.candidates.clone()))?;
        (!list.is_empty()).then(|| chosen_from(at, list))
    };
    view! {
        <div class="lab-inside">
            {candidates}
            {move || text.selected.get().map(|_| attention(lab, (layer, layers), (head, heads)))}
        </div>
    }
    .into_any()
}

fn chosen_from(at: usize, list: Vec<Candidate>) -> AnyView {
    let items = list.into_iter().enumerate().map(|(n, candidate)| {
        let from = format!("candidates[{at},{n}]");
        let words = visible(&candidate.text);
        let taken = candidate.taken.then(|| view! { <span class="vh">", taken"</span> });
        view! {
            <li class="share" class:is-taken=candidate.taken style=format!("--share: {:.4}", candidate.probability)>
                <span class="share-word">{words}{taken}</span>
                <span class="share-bar"></span>
                {percent(candidate.probability, from)}
            </li>
        }
    });
    view! {
        <div class="panel lab-candidates">
            <p class="share-title">"The model\u{2019}s most likely tokens at this position; the chosen one is bold"</p>
            <ul class="shares">{items.collect_view()}</ul>
        </div>
    }
    .into_any()
}

/// A word with its share as a bar and a number.
pub(super) fn share(word: String, share: f32, from: String) -> AnyView {
    view! {
        <li class="share" style=format!("--share: {share:.4}")>
            <span class="share-word">{word}</span>
            <span class="share-bar"></span>
            {percent(share, from)}
        </li>
    }
    .into_any()
}

fn percent(share: f32, from: String) -> AnyView {
    let format = Format::Percent(1);
    view! {
        <span class="num" data-from=from data-format=format.to_string()>{number(f64::from(share), format)}</span>
    }
    .into_any()
}

fn attention(
    lab: Lab,
    (layer, layers): (RwSignal<usize>, usize),
    (head, heads): (RwSignal<usize>, usize),
) -> AnyView {
    let weights = move || {
        let text = lab.text;
        let chosen = text.selected.get()?;
        let (place, weights) = lab.answers.attention.get()?;
        (place.token == chosen).then(|| weights_list(lab, place, &weights))
    };
    view! {
        <div class="panel lab-attention">
            <p class="share-title">"How much the chosen token attends to each token up to it"</p>
            <div class="lab-row">
                {which("layer", "Layer", layer, layers)}
                {which("head", "Head", head, heads)}
            </div>
            {problem(lab.answers.attention_error)}
            {weights}
        </div>
    }
    .into_any()
}

pub(super) fn which(
    name: &'static str,
    words: &'static str,
    at: RwSignal<usize>,
    count: usize,
) -> AnyView {
    let options = (0..count).map(|n| {
        view! { <option value=n.to_string() selected=move || at.get() == n>{n + 1}</option> }
    });
    let change = move |event| at.set(event_target_value(&event).parse().unwrap_or(0));
    view! {
        <label class="field short"><span>{words}</span>
            <select name=name on:change=change>{options.collect_view()}</select>
        </label>
    }
    .into_any()
}

/// The largest `count` weights in the order of the text, and the sum of the others.
fn largest(weights: &[f32], count: usize) -> (Vec<(usize, f32)>, f32) {
    let mut all: Vec<(usize, f32)> = weights.iter().copied().enumerate().collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    let rest = all.split_off(all.len().min(count));
    all.sort_by_key(|&(n, _)| n);
    (all, rest.iter().map(|(_, weight)| weight).sum())
}

/// Bars of the largest weights of a place, and how many others there are, with their sum.
pub(super) fn shares_of(
    place: AttentionPosition,
    weights: &[f32],
    count: usize,
    word: impl Fn(usize) -> String,
) -> (AnyView, Option<(usize, f32)>) {
    let (listed, rest) = largest(weights, count);
    let more = weights.len() - listed.len();
    let rows = listed.into_iter().map(|(n, weight)| {
        let AttentionPosition { layer, head, token } = place;
        let from = format!("attention.weights[{layer},{head},{token},{n}]");
        share(word(n), weight, from)
    });
    let rows = rows.collect_view().into_any();
    (rows, (more > 0).then_some((more, rest)))
}

fn weights_list(lab: Lab, place: AttentionPosition, weights: &[f32]) -> AnyView {
    let tokens = lab.text.tokens.get_untracked();
    let word = |n: usize| {
        tokens
            .get(n)
            .map_or_else(String::new, |token| visible(&token.text))
    };
    let (rows, more) = shares_of(place, weights, LISTED, word);
    let rest = more.map(|(count, sum)| {
        let sum = number(f64::from(sum), Format::Percent(1));
        view! { <p class="hint">{format!("The other {count} tokens together: {sum}.")}</p> }
    });
    view! { <ul class="shares">{rows}</ul> {rest} }.into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_weights_stand_in_the_order_of_the_text() {
        let weights: Vec<f32> = (0..20)
            .map(|n| if n % 2 == 0 { 0.08 } else { 0.02 })
            .collect();
        let (listed, rest) = largest(&weights, LISTED);
        assert_eq!(listed.len(), LISTED);
        assert!(listed.windows(2).all(|two| two[0].0 < two[1].0));
        assert_eq!(
            listed.iter().filter(|(_, weight)| *weight == 0.08).count(),
            10
        );
        assert!((rest - 4.0 * 0.02).abs() < 1e-6);
        assert_eq!(largest(&[1.0], LISTED), (vec![(0, 1.0)], 0.0));
    }
}
