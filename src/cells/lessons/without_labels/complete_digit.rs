//! The view of `complete-digit`: the pad, the rows that digit-gpt is given, and its completions.

use cells::format::Format;
use cells::lessons::without_labels::complete_digit::COUNT;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::model_note::trained;
use crate::cells::parts::pad::pad;
use crate::widgets::{Domain, HeatMap, More, Palette};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls">
            {cx.slider("rows", Format::Count)} {cx.slider("tau", Format::Fixed(1))} {cx.seed_box()}
        </div>
        <div class="cols-2 map-beside">
            <div class="stack tight">
                <div class="received">{small(cx, "given", Vec::new(), "The rows that are given")}</div>
                <p class="hint">
                    "Given: " {cx.num("rows", &[], Format::Count)} " of " {cx.num("across", &[], Format::Count)} " rows."
                </p>
            </div>
            <ul class="completions" aria-label="Completions">{(0..COUNT).map(|n| completion(cx, n)).collect_view()}</ul>
        </div>
        <p>
            "Different digits among the completions: " <strong>{cx.num("kinds", &[], Format::Count)}</strong>
            ". The hidden rows of the given digit cost " {cx.num("bits", &[], Format::Fixed(2))}
            " bits a pixel; guessing evenly costs " {cx.num("bits.even", &[], Format::Fixed(2))} "."
        </p>
        <More summary="Draw here">{pad(cx)}</More>
        {trained(&["digit-gpt", "digit-cnn"])}
    }
    .into_any()
}

/// A completion, and what digit-cnn reads in it.
fn completion(cx: CellCx, n: usize) -> AnyView {
    view! {
        <li>
            {small(cx, "completed", vec![n], "A completion")}
            <span class="hint">"reads " {cx.num("read", &[n], Format::Count)}</span>
        </li>
    }
    .into_any()
}

/// A picture of 14 x 14 pixels.
fn small(cx: CellCx, tensor: &'static str, at: Vec<usize>, label: &'static str) -> AnyView {
    let prefix = Signal::stored(at);
    view! {
        <HeatMap grid=cx.grid_with(tensor, prefix, "", "") label palette=Palette::Brightness
            domain=Domain::Fixed(0.0, 1.0) format=Format::Fixed(2) picture=true no_legend=true no_readout=true />
    }
    .into_any()
}
