//! The parameters of a block, matrix by matrix, and of the whole model as shares.

use cells::InputValue;
use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::bars::share_row;
use crate::cells::parts::model_note::only_if;
use crate::widgets::{Choice, set};

/// The matrices: name, their shape in symbols, and the part that they belong to.
const MATRICES: [(&str, &str, &str); 6] = [
    ("$W_Q$", "$C \u{d7} C$", "attention"),
    ("$W_K$", "$C \u{d7} C$", "attention"),
    ("$W_V$", "$C \u{d7} C$", "attention"),
    ("$W_O$", "$C \u{d7} C$", "attention"),
    ("$W_1$", "$C \u{d7} F$", "MLP"),
    ("$W_2$", "$F \u{d7} C$", "MLP"),
];

/// The parts of the whole model.
const PARTS: [&str; 5] = ["attention", "MLP", "norms", "tokens", "positions"];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let names = ["GPT-2", "tiny-gpt", "your sizes"]
        .map(str::to_owned)
        .to_vec();
    let value = cx.choice("model");
    let change = Callback::new(move |name| cx.set("model", InputValue::Choice(name)));
    let is_own = Memo::new(move |_| value.with(|name| name == "your sizes"));
    view! {
        <div class="controls">
            <Choice label="Sizes" options=names value on_change=change verbatim=true />
            {only_if(is_own.into(), move || {
                view! { {cx.slider("width", Format::Count)} {cx.slider("layers", Format::Count)} }.into_any()
            })}
        </div>
        <div class="cols-2">{block(cx)} <div class="stack">{whole(cx)} {note(cx)}</div></div>
    }
    .into_any()
}

/// The six matrices of a block.
fn block(cx: CellCx) -> AnyView {
    let rows = MATRICES.iter().enumerate().map(|(n, (name, shape, part))| {
        view! {
            <tr>
                <th scope="row" data-label="">{set(name)}</th>
                <td>{*part}</td>
                <td data-label="">{set(shape)}</td>
                <td>{cx.num("matrices", &[n], Format::Count)}</td>
            </tr>
        }
    });
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="The six matrices of a block">
            <table>
                <caption>"One block"</caption>
                <thead>
                    <tr>
                        <th scope="col">"matrix"</th>
                        <th scope="col">"part"</th>
                        <th scope="col">"shape"</th>
                        <th scope="col">"parameters"</th>
                    </tr>
                </thead>
                <tbody>
                    {rows.collect_view()}
                    <tr>
                        <th scope="row">"all six"</th>
                        <td></td>
                        <td data-label="">{set("$12 C^2$")}</td>
                        <td>{cx.num("block", &[], Format::Count)}</td>
                    </tr>
                    <tr>
                        <th scope="row">"in the MLP"</th>
                        <td>{cx.num("block.share", &[], Format::Percent(1))}</td>
                        <td data-label="">{set("$8 C^2$")}</td>
                        <td data-train="mlp">{cx.num("block.mlp", &[], Format::Count)}</td>
                    </tr>
                </tbody>
            </table>
        </div>
    }
    .into_any()
}

/// The whole model as shares.
fn whole(cx: CellCx) -> AnyView {
    let bars = PARTS.iter().enumerate().map(|(n, part)| {
        let number = cx.num("shares", &[n], Format::Percent(1));
        share_row(cx, *part, ("shares", vec![n]), number)
    });
    view! {
        <div>
            <p class="panel-title">
                "The whole model: " <span data-train="total">{cx.num("total", &[], Format::Count)}</span>
                " parameters"
            </p>
            <ul class="shares">{bars.collect_view()}</ul>
        </div>
    }
    .into_any()
}

fn note(cx: CellCx) -> AnyView {
    view! {
        <p class="cell-note">
            {set("$C$")} " = " {cx.num("width", &[], Format::Count)} ", " {set("$F$")} " = "
            {cx.num("inner", &[], Format::Count)} ", " {cx.num("layers", &[], Format::Count)}
            " blocks, " {cx.num("vocabulary", &[], Format::Count)} " tokens, "
            {cx.num("context", &[], Format::Count)}
            " positions. The biases and norms of a block, which the table leaves out: "
            {cx.num("block.rest", &[], Format::Count)} " parameters."
        </p>
    }
    .into_any()
}
