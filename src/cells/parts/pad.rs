//! The pad that the cells on a drawing share.

use cells::InputValue;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::widgets::{Domain, DrawingPad, HeatMap, More, Palette};
use cells::format::Format;

/// The input.
const NAME: &str = "drawing";

/// The pad.
pub(crate) fn pad(cx: CellCx) -> AnyView {
    let label = cx
        .input_spec(NAME)
        .map(|spec| spec.label)
        .unwrap_or_default();
    let change = Callback::new(move |drawing| cx.set(NAME, InputValue::Drawing(drawing)));
    view! { <DrawingPad label=label drawing=cx.drawing(NAME) on_change=change /> }.into_any()
}

/// The pad, folded away, for a cell that follows another one with it.
pub(crate) fn folded_pad(cx: CellCx) -> AnyView {
    view! { <More summary="Draw here">{pad(cx)}</More> }.into_any()
}

/// The picture that the model receives.
pub(crate) fn received(cx: CellCx) -> AnyView {
    let prefix = Signal::stored(vec![0]);
    view! {
        <div class="received">
            <HeatMap grid=cx.grid_with("image", prefix, "", "") label="What the model receives"
                palette=Palette::Brightness domain=Domain::Fixed(0.0, 1.0) format=Format::Fixed(2)
                picture=true no_legend=true no_readout=true />
        </div>
    }
    .into_any()
}
