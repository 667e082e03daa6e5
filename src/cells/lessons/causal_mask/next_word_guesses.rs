//! A row for each position: what the model has seen, the next token, and what the model guessed.

use cells::format::Format;
use cells::lessons::causal_mask::next_word_guesses::TOP;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::model_note::trained;
use crate::widgets::More;

/// Names of what one mask gives.
#[derive(Clone, Copy)]
struct Names {
    seen: &'static str,
    guesses: &'static str,
    probabilities: &'static str,
    right: &'static str,
    count: &'static str,
}

const WITH: Names = Names {
    seen: "with.seen",
    guesses: "with.guesses",
    probabilities: "with.probabilities",
    right: "with.right",
    count: "with.count",
};

const WITHOUT: Names = Names {
    seen: "without.seen",
    guesses: "without.guesses",
    probabilities: "without.probabilities",
    right: "without.right",
    count: "without.count",
};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let mask = cx.toggle("mask");
    let table = move || table(cx, if mask.get() { WITH } else { WITHOUT });
    view! {
        <div class="controls">{cx.text_box("sentence")} {cx.toggle_box("mask")}</div>
        {table}
        <p class="verdict">
            "Right first guesses, of " {cx.num("tokens", &[], Format::Count)} ": "
            {cx.num(WITH.count, &[], Format::Count)} " with the mask, "
            {cx.num(WITHOUT.count, &[], Format::Count)} " without it."
        </p>
        <More summary="The same tokens, one at a time">
            <p>
                "Read one by one with a key-value cache, no token has a later one to see, so no mask is needed. Largest difference from the logits of the one pass: "
                {cx.num("fed.difference", &[], Format::Power(1))}
            </p>
        </More>
        {trained(&["tiny-gpt"])}
    }
    .into_any()
}

fn table(cx: CellCx, names: Names) -> AnyView {
    let seen = cx.words(names.seen);
    let rows = move || {
        let (next, guesses) = (cx.words("next").get(), cx.words(names.guesses).get());
        let rows = seen.get().into_iter().zip(next).enumerate();
        rows.map(|(t, (seen, next))| row(cx, names, (t, seen, next), &guesses))
            .collect_view()
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Guesses at every position">
            <table>
                <caption class="vh">"At each position: the tokens seen, the next token, the most likely guesses, and whether the first is right"</caption>
                <thead>
                    <tr>
                        <th scope="col">"visible tokens"</th>
                        <th scope="col">"next token"</th>
                        <th scope="col">"first guess"</th>
                        <th scope="col">"second"</th>
                        <th scope="col">"third"</th>
                        <th scope="col">"verdict"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
    .into_any()
}

fn row(
    cx: CellCx,
    names: Names,
    (t, seen, next): (usize, String, String),
    guesses: &[String],
) -> AnyView {
    let right = cx.value(names.right, vec![t]);
    let right = Memo::new(move |_| right.get() == Some(1.0));
    let guess = |n: usize| {
        let token = guesses.get(TOP * t + n).cloned().unwrap_or_default();
        view! {
            <td>
                <span data-label="">{token}</span> " "
                {cx.num(names.probabilities, &[t, n], Format::Percent(0))}
            </td>
        }
    };
    view! {
        <tr>
            <th scope="row" data-label="">{seen}</th>
            <td data-label="">{next}</td>
            {(0..TOP).map(guess).collect_view()}
            <td class="verdict" class:good=move || right.get() class:bad=move || !right.get()>
                {move || if right.get() { "right" } else { "wrong" }}
            </td>
        </tr>
    }
    .into_any()
}
