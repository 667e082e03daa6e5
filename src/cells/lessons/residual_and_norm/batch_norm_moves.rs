//! A padded batch of two sentences, and both norms of the first one.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::largest_of;
use crate::widgets::{Concept, Domain, HeatMap, More, Palette};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let largest = largest_of(cx, ["batch", "batch.norm", "layer.norm"]);
    let domain = Signal::derive(move || Domain::Fixed(-largest.get(), largest.get()));
    // The scale under the first map is that of all three.
    let map = move |tensor: &'static str, rows: &'static str, label: &'static str, concept| {
        let no_legend = tensor != "batch";
        view! {
            <HeatMap
                grid=cx.grid_with(tensor, Signal::stored(Vec::new()), rows, "")
                label
                palette=Palette::Diverging
                domain
                concept
                format=Format::Fixed(2)
                no_legend
                no_readout=no_legend
            />
        }
    };
    view! {
        <div class="controls">{cx.slider("length", Format::Count)} {cx.toggle_box("padding")}</div>
        <div class="cols-2">
            {map("batch", "batch.rows", "The batch", Concept::Residual)}
            <div class="stack">
                {map("batch.norm", "own.rows", "Your words after batch norm", Concept::Score)}
                {map("layer.norm", "own.rows", "Your words after layer norm", Concept::Output)}
            </div>
        </div>
        {verdict(cx)}
        <More summary="Your vectors">
            {cx.matrix_edit("yours", Concept::Residual, &["the", "cat", "sat"], &[])}
        </More>
    }
    .into_any()
}

/// How far your numbers have moved.
fn verdict(cx: CellCx) -> AnyView {
    let equal = cx.value("layer.equal", Vec::new());
    let words = move || match equal.get() {
        Some(1.0) => ": every bit is the same.",
        Some(_) => ".",
        None => "",
    };
    view! {
        <p class="verdict">
            "Since the other sentence had " {cx.num("first", &[], Format::Count)}
            " words, your numbers have moved by up to "
            <strong class="c-score">{cx.num("batch.moved", &[], Format::Fixed(3))}</strong>
            " with batch norm and by " <strong class="c-output">{cx.num("layer.moved", &[], Format::Fixed(3))}</strong>
            " with layer norm" {words}
        </p>
        <p class="cell-note">
            "The batch has " {cx.num("rows", &[], Format::Count)} " rows, "
            {cx.num("padded", &[], Format::Count)} " of them padding. Both norms are shown before their learned scale and shift."
        </p>
    }
    .into_any()
}
