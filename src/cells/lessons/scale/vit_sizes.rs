//! The view of `vit-sizes`: sizes to choose, the parameters that they make, and the work for one picture.

use cells::InputValue;
use cells::format::Format;
use cells::lessons::scale::vit_sizes::{KNOWN, NAMES, SIZES};
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::bars::share_row;

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="row" role="group" aria-label="The models of the paper">
            {KNOWN.map(|(name, sizes)| known(cx, name, sizes)).into_iter().collect_view()}
        </div>
        <div class="controls">
            {SIZES.map(|name| cx.slider(name, Format::Count)).into_iter().collect_view()}
        </div>
        <section class="panel">
            <p class="panel-title">{cx.num("total", &[], Format::Count)} " parameters"</p>
            {parts(cx)}
        </section>
        <p class="verdict">
            {cx.num("patches", &[], Format::Count)} " patches, " {cx.num("scores", &[], Format::Count)}
            " scores among them in all heads and blocks: " <strong>{cx.num("scores.ratio", &[], Format::Fixed(2))}</strong>
            " times as many as with patches of " <span data-label="">"16"</span> " pixels. One picture takes "
            {cx.num("multiplications", &[], Format::Power(2))} " multiplications, "
            {cx.num("work.ratio", &[], Format::Fixed(2))} " times as many as in " <span data-label="">"ViT-B/16"</span> "."
        </p>
    }
    .into_any()
}

/// A button that sets the sizes of a known model.
fn known(cx: CellCx, name: &'static str, sizes: [f64; 6]) -> AnyView {
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
    let bars = NAMES.iter().enumerate().map(|(n, &name)| {
        let number = cx.num("parts", &[n], Format::Count);
        share_row(cx, name, ("parts.share", vec![n]), number)
    });
    view! { <ul class="shares">{bars.collect_view()}</ul> }.into_any()
}
