//! The translator and digit-vit side by side: sizes, and which of their parts holds how many
//! parameters.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::model_note::trained;

/// A size: what it is called, and its tensors of both models.
const SIZES: [(&str, [&str; 2]); 7] = [
    (
        "blocks of the encoder",
        ["translator.encoder", "vit.encoder"],
    ),
    (
        "blocks of the decoder",
        ["translator.decoder", "vit.decoder"],
    ),
    ("dimension of the model", ["translator.width", "vit.width"]),
    ("heads", ["translator.heads", "vit.heads"]),
    ("inner width of the MLP", ["translator.inner", "vit.inner"]),
    ("one token is made from", ["translator.in", "vit.in"]),
    ("scores at the end", ["translator.out", "vit.out"]),
];

/// What is said behind a size, by its place in [`SIZES`] and the model.
const UNITS: [(usize, [&str; 2]); 2] = [
    (5, [" possible words", " pixels"]),
    (6, [" words", " classes"]),
];

/// A part: what it is called, and its parameters in both models.
const PARTS: [(&str, [&str; 2]); 6] = [
    (
        "embedding and positions",
        ["translator.embedding", "vit.embedding"],
    ),
    ("attention", ["translator.attention", "vit.attention"]),
    ("MLP", ["translator.mlp", "vit.mlp"]),
    ("norms", ["translator.norms", "vit.norms"]),
    ("class head", ["translator.head", "vit.head"]),
    (
        "all parameters",
        ["translator.parameters", "vit.parameters"],
    ),
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        {table(cx)}
        {trained(&["translator", "digit-vit"])}
    }
    .into_any()
}

fn table(cx: CellCx) -> AnyView {
    let size = move |(n, (name, models)): (usize, (&'static str, [&'static str; 2]))| {
        let units = UNITS.iter().find(|(place, _)| *place == n);
        let number = move |side: usize| {
            let unit = units.map(|(_, units)| units[side]);
            view! { <td>{cx.num(models[side], &[], Format::Count)} {unit}</td> }
        };
        view! { <tr><th scope="row">{name}</th> {number(0)} {number(1)}</tr> }
    };
    let part = move |(name, models): (&'static str, [&'static str; 2])| {
        view! {
            <tr>
                <th scope="row">{name}</th>
                {models.map(|model| view! { <td>{cx.num(model, &[], Format::Count)}</td> })}
            </tr>
        }
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Sizes and parameters of the two models">
            <table>
                <caption class="vh">"The sizes of the two models, and the number of parameters in each of their parts"</caption>
                <thead>
                    <tr>
                        <th scope="col">"size"</th>
                        <th scope="col" data-label="">"translator (2017)"</th>
                        <th scope="col">"digit-vit"</th>
                    </tr>
                </thead>
                <tbody>{SIZES.into_iter().enumerate().map(size).collect_view()}</tbody>
                <thead>
                    <tr>
                        <th scope="col">"parameters in"</th>
                        <th scope="col" data-label="">"translator (2017)"</th>
                        <th scope="col">"digit-vit"</th>
                    </tr>
                </thead>
                <tbody>{PARTS.map(part).collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}
