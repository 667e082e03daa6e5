//! The throws for each token of a text, what the model reads in its position, and the counts of many
//! readings.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::model_note::trained;

/// The outcomes: whether a token is chosen, and what it then reads.
const OUTCOMES: [&str; 4] = [
    "chosen, of all tokens",
    "reads [MASK], of these",
    "reads a random token",
    "reads itself",
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls">
            {cx.text_box("text")} {cx.slider("readings", Format::Count)} {cx.seed_box()}
        </div>
        {throws(cx)}
        {counts(cx)}
        {trained(&["tiny-bert"])}
    }
    .into_any()
}

/// A box for each token: the token, its first throw, and where it is chosen the second throw and
/// what the model reads.
fn throws(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    let boxes = move || {
        let found = computed.get();
        let each = found.iter().flat_map(|c| {
            let tokens = c.words("tokens").iter().zip(c.words("read")).enumerate();
            tokens.map(move |(n, (token, read))| {
                let is_chosen = c.at("chosen", &[n]) == Some(1.0);
                let second = is_chosen.then(|| {
                    view! {
                        {cx.num("second", &[n], Format::Count)}
                        <strong class="token c-score" data-from=format!("read[{n}]")>{read.clone()}</strong>
                    }
                });
                let token = view! { <span class="token" data-from=format!("tokens[{n}]")>{token.clone()}</span> };
                view! { <li>{token} {cx.num("first", &[n], Format::Count)} {second}</li> }
            })
        });
        each.collect_view()
    };
    view! {
        <section class="panel">
            <p class="panel-title">"The last reading: each token with its throws"</p>
            <ol class="tokens token-boxes" aria-label="Tokens with their throws">{boxes}</ol>
        </section>
    }
    .into_any()
}

/// The counts of all readings.
fn counts(cx: CellCx) -> AnyView {
    let row = |(n, name): (usize, &'static str)| {
        view! {
            <tr>
                <th scope="row">{name}</th>
                <td>{cx.num("counts", &[n], Format::Count)}</td>
                <td>{cx.num("expected", &[n], Format::Fixed(1))}</td>
                <td>{cx.num("shares", &[n], Format::Percent(1))}</td>
                <td>{cx.num("rule", &[n], Format::Percent(0))}</td>
            </tr>
        }
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Counts of all readings">
            <table>
                <caption class="vh">"Counts of all readings"</caption>
                <thead>
                    <tr>
                        <th scope="col">"outcome"</th>
                        <th scope="col">"counted"</th>
                        <th scope="col">"expected"</th>
                        <th scope="col">"share"</th>
                        <th scope="col">"rule"</th>
                    </tr>
                </thead>
                <tbody>{OUTCOMES.into_iter().enumerate().map(row).collect_view()}</tbody>
            </table>
        </div>
        <p class="cell-note">
            "Tokens read: " {cx.num("all", &[], Format::Count)} ", in readings: "
            {cx.num("readings", &[], Format::Count)}
        </p>
    }
    .into_any()
}
