//! The view of `embedding-rows`: the row of a token beside the product with its one-hot vector, and
//! the nearest tokens.

use cells::InputValue;
use cells::format::Format;
use cells::lessons::tokens::embedding_rows::NEAREST;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::labelled;
use crate::cells::parts::model_note::trained;
use crate::widgets::{Concept, HeatMap, Palette};

/// Words that the model knows well.
const WORDS: [&str; 6] = ["mother", "red", "big", "two", "run", "Tom"];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let rows = labelled(
        cx.grid("rows"),
        |row| {
            ["row of E", "one-hot times E"]
                .get(row)
                .copied()
                .unwrap_or_default()
                .to_owned()
        },
        |column| column.to_string(),
    );
    let pieces = cx.value("pieces", Vec::new());
    let is_cut = Memo::new(move |_| pieces.get().is_some_and(|pieces| pieces > 1.0));
    let token = cx.words("token");
    view! {
        <div class="controls">{cx.text_box("word")} {examples(cx)}</div>
        <p>
            "Token " <b data-from="token[0]">{move || token.with(|texts| texts.first().cloned())}</b>
            ", id " {cx.num("id", &[], Format::Typed)} " of " {cx.num("size", &[], Format::Count)} ". "
            {move || is_cut.get().then(|| view! {
                "The word is " {cx.num("pieces", &[], Format::Count)} " tokens; this is the first."
            })}
        </p>
        <div class="cols-2">
            <section class="panel">
                <p class="panel-title">"The first numbers, computed in two ways"</p>
                <HeatMap
                    grid=rows
                    label="The row of the table, and the product with the one-hot vector"
                    palette=Palette::Diverging
                    format=Format::Fixed(2)
                    concept=Concept::Residual
                />
                <p class="verdict good">
                    "Of all " {cx.num("width", &[], Format::Count)} " numbers, "
                    {cx.num("differing", &[], Format::Count)} " differ in any bit."
                </p>
            </section>
            <section class="panel">
                <p class="panel-title">"Nearest tokens, by the cosine of their rows"</p>
                {nearest(cx)}
                <p class="hint">
                    "Average over all other tokens: " {cx.num("cosine.mean", &[], Format::Fixed(2))}
                </p>
            </section>
        </div>
        {trained(&["tiny-gpt"])}
    }
    .into_any()
}

/// Buttons for some words.
fn examples(cx: CellCx) -> AnyView {
    let word = cx.text("word");
    let button = |own: &'static str| {
        view! {
            <button
                type="button"
                class="button"
                aria-pressed=move || word.with(|word| word == own).to_string()
                on:click=move |_| cx.set("word", InputValue::Text(own.to_owned()))
            >
                {own}
            </button>
        }
    };
    view! {
        <div class="examples" role="group" aria-label="Words">{WORDS.map(button).into_iter().collect_view()}</div>
    }
    .into_any()
}

/// The nearest tokens with their cosines as bars.
fn nearest(cx: CellCx) -> AnyView {
    let words = cx.words("nearest");
    let bars = (0..NEAREST).map(|place| {
        let cosine = cx.value("cosines", vec![place]);
        let share = move || format!("--share: {:.4}", cosine.get().unwrap_or(0.0).max(0.0));
        view! {
            <li class="share" style=share>
                <span class="share-word" data-from=format!("nearest[{place}]")>
                    {move || words.with(|words| words.get(place).cloned())}
                </span>
                <span class="share-bar"></span>
                {cx.num("cosines", &[place], Format::Fixed(2))}
            </li>
        }
    });
    view! { <ul class="shares">{bars.collect_view()}</ul> }.into_any()
}
