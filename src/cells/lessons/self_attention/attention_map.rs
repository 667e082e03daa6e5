//! The view of `attention-map`: choose a word and see what it takes from every other.

use cells::format::Format;
use cells::input::Inputs;
use cells::lessons::self_attention::attention_map::{EXAMPLES, Example};
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::frame::selection::of_rows;
use crate::cells::parts::figures::later_pairs;
use crate::cells::parts::model_note::{
    head_box, is_random, model_box, model_note, only_if, pieces_note,
};
use crate::widgets::{Arcs, Concept, Domain, HeatMap, More};

pub(crate) fn view(cx: CellCx) -> AnyView {
    let grid = cx.grid_with("weights", Signal::stored(Vec::new()), "tokens", "tokens");
    let tokens = cx.words("tokens");
    let word = cx.selected_token("selected", tokens, cx.text("sentence"));
    let row = Memo::new(move |_| word.get().filter(|&w| w < tokens.with(Vec::len)));
    let marked = Signal::derive(move || match row.get() {
        Some(r) => (0..tokens.with(Vec::len)).map(|c| (r, c)).collect(),
        None => Vec::new(),
    });
    let (random, asked) = (is_random(cx), cx.toggle("causal"));
    let model = cx.choice("model");
    let hidden = Signal::derive(move || {
        let is_causal = if random.get() {
            asked.get()
        } else {
            model.with(|m| m == "tiny-gpt")
        };
        let count = if is_causal { tokens.with(Vec::len) } else { 0 };
        later_pairs(count)
    });
    view! {
        {cx.text_box("sentence")}
        <Arcs tokens weights=grid label="Choose a word: arcs lead to the words that it takes from" source="tokens" selected=word />
        {pieces_note(cx)}
        {examples(cx)}
        <div class="controls">
            {model_box(cx)} {head_box(cx)}
            {only_if(is_random(cx), move || cx.toggle_box("causal"))}
        </div>
        <More summary="All weights as a map">
            <div class="cols-2">
                {move || row.get().map(|row| bars(cx, row, tokens.get()))}
                <HeatMap
                    grid=grid
                    label="Attention weights: each row is a word that attends, each column a word that it attends to"
                    domain=Signal::stored(Domain::Fixed(0.0, 1.0))
                    format=Format::Fixed(2)
                    concept=Concept::Weight
                    selected=of_rows(word)
                    mark=marked
                    hidden
                />
            </div>
        </More>
        {model_note(cx)}
    }
    .into_any()
}

/// Buttons that show what heads of the trained model do: on their sentence, or on the reader's own.
fn examples(cx: CellCx) -> AnyView {
    let button = move |example: Example| {
        let shown = Memo::new(move |_| {
            let now = cx.all_inputs();
            example
                .head_inputs()
                .iter()
                .all(|(name, value)| now.0.get(*name) == Some(value))
        });
        let show = move |_| {
            let sentence = |inputs: Inputs| inputs.0.get("sentence").cloned();
            let now = sentence(cx.all_inputs());
            let is_ours = now == sentence(cx.initial_inputs())
                || example
                    .inputs()
                    .into_iter()
                    .any(|(_, value)| Some(value) == now);
            cx.set_all(if is_ours {
                example.inputs()
            } else {
                example.head_inputs()
            });
        };
        view! {
            <button type="button" class="button" aria-pressed=move || shown.get().to_string()
                on:click=show>{example.label}</button>
        }
    };
    view! {
        <div class="examples" role="group" aria-label="What heads of tiny-bert do">
            {EXAMPLES.map(button).into_iter().collect_view()}
        </div>
    }
    .into_any()
}

/// One row of the weights as bars under the words.
fn bars(cx: CellCx, row: usize, tokens: Vec<String>) -> AnyView {
    let asking = tokens.get(row).cloned().unwrap_or_default();
    let items = tokens.into_iter().enumerate().map(|(column, token)| {
        let weight = cx.value("weights", vec![row, column]);
        let width = move || format!("--share: {:.4}", weight.get().unwrap_or(0.0));
        view! {
            <li class="share" style=width>
                <span class="share-word" data-from=format!("tokens[{column}]")>{token}</span>
                <span class="share-bar"></span>
                {cx.num("weights", &[row, column], Format::Percent(1))}
            </li>
        }
    });
    view! {
        <div class="panel">
            <p class="share-title">
                "What " <strong data-from=format!("tokens[{row}]")>{asking}</strong> " attends to"
            </p>
            <ul class="shares">{items.collect_view()}</ul>
        </div>
    }
    .into_any()
}
