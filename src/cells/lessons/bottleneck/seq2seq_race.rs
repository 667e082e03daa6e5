//! The view of `seq2seq-race`: one sentence, three translations.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::model_note::trained;

/// Names of the models' texts, and what a reader calls them.
pub(crate) const RUNNERS: [(&str, &str); 3] = [
    ("fixed", "GRU, one fixed vector"),
    ("attention", "GRU with attention"),
    ("transformer", "Transformer"),
];

/// The files' names, for the cards.
pub(crate) const CARDS: [&str; 3] = ["seq2seq-gru", "seq2seq-attention", "translator"];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        {cx.text_box("sentence")}
        <div class="scroll" tabindex="0" role="region" aria-label="Three translations">
            <table>
                <thead>
                    <tr>
                        <th scope="col">"model"</th>
                        <th scope="col" class="is-text">"Italian"</th>
                        <th scope="col">"tokens written"</th>
                    </tr>
                </thead>
                <tbody>{RUNNERS.map(|(name, label)| row(cx, name, label)).collect_view()}</tbody>
            </table>
        </div>
        {length(cx)}
        <p>
            "All three read the same tokens: " {reads(cx)}
            ". A token that continues a word begins with a plus sign. At each step, each model writes its most likely token."
        </p>
        {trained(&CARDS)}
    }
    .into_any()
}

fn row(cx: CellCx, name: &'static str, label: &'static str) -> AnyView {
    let texts = cx.words(name);
    let text = move || texts.get().into_iter().next().unwrap_or_default();
    let tokens: &'static str = match name {
        "fixed" => "fixed.tokens",
        "attention" => "attention.tokens",
        _ => "transformer.tokens",
    };
    view! {
        <tr>
            <th scope="row">{label}</th>
            <td class="is-text" lang="it" data-race=name data-from=format!("{name}[0]")>{text}</td>
            <td>{cx.num(tokens, &[], Format::Count)}</td>
        </tr>
    }
    .into_any()
}

/// Length of the sentence beside the lengths that the models learned from.
fn length(cx: CellCx) -> AnyView {
    let (words, most) = (
        cx.value("words", Vec::new()),
        cx.value("longest.learned", Vec::new()),
    );
    let longer = Memo::new(move |_| words.get() > most.get());
    let says = move || {
        if longer.get() {
            ", more than in any sentence that these models were trained on, which had at most "
        } else {
            ". The models were trained on sentences of at most "
        }
    };
    view! {
        <p class="verdict" class:bad=move || longer.get()>
            "Your sentence has " {cx.num("words", &[], Format::Count)} " words" {says}
            {cx.num("longest.learned", &[], Format::Count)} " words."
        </p>
    }
    .into_any()
}

/// The tokens that the models read.
fn reads(cx: CellCx) -> AnyView {
    let tokens = cx.words("fixed.reads");
    let items = move || {
        let tokens = tokens.get().into_iter().enumerate();
        tokens
            .map(|(n, token)| {
                view! { {if n == 0 { "" } else { " " }} <em data-from=format!("fixed.reads[{n}]")>{token}</em> }
            })
            .collect_view()
    };
    view! { <span data-race="reads">{items}</span> }.into_any()
}
