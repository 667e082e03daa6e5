//! Which weights a cell computed with: a trained model, with a link to its card, or random ones, with their seed.

use leptos::prelude::*;

use super::context::CellCx;
use super::figures::untrained;
use crate::app::site_url;

/// The input of cells that offer several models.
const MODEL: &str = "model";

/// The choice among the input `model` that draws weights from the seed.
const RANDOM: &str = "random";

/// Whether the cell computes with random weights.
pub(crate) fn is_random(cx: CellCx) -> Signal<bool> {
    let model = cx.choice(MODEL);
    Memo::new(move |_| model.with(|name| name == RANDOM)).into()
}

/// Whether the cell computes with the model of this name.
pub(crate) fn is_model(cx: CellCx, name: &'static str) -> Signal<bool> {
    let model = cx.choice(MODEL);
    Memo::new(move |_| model.with(|chosen| chosen == name)).into()
}

/// Controls or words that belong to some choices of the model only.
pub(crate) fn only_if(shown: Signal<bool>, part: impl Fn() -> AnyView + Send + 'static) -> AnyView {
    view! { {move || shown.get().then(&part)} }.into_any()
}

/// The choice of the model; the seed beside it where the weights are random.
pub(crate) fn model_box(cx: CellCx) -> AnyView {
    view! { {cx.choice_box(MODEL)} {only_if(is_random(cx), move || cx.seed_box())} }.into_any()
}

/// The note of a cell that offers several models: which of them computed what stands there.
pub(crate) fn model_note(cx: CellCx) -> AnyView {
    let model = cx.choice(MODEL);
    view! {
        {move || match model.get() {
            name if name == RANDOM => untrained(cx),
            name => trained(&[&name]),
        }}
    }
    .into_any()
}

/// The note of what was computed by these trained models.
pub(crate) fn trained(names: &[&str]) -> AnyView {
    let links: Vec<AnyView> = names
        .iter()
        .enumerate()
        .map(|(i, &name)| {
            let before = match (i, i + 1 == names.len()) {
                (0, _) => "",
                (_, true) => " and ",
                (_, false) => ", ",
            };
            view! { {before} <a href=card(name)>{name.to_owned()}</a> }.into_any()
        })
        .collect();
    let rest = if names.len() == 1 {
        ", whose card says on what and how well"
    } else {
        ", whose cards say on what and how well"
    };
    view! { <p class="cell-note">"trained weights: "{links}{rest}</p> }.into_any()
}

/// The address of a model's card.
fn card(name: &str) -> String {
    site_url(&format!("models/#{name}"))
}
