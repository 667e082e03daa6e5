//! The view of `letters-and-numbers`: a word in four spellings as tokens and ids, the letters that
//! its tokens hide, and how many numbers are one token.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::vocabulary::{none_marked, token_boxes, vocabulary_box, vocabulary_note};

/// A spelling: its label, and the names of its tokens and ids.
type Form = (&'static str, &'static str, &'static str);

/// The other spellings of the word.
const OTHERS: [Form; 3] = [
    ("after a space", "spaced.tokens", "spaced.ids"),
    ("with a capital", "capital.tokens", "capital.ids"),
    ("in capitals", "capitals.tokens", "capitals.ids"),
];

/// The groups of numbers, by their digits.
const GROUPS: [&str; 4] = ["1 to 9", "10 to 99", "100 to 999", "1,000"];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let others = OTHERS.map(|(label, tokens, ids)| {
        view! {
            <dt>{label}</dt>
            <dd>{token_boxes(cx, tokens, Some(ids), label, none_marked())}</dd>
        }
    });
    view! {
        <div class="controls">
            {cx.text_box("word")} {cx.text_box("letter")} {vocabulary_box(cx)}
        </div>
        <div class="cols-2">
            <section class="panel">
                <p class="panel-title">"What the model reads, and the letters inside"</p>
                {word(cx)}
            </section>
            <section class="panel">
                <p class="panel-title">"The same word elsewhere has other ids"</p>
                <dl class="spellings">{others.into_iter().collect_view()}</dl>
            </section>
        </div>
        <section class="panel">
            <p class="panel-title">"Numbers that are one token"</p>
            {numbers(cx)}
        </section>
        {vocabulary_note(cx)}
    }
    .into_any()
}

/// Tokens, ids and letters of the word, a row for each token.
fn word(cx: CellCx) -> AnyView {
    let tokens = cx.words("plain.tokens");
    let letter = cx.words("counted");
    let counted = move || letter.with(|letters| letters.first().cloned());
    let rows = move || {
        let rows = tokens.get().into_iter().enumerate();
        rows.map(|(n, token)| {
            view! {
                <tr>
                    <th scope="row" data-from=format!("plain.tokens[{n}]")>{token}</th>
                    <td>{cx.num("plain.ids", &[n], Format::Typed)}</td>
                    <td>{cx.num("plain.letters", &[n], Format::Count)}</td>
                </tr>
            }
        })
        .collect_view()
    };
    view! {
        <table class="values">
            <thead>
                <tr>
                    <th scope="col">"token"</th>
                    <th scope="col">"id"</th>
                    <th scope="col">
                        "letters " <b data-from="counted[0]">{counted}</b>
                    </th>
                </tr>
            </thead>
            <tbody>
                {rows}
                <tr>
                    <th scope="row">"together"</th>
                    <td></td>
                    <td><strong>{cx.num("letters", &[], Format::Count)}</strong></td>
                </tr>
            </tbody>
        </table>
    }
    .into_any()
}

/// How many numbers are a single token, alone and after a space.
fn numbers(cx: CellCx) -> AnyView {
    let row = |label: &'static str, tensor: &'static str, total: &'static str| {
        let counts =
            (0..GROUPS.len()).map(|n| view! { <td>{cx.num(tensor, &[n], Format::Count)}</td> });
        view! {
            <tr>
                <th scope="row">{label}</th>
                {counts.collect_view()}
                <td><strong>{cx.num(total, &[], Format::Count)}</strong></td>
            </tr>
        }
    };
    let heads = GROUPS.map(|group| view! { <th scope="col" data-label="">{group}</th> });
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Numbers that are one token">
            <table class="values">
                <thead>
                    <tr>
                        <th scope="col">"numbers"</th>
                        {heads.into_iter().collect_view()}
                        <th scope="col">"all"</th>
                    </tr>
                </thead>
                <tbody>
                    {row("there are", "numbers.all", "numbers.all.total")}
                    {row("one token alone", "numbers.alone", "numbers.alone.total")}
                    {row("one token after a space", "numbers.spaced", "numbers.spaced.total")}
                </tbody>
            </table>
        </div>
    }
    .into_any()
}
