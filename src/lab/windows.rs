//! The view of `swin-windows`: the picture twice, the tokens that differ after a block coloured, once with
//! windows that stay and once with the model's own.

use cells::InputValue;
use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::blocks_box::blocks_box;
use crate::cells::parts::figures::values;
use crate::cells::parts::model_note::trained;
use crate::cells::parts::opened_picture::OpenedPicture;
use crate::widgets::{Domain, More, PatchGrid, Selected};

/// The two kinds of windows: title, the map of tokens that differ, their number, and whether the picture
/// is the second with the same selection.
const SIDES: [(&str, &str, &str, bool); 2] = [
    (
        "The same windows in every block",
        "fixed.changed",
        "fixed.now",
        false,
    ),
    (
        "The model\u{2019}s own windows",
        "shifted.changed",
        "shifted.now",
        true,
    ),
];

/// The tensors of the table: the stage, tokens, those that differ with windows that stay, and with the
/// model's own.
const COLUMNS: [&str; 4] = ["stage", "tokens.count", "fixed.count", "shifted.count"];

/// The view of the cell.
pub(super) fn view(cx: CellCx) -> AnyView {
    let Some(picture) = use_context::<OpenedPicture>() else {
        return ().into_any();
    };
    view! {
        <div class="controls">{blocks_box(cx, "Number of blocks: ", 0)}</div>
        <div class="cols-2">{SIDES.map(|side| panel(cx, picture, side)).collect_view()}</div>
        <p>
            "Patch " {cx.num("chosen", &[], Format::Count)} " is replaced by its negative. Stage "
            {cx.num("stage.now", &[], Format::Count)} ": a token covers "
            {cx.num("token.pixels", &[], Format::Count)} " \u{d7} " {cx.num("token.pixels", &[], Format::Count)}
            " pixels."
        </p>
        <More summary="Tokens that differ after each block">{table(cx)}</More>
        {trained(&[])}
    }
    .into_any()
}

/// A number of the result, 0 before there is one.
pub(super) fn number(cx: CellCx, name: &'static str) -> Signal<usize> {
    let value = cx.value(name, Vec::new());
    Signal::derive(move || value.get().unwrap_or_default() as usize)
}

/// The token of the chosen patch, in a cell with the results `own`, `token.patches` and `across`; choosing a
/// token of a later stage chooses its first patch.
pub(super) fn choose_token(cx: CellCx) -> Selected<usize> {
    let (token, across) = (number(cx, "token.patches"), number(cx, "across"));
    let own = number(cx, "own");
    Selected::new(
        Signal::derive(move || Some(own.get())),
        move |at: Option<usize>| {
            let Some(at) = at else { return };
            let (token, across) = (token.get_untracked().max(1), across.get_untracked());
            let side = (across / token).max(1);
            let first = at / side * token * across + at % side * token;
            cx.set("chosen", InputValue::Number(first as f64));
        },
    )
}

/// One of the pictures.
fn panel(
    cx: CellCx,
    picture: OpenedPicture,
    (title, changed, now, is_quiet): (&'static str, &'static str, &'static str, bool),
) -> AnyView {
    let (window, shift) = (number(cx, "window"), number(cx, "shift"));
    let token = number(cx, "token.patches");
    let patch = Signal::derive(move || picture.patch.get() * token.get().max(1));
    let lines = Signal::derive(move || (window.get(), if is_quiet { shift.get() } else { 0 }));
    let selected = choose_token(cx);
    view! {
        <section class="stack tight">
            <p class="panel-title">{title}</p>
            <PatchGrid
                pixels=picture.pixels
                patch
                label=format!("{title}: tokens that differ, coloured")
                selected
                overlay=cx.grid(changed)
                overlay_domain=Signal::stored(Domain::Fixed(0.0, 1.0))
                is_ruled=false
                windows=lines
                is_quiet
                counts_from=0
            />
            <p class="verdict">
                <strong>{cx.num(now, &[], Format::Count)}</strong> " of " {cx.num("tokens", &[], Format::Count)}
                " tokens differ."
            </p>
        </section>
    }
    .into_any()
}

/// What differs after each block.
fn table(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    let rows =
        Memo::new(move |_| computed.with(|c| c.as_ref().map_or(0, |c| values(c, "block").len())));
    let row = move |block: usize| {
        let cells = COLUMNS.map(|name| view! { <td>{cx.num(name, &[block], Format::Count)}</td> });
        view! { <tr><th scope="row">{cx.num("block", &[block], Format::Count)}</th>{cells.collect_view()}</tr> }
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Tokens that differ after each block">
            <table class="values">
                <thead>
                    <tr>
                        <th scope="col">"after block"</th>
                        <th scope="col">"stage"</th>
                        <th scope="col">"tokens"</th>
                        <th scope="col">"differ, same windows"</th>
                        <th scope="col">"differ, own windows"</th>
                    </tr>
                </thead>
                <tbody>{move || (0..rows.get()).map(row).collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}
