//! Sizes to choose, and the parameters that they make.

use cells::InputValue;
use cells::format::Format;
use cells::lessons::decoder_only::gpt_sizes::{KNOWN, PARTS, SIZES};
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::bars::share_row;

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="row" role="group" aria-label="Known models">
            {KNOWN.map(|(name, sizes)| known(cx, name, sizes)).into_iter().collect_view()}
        </div>
        <div class="controls">
            {SIZES.map(|name| cx.slider(name, Format::Count)).into_iter().collect_view()}
        </div>
        <section class="panel">
            <p class="panel-title">
                {cx.num("total", &[], Format::Count)} " parameters"
            </p>
            {parts(cx)}
        </section>
        <p class="verdict">
            "In half precision: " {cx.num("gigabytes", &[], Format::Fixed(2))}
            " GB of parameters, and a key-value cache of " {cx.num("cache.token", &[], Format::Count)}
            " bytes per token, " {cx.num("cache.full", &[], Format::Fixed(2))} " GB for a full context."
        </p>
    }
    .into_any()
}

/// A button that sets the sizes of a known model.
fn known(cx: CellCx, name: &'static str, sizes: [f64; 4]) -> AnyView {
    let press = move |_| {
        let values = SIZES.into_iter().zip(sizes.map(InputValue::Number));
        cx.set_all(values.collect());
    };
    view! {
        <button type="button" class="button" data-label="" on:click=press>
            {name}
        </button>
    }
    .into_any()
}

/// Each kind of parameters as a share of all.
fn parts(cx: CellCx) -> AnyView {
    let bars = PARTS.iter().enumerate().map(|(n, &name)| {
        let number = cx.num("parts", &[n], Format::Count);
        share_row(cx, name, ("parts.share", vec![n]), number)
    });
    view! { <ul class="shares">{bars.collect_view()}</ul> }.into_any()
}
