//! What cells about tokens share: the choice of a vocabulary, a note on it, and tokens in boxes.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::model_note::card;

/// The input that chooses a vocabulary.
const VOCABULARY: &str = "vocabulary";

/// The choice of a vocabulary, by the names of the models.
pub(crate) fn vocabulary_box(cx: CellCx) -> AnyView {
    cx.verbatim_choice_box(VOCABULARY)
}

/// Where the chosen vocabulary comes from.
pub(crate) fn vocabulary_note(cx: CellCx) -> AnyView {
    let chosen = cx.choice(VOCABULARY);
    let note = move || {
        let name = chosen.get();
        let published = match name.as_str() {
            "GPT-2" => {
                Some("The vocabulary of GPT-2 as OpenAI published it, fetched when you choose it.")
            }
            "BERT" => Some(
                "The vocabulary of BERT without capitals, as Google published it, fetched when you choose it.",
            ),
            "characters" => Some("Each character is a token, and its id is its number in Unicode."),
            "bytes" => Some("Each byte of the text in UTF-8 is a token, and its id is the byte."),
            _ => None,
        };
        match published {
            Some(text) => view! { <span data-label="">{text}</span> }.into_any(),
            None => view! {
                "The vocabulary of " <a href=card(&name) data-label="">{name.clone()}</a>
                ", learned from the texts that the model was trained on."
            }
            .into_any(),
        }
    };
    view! { <p class="cell-note">{note}</p> }.into_any()
}

/// The tokens of a text in boxes, with their ids below where the result has them. The ones with the
/// id `marked` stand out.
pub(crate) fn token_boxes(
    cx: CellCx,
    tokens: &'static str,
    ids: Option<&'static str>,
    label: &'static str,
    marked: Signal<Option<Vec<bool>>>,
) -> AnyView {
    let texts = cx.words(tokens);
    let boxes = move || {
        let each = texts.get().into_iter().enumerate();
        each.map(|(place, text)| {
            let is_marked = move || {
                let marks = |marks: &Option<Vec<bool>>| marks.as_ref()?.get(place).copied();
                (marked.with(marks) == Some(true)).then_some("true")
            };
            view! {
                <li>
                    <span class="token" data-from=format!("{tokens}[{place}]") aria-current=is_marked>
                        {text}
                    </span>
                    {ids.map(|ids| cx.num(ids, &[place], Format::Typed))}
                </li>
            }
        })
        .collect_view()
    };
    view! { <ol class="tokens token-boxes" aria-label=label>{boxes}</ol> }.into_any()
}

/// No token stands out.
pub(crate) fn none_marked() -> Signal<Option<Vec<bool>>> {
    Signal::stored(None)
}
