//! The view of `make-tokens`: four kinds of data, and the tokens that they become.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::widgets::set;

/// The kinds of data: name, and what a token is.
const KINDS: [(&str, &str); 4] = [
    ("text", "a byte"),
    ("picture", "a patch of $P \u{d7} P$ pixels"),
    ("audio", "neighbouring spectra"),
    ("video", "a patch in neighbouring frames"),
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls">{cx.text_box("text")}</div>
        <div class="controls">
            {cx.slider("side", Format::Count)} {cx.slider("patch", Format::Count)}
            {cx.slider("seconds", Format::Count)} {cx.slider("frames", Format::Count)}
        </div>
        {table(cx)}
        <p class="hint">
            "Audio has a spectrum of " {cx.num("bands", &[], Format::Count)} " numbers every ten milliseconds. A token of audio is "
            {cx.num("together", &[], Format::Count)} " spectra, and a token of video spans as many frames. The Transformer has dimension "
            {cx.num("width", &[], Format::Count)} "."
        </p>
    }
    .into_any()
}

fn table(cx: CellCx) -> AnyView {
    let row = |(n, (name, token)): (usize, (&'static str, &'static str))| {
        view! {
            <tr>
                <th scope="row">{name}</th>
                <td class="is-text" data-label="">{set(token)}</td>
                <td data-tokens=name>{cx.num("tokens", &[n], Format::Count)}</td>
                <td>{cx.num("numbers", &[n], Format::Count)}</td>
                <td>{cx.num("parameters", &[n], Format::Count)}</td>
                <td>{cx.num("pairs", &[n], Format::Count)}</td>
            </tr>
        }
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Tokens of each kind of data">
            <table>
                <thead>
                    <tr>
                        <th scope="col">"data"</th>
                        <th scope="col">"a token is"</th>
                        <th scope="col">"tokens"</th>
                        <th scope="col">"numbers in a token"</th>
                        <th scope="col">"parameters of the embedding"</th>
                        <th scope="col">"pairs in attention"</th>
                    </tr>
                </thead>
                <tbody>{KINDS.into_iter().enumerate().map(row).collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}
