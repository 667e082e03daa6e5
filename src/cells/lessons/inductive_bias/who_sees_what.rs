//! The view of `who-sees-what`: the receptive field of a number, and the reach of every head.

use cells::InputValue;
use cells::format::Format;
use cells::lessons::inductive_bias::who_sees_what::SIDE;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::labelled;
use crate::cells::parts::model_note::trained;
use crate::cells::parts::pad::folded_pad;
use crate::cells::parts::pictures::seen;
use crate::widgets::{Concept, Domain, HeatMap, More, Palette, PatchGrid, Selected};

/// The number of principal components that are shown.
const SHOWN: usize = 8;

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="cols-2">
            <div class="stack tight">
                <p class="panel-title" data-label="">"digit-cnn: the pixels of one number"</p>
                {cx.slider("layer", Format::Count)}
                <div class="rebuilt">{field(cx)}</div>
                <p>
                    "The chosen number sees " {cx.num("field.rows", &[], Format::Count)} " \u{d7} "
                    {cx.num("field.columns", &[], Format::Count)} " pixels, "
                    {cx.num("field.share", &[], Format::Percent(0))} " of the picture. Most ways from one pixel to the number: "
                    {cx.num("paths.most", &[], Format::Count)} "."
                </p>
            </div>
            <div class="stack tight">
                <p class="panel-title" data-label="">"digit-vit: how far each head looks"</p>
                {reach(cx)}
                <p>
                    "A head that takes the same from every patch has a mean distance of " {cx.num("even", &[], Format::Fixed(1))}
                    " pixels. On your digit, the heads range from " {cx.num("nearest", &[], Format::Fixed(1))} " to "
                    {cx.num("farthest", &[], Format::Fixed(1))} "."
                </p>
            </div>
        </div>
        <More summary="What digit-vit's patch embedding looks for: principal components of its filters">
            {components(cx)}
        </More>
        {folded_pad(cx)}
        {trained(&["digit-cnn", "digit-vit"])}
    }
    .into_any()
}

/// The digit, coloured by the field; a click chooses the number whose square it is in.
fn field(cx: CellCx) -> AnyView {
    let stride = cx.value("stride", Vec::new());
    let stride = Memo::new(move |_| stride.get().map_or(2, |stride| stride as usize).max(1));
    let across = Memo::new(move |_| SIDE / stride.get());
    let (row, column) = (cx.number("row"), cx.number("column"));
    let chosen = Memo::new(move |_| {
        let at = |pixel: f64| pixel as usize / stride.get();
        Some(at(row.get()) * across.get() + at(column.get()))
    });
    let selected = Selected::new(chosen, move |square: Option<usize>| {
        if let Some(square) = square {
            let pixel = |n: usize| InputValue::Number((n * stride.get_untracked()) as f64);
            let across = across.get_untracked().max(1);
            cx.set_all(vec![
                ("row", pixel(square / across)),
                ("column", pixel(square % across)),
            ]);
        }
    });
    view! {
        <PatchGrid pixels=seen(cx, "field") patch=Signal::derive(move || stride.get())
            label="Your digit, with the pixels that the chosen number is computed from" selected=selected counts_from=0 />
    }
    .into_any()
}

/// The mean attention distance of each head of each block.
fn reach(cx: CellCx) -> AnyView {
    let grid = labelled(
        cx.grid("distance"),
        |block| format!("block {}", block + 1),
        |head| format!("head {}", head + 1),
    );
    view! {
        <HeatMap grid label="Mean attention distance in pixels" domain=Domain::Fixed(0.0, 20.0)
            format=Format::Fixed(1) concept=Concept::Weight no_readout=true />
    }
    .into_any()
}

/// The first principal components of the filters, as patches, with their shares of the variance.
fn components(cx: CellCx) -> AnyView {
    let one = move |k: usize| {
        view! {
            <div class="stack tight">
                <HeatMap grid=cx.grid_with("components", Signal::stored(vec![k]), "", "")
                    label=format!("Component {}", k + 1) palette=Palette::Diverging domain=Domain::Symmetric
                    format=Format::Fixed(2) picture=true no_legend=true no_readout=true />
                <p class="head-kind">{cx.num("shares", &[k], Format::Percent(1))}</p>
            </div>
        }
    };
    view! {
        <div class="stack">
            <p>
                "Each of the " {cx.num("filters.count", &[], Format::Count)} " filters, the rows of E\u{22a4}, is a pattern of the \
                pixels of a patch. These are the eight directions in which the filters differ most, with the share of their variance along each; \
                together they hold " {cx.num("shares.sum", &[SHOWN - 1], Format::Percent(1))} "."
            </p>
            <div class="head-maps">{(0..SHOWN).map(one).collect_view()}</div>
        </div>
    }
    .into_any()
}
