//! A neuron: what fires it, what it promotes, and the next token with more or less of it.

use cells::InputValue;
use cells::format::Format;
use cells::lessons::mlp::neuron::TOP;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::bars::likely;
use crate::cells::parts::model_note::trained;
use crate::widgets::More;

/// Neurons to begin with: what the button says, block and neuron.
const EXAMPLES: [(&str, f64, f64); 4] = [
    ("Possession", 2.0, 433.0),
    ("Full stop", 3.0, 452.0),
    ("After \u{201c}to\u{201d}", 2.0, 48.0),
    ("After \u{201c}I\u{201d}", 3.0, 50.0),
];

/// Next tokens that are shown.
const NEXT: usize = 3;

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls">
            <div class="row" role="group" aria-label="Examples">
                {EXAMPLES.map(|(words, layer, neuron)| example(cx, words, layer, neuron)).collect_view()}
            </div>
            {cx.slider("neuron", Format::Count)}
        </div>
        <div class="cols-2">
            {list(cx, "Fires most in our sentences", "fires.texts", "fires")}
            {list(cx, "Promotes these tokens most", "promoted.words", "promoted")}
        </div>
        <div class="controls">{cx.text_box("sentence")} {cx.slider("added", Format::Typed)}</div>
        <div class="cols-2">
            {likely(cx, "Next token, unchanged", ("before.words", "before.probabilities"), NEXT)}
            {likely(cx, "Next token, as set now", ("after.words", "after.probabilities"), NEXT)}
        </div>
        {verdict(cx)}
        <More summary="The block, and the activation at every token">
            {cx.slider("layer", Format::Count)} {activations(cx)}
        </More>
        {trained(&["tiny-gpt"])}
    }
    .into_any()
}

/// A button that chooses a neuron.
fn example(cx: CellCx, words: &'static str, layer: f64, neuron: f64) -> AnyView {
    view! {
        <button
            type="button"
            class="button"
            on:click=move |_| {
                cx.set_all(vec![
                    ("layer", InputValue::Number(layer)),
                    ("neuron", InputValue::Number(neuron)),
                ]);
            }
        >
            {words}
        </button>
    }
    .into_any()
}

/// Texts with a number each.
fn list(cx: CellCx, title: &'static str, words: &'static str, numbers: &'static str) -> AnyView {
    let words = cx.words(words);
    let row = move |n: usize| {
        let word = move || words.with(|words| words.get(n).cloned().unwrap_or_default());
        view! {
            <tr>
                <td data-label="">{word}</td>
                <td>{cx.num(numbers, &[n], Format::Fixed(2))}</td>
            </tr>
        }
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label=title>
            <table>
                <caption>{title}</caption>
                <tbody>{(0..TOP).map(row).collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}

fn verdict(cx: CellCx) -> AnyView {
    view! {
        <p class="verdict">
            "Its activation at the last token is " {cx.num("activation", &[], Format::Fixed(2))}
            ", set to " {cx.num("activation.now", &[], Format::Fixed(2))}
            ". The six tokens together: " {cx.num("before.promoted", &[], Format::Percent(1))} ", now "
            <span data-train="promoted">{cx.num("after.promoted", &[], Format::Percent(1))}</span> "."
        </p>
    }
    .into_any()
}

/// The activation at every token of the sentence.
fn activations(cx: CellCx) -> AnyView {
    let tokens = cx.words("tokens");
    let row = move |n: usize| {
        let word = move || tokens.with(|tokens| tokens.get(n).cloned().unwrap_or_default());
        view! {
            <tr>
                <td data-label="">{word}</td>
                <td>{cx.num("activations", &[n], Format::Fixed(2))}</td>
            </tr>
        }
    };
    let count = Memo::new(move |_| tokens.with(Vec::len));
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="The activation at every token">
            <table>
                <caption>"The activation at every token of the sentence"</caption>
                <tbody>{move || (0..count.get()).map(row).collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}
