//! The most likely next tokens after each block, the input at the bottom.

use cells::format::Format;
use cells::lessons::decoder_only::logit_lens::{DEPTHS, TOP};
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::model_note::trained;

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        {cx.text_box("sentence")}
        {lens_table(cx, TOP, &DEPTHS, "last")}
        {trained(&["tiny-gpt"])}
    }
    .into_any()
}

/// The most likely answers read off after each block, the last at the top: the results `words` and
/// `probabilities`, `top` of them at each depth, and in `last` the probability of the model's answer. The
/// depths are those of the result, or these before there is one.
pub(crate) fn lens_table(
    cx: CellCx,
    top: usize,
    usual: &'static [&'static str],
    last: &'static str,
) -> AnyView {
    let words = cx.words("words");
    let depths = cx.words("depths");
    let depths = Memo::new(move |_| {
        let found = depths.get();
        let usual = || usual.iter().map(|&depth| depth.to_owned()).collect();
        if found.is_empty() { usual() } else { found }
    });
    let row = move |(depth, name): (usize, String)| {
        let guess = move |n: usize| {
            let word = move || words.with(|words| words.get(top * depth + n).cloned());
            view! {
                <td>
                    <span data-label="">{word}</span> " "
                    {cx.num("probabilities", &[depth, n], Format::Percent(0))}
                </td>
            }
        };
        view! {
            <tr>
                <th scope="row" data-label="">{name}</th>
                {(0..top).map(guess).collect_view()}
                <td>{cx.num(last, &[depth], Format::Percent(1))}</td>
            </tr>
        }
    };
    let rows = move || {
        let all = depths.get().into_iter().enumerate().rev();
        all.map(row).collect_view()
    };
    let prediction = cx.words("prediction");
    let predicted = move || prediction.with(|words| words.first().cloned());
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Predictions after each block">
            <table class="values">
                <thead>
                    <tr>
                        <th scope="col">"read off after"</th>
                        <th scope="col">"first"</th>
                        <th scope="col">"second"</th>
                        <th scope="col">"third"</th>
                        <th scope="col">"probability of " <span data-label="">{predicted}</span></th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
    .into_any()
}
