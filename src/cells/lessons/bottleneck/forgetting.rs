//! The view of `forgetting`: a bar and a translation for each token, and how each fades while the
//! encoder reads on.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::model_note::trained;
use crate::widgets::{Concept, Domain, HeatMap, More};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        {cx.text_box("sentence")}
        <p class="hint">
            "The encoder reads " {reads(cx)} ". Each token in turn is replaced by each of these words: "
            {others(cx)} "."
        </p>
        <section class="panel">
                <p class="panel-title">"How far the final vector moves when this token is replaced"</p>
                <p>"The translation of the sentence: " {own(cx)}</p>
                {bars(cx)}
        </section>
        <More summary="Other replacements">{cx.text_box("others")}</More>
        <More summary="How much less likely the first translation becomes">{rises(cx)}</More>
        <More summary="How the trace fades">
                <HeatMap
                    grid=cx.grid_with("fading", Signal::stored(Vec::new()), "reads", "reads")
                    label="Row: the replaced token. Column: the last token read. Value: how far the state has moved."
                    domain=Domain::Auto
                    format=Format::Percent(0)
                    concept=Concept::Residual
                    numbers=false
                />
                <p>
                    "A bar is the mean distance between the final vectors with and without the replacement, as a share of the vector\u{2019}s length. The vector has "
                    {cx.num("width", &[], Format::Count)} " numbers."
                </p>
                <p>"Read a row from left to right: the replaced token is read, and the tokens after it overwrite its trace. The bars show the last column."</p>
        </More>
        {trained(&["seq2seq-gru"])}
    }
    .into_any()
}

/// The words that replace the token of each position.
fn others(cx: CellCx) -> AnyView {
    let words = cx.words("others");
    let items = move || {
        let words = words.get().into_iter().enumerate();
        words
            .map(|(n, word)| {
                let comma = if n == 0 { "" } else { ", " };
                view! { {comma} <em data-from=format!("others[{n}]")>{word}</em> }
            })
            .collect_view()
    };
    view! { {items} }.into_any()
}

/// The order in which the encoder reads.
fn reads(cx: CellCx) -> AnyView {
    let (reads, tokens) = (cx.words("reads"), cx.words("tokens"));
    let says = move || match reads.get() == tokens.get() {
        true => "from the beginning: the first token first",
        false => "from the end: the last token first",
    };
    view! { {says} }.into_any()
}

/// The translation of the sentence itself.
fn own(cx: CellCx) -> AnyView {
    let texts = cx.words("translation");
    let text = move || texts.get().into_iter().next().unwrap_or_default();
    view! { <em lang="it" data-from="translation[0]">{text}</em> }.into_any()
}

/// For each token the rise of the loss of the sentence's own translation.
fn rises(cx: CellCx) -> AnyView {
    let tokens = cx.words("tokens");
    let items = move || {
        let tokens = tokens.get().into_iter().enumerate();
        tokens
            .map(|(place, token)| {
                view! {
                    <div class="c-score">
                        <dt data-from=format!("tokens[{place}]")>{token}</dt>
                        <dd>{cx.num("rise", &[place], Format::Fixed(2))}</dd>
                    </div>
                }
            })
            .collect_view()
    };
    view! {
        <dl class="readout">{items}</dl>
        <p>"How much the natural logarithm of the first translation\u{2019}s probability falls, a mean over the replacement words. Zero means that the decoder finds it just as likely as before."</p>
    }
    .into_any()
}

/// The translation after one replacement, or that it is the same.
fn changed(cx: CellCx, place: usize) -> AnyView {
    let (replacement, texts) = (cx.words("replacement"), cx.words("changed"));
    let same = cx.value("same", vec![place]);
    let at = move |words: Signal<Vec<String>>| words.get().get(place).cloned().unwrap_or_default();
    let text = move || match same.get() {
        Some(1.0) => "the same".to_owned(),
        _ => at(texts),
    };
    let lang = move || (same.get() != Some(1.0)).then_some("it");
    view! {
        <span class="share-text" class:good=move || same.get() == Some(1.0)>
            <em data-from=format!("replacement[{place}]")>{move || at(replacement)}</em> ": "
            <span lang=lang data-from=format!("changed[{place}]")>{text}</span>
        </span>
    }
    .into_any()
}

fn bars(cx: CellCx) -> AnyView {
    let tokens = cx.words("tokens");
    let computed = cx.computed();
    let longest = Memo::new(move |_| {
        computed.with(|c| {
            let left = c.as_ref().and_then(|c| c.tensor("left"));
            left.map_or(1.0, |left| left.values.iter().copied().fold(1e-9, f64::max))
        })
    });
    let items = move || {
        let tokens = tokens.get().into_iter().enumerate();
        tokens
            .map(|(place, token)| {
                let left = cx.value("left", vec![place]);
                let width =
                    move || format!("--share: {:.4}", left.get().unwrap_or(0.0) / longest.get());
                view! {
                    <li class="share" style=width>
                        <span class="share-word" data-from=format!("tokens[{place}]")>{token}</span>
                        <span class="share-bar"></span>
                        {cx.num("left", &[place], Format::Percent(1))}
                        {changed(cx, place)}
                    </li>
                }
            })
            .collect_view()
    };
    view! { <ul class="shares has-text">{items}</ul> }.into_any()
}
