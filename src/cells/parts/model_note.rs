//! Notes on the weights that a cell computed with: a trained model, with a link to its card, or
//! random ones, with their seed.

use cells::{InputValue, decimal};
use leptos::prelude::*;

use crate::browser::address::site_url;
use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::untrained;
use crate::widgets::Choice;

/// The input of cells that offer several models.
const MODEL: &str = "model";

/// The choice among the input `model` that draws weights from the seed.
const RANDOM: &str = "random";

/// The model that the reader has opened, as a context of the cells that it computes.
#[derive(Clone)]
pub(crate) struct Opened {
    pub(crate) name: String,
    /// It is a decoder.
    pub(crate) is_decoder: bool,
}

/// True while the cell computes with random weights.
pub(crate) fn is_random(cx: CellCx) -> Signal<bool> {
    let model = cx.choice(MODEL);
    Memo::new(move |_| model.with(|name| name == RANDOM)).into()
}

/// True while the cell computes with a decoder, in which no token sees a later one: tiny-gpt, or the
/// reader's own.
pub(crate) fn is_decoder(cx: CellCx) -> Signal<bool> {
    if let Some(Opened { is_decoder, .. }) = use_context() {
        return Signal::stored(is_decoder);
    }
    let model = cx.choice(MODEL);
    Memo::new(move |_| model.with(|name| name == "tiny-gpt")).into()
}

/// Controls or words that belong to some choices of the model only.
pub(crate) fn only_if(shown: Signal<bool>, part: impl Fn() -> AnyView + Send + 'static) -> AnyView {
    view! { {move || shown.get().then(&part)} }.into_any()
}

/// The choice of the model; the seed beside it where the weights are random.
pub(crate) fn model_box(cx: CellCx) -> AnyView {
    view! {
        {cx.verbatim_choice_box(MODEL)}
        {only_if(is_random(cx), move || cx.seed_box())}
    }
    .into_any()
}

/// The choice of layer and head among those that the trained model has, which the result says;
/// nothing for random weights.
pub(crate) fn head_box(cx: CellCx) -> AnyView {
    let one_of = move |label: &'static str, input: &'static str, count: &'static str| {
        let most = cx.value(count, Vec::new());
        let most = Memo::new(move |_| most.get().unwrap_or(1.0) as usize);
        let value = cx.value(input, Vec::new());
        let value = Signal::derive(move || value.get().map(|n| n.to_string()).unwrap_or_default());
        let change = Callback::new(move |number: String| {
            if let Some(number) = decimal::parse(&number) {
                cx.set(input, InputValue::Number(number));
            }
        });
        view! {
            {move || {
                let options: Vec<String> = (1..=most.get()).map(|n| n.to_string()).collect();
                view! { <Choice label options value on_change=change verbatim=true /> }
            }}
        }
        .into_any()
    };
    let random = is_random(cx);
    let trained = Signal::derive(move || !random.get());
    only_if(trained, move || {
        view! { {one_of("Layer", "layer", "layers")} {one_of("Head", "head", "heads")} }.into_any()
    })
}

/// A note on the tokens that a trained model reads; nothing for random weights, whose tokens are
/// words.
pub(crate) fn pieces_note(cx: CellCx) -> AnyView {
    let model = cx.choice(MODEL);
    let opened = use_context::<Opened>().map(|opened| opened.is_decoder);
    let tokens = cx.words("tokens");
    let text = Memo::new(move |_| {
        let pieces = || tokens.with(|tokens| word_pieces(tokens));
        model.with(|name| match (opened, name.as_str()) {
            (Some(false), _) | (None, "tiny-bert") => pieces(),
            (Some(true), _) | (None, "tiny-gpt" | "translator") => BYTE_PAIRS.to_owned(),
            _ => String::new(),
        })
    });
    view! { {move || (!text.with(String::is_empty)).then(|| view! { <p class="hint">{text.get()}</p> })} }
        .into_any()
}

/// What there is to explain about tokens of a WordPiece vocabulary.
fn word_pieces(tokens: &[String]) -> String {
    let has = |found: fn(&str) -> bool| tokens.iter().any(|token| found(token));
    let notes = [
        (has(|token| token == "[CLS]"), SPECIAL),
        (has(|token| token == "[UNK]"), UNKNOWN),
        (has(|token| token.starts_with("##")), WORD_PIECES),
    ];
    let shown = notes.into_iter().filter(|(is_here, _)| *is_here);
    shown.map(|(_, note)| note).collect::<Vec<_>>().join(" ")
}

/// The tokens around every text.
const SPECIAL: &str = "[CLS] and [SEP] are tokens that the model puts before and after every text.";

/// The token of a word that the vocabulary cannot spell.
const UNKNOWN: &str =
    "[UNK] (unknown) replaces a word with characters that the model\u{2019}s vocabulary lacks.";

/// Of a WordPiece vocabulary.
const WORD_PIECES: &str = "The model reads tokens. A word outside its vocabulary is split into several, and ## marks a token that \
     continues a word.";

/// Of a byte-level BPE.
const BYTE_PAIRS: &str = "The model reads tokens. A word outside its vocabulary is split into several. \u{2423} is the space before a \
     word, and \u{27e8}start\u{27e9} is the token that begins every text.";

/// The note of a cell that offers several models: which of them computed the cell.
pub(crate) fn model_note(cx: CellCx) -> AnyView {
    let model = cx.choice(MODEL);
    if use_context::<Opened>().is_some() {
        return trained(&[]);
    }
    view! {
        {move || match model.get() {
            name if name == RANDOM => untrained(cx),
            name => trained(&[&name]),
        }}
    }
    .into_any()
}

/// The note of what was computed by these trained models, or by the one that the reader has opened.
pub(crate) fn trained(names: &[&str]) -> AnyView {
    if let Some(Opened { name, .. }) = use_context() {
        return view! { <p class="cell-note">"computed by the open model, " <span data-label="">{name}</span></p> }
            .into_any();
    }
    let links: Vec<AnyView> = names
        .iter()
        .enumerate()
        .map(|(i, &name)| {
            let before = match (i, i + 1 == names.len()) {
                (0, _) => "",
                (_, true) => " and ",
                (_, false) => ", ",
            };
            view! { {before} <a href=card(name) data-label="">{name.to_owned()}</a> }.into_any()
        })
        .collect();
    let rest = if names.len() == 1 {
        ". Its card says what it was trained on and how well it does."
    } else {
        ". Their cards say what they were trained on and how well they do."
    };
    view! { <p class="cell-note">"trained model: "{links}{rest}</p> }.into_any()
}

/// The address of a model's card.
pub(crate) fn card(name: &str) -> String {
    site_url(&format!("models/#{name}"))
}

#[cfg(test)]
mod tests {
    use super::word_pieces;

    #[test]
    fn only_tokens_that_occur_are_explained() {
        let note = |tokens: &[&str]| {
            let tokens: Vec<String> = tokens.iter().map(|&token| token.to_owned()).collect();
            word_pieces(&tokens)
        };
        let plain = note(&["[CLS]", "a", "ball", "[SEP]"]);
        assert!(plain.contains("[SEP]") && !plain.contains("[UNK]") && !plain.contains("##"));
        assert!(note(&["[CLS]", "[UNK]", "[SEP]"]).contains("[UNK] (unknown)"));
        assert!(note(&["m", "##at"]).starts_with("The model reads tokens"));
        assert_eq!(note(&["a"]), "");
    }
}
