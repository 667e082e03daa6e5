//! The four equations as rows of maps.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::model_note::trained;
use crate::cells::parts::pad::folded_pad;
use crate::widgets::{Concept, Domain, HeatMap, Palette, set};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let tokens = move || {
        view! {
            " [" {cx.num("tokens", &[], Format::Count)} " \u{d7} " {cx.num("width", &[], Format::Count)} "]"
        }
    };
    let vector = move || view! { " [" {cx.num("width", &[], Format::Count)} "]" };
    view! {
        <div class="controls">{cx.slider("block", Format::Count)}</div>
        <div class="equations">
            <div>
                <p class="panel-title">"Equation " <span data-label="">"1"</span> ": embedding " {tokens()}</p>
                <div class="map-sum">{map(cx, "z_0", "$z_0$", Concept::Residual)}</div>
            </div>
            <div>
                <p class="panel-title">"Equation " <span data-label="">"2"</span> ": attention is added " {tokens()}</p>
                <div class="map-sum">
                    {map(cx, "before", "before the block", Concept::Residual)} <span>"+"</span>
                    {map(cx, "msa", "from attention", Concept::Output)} <span>"="</span>
                    {map(cx, "middle", "in the middle", Concept::Residual)}
                </div>
            </div>
            <div>
                <p class="panel-title">"Equation " <span data-label="">"3"</span> ": the MLP is added " {tokens()}</p>
                <div class="map-sum">
                    {map(cx, "middle", "in the middle", Concept::Residual)} <span>"+"</span>
                    {map(cx, "mlp", "from the MLP", Concept::Output)} <span>"="</span>
                    {map(cx, "after", "after the block", Concept::Residual)}
                </div>
            </div>
            <div>
                <p class="panel-title">"Equation " <span data-label="">"4"</span> {set(": the class token after the last norm, $y$ ")} {vector()}</p>
                <div class="map-sum is-vector">{map(cx, "y", "$y$", Concept::Output)}</div>
            </div>
        </div>
        {folded_pad(cx)}
        {trained(&["digit-vit"])}
    }
    .into_any()
}

/// A tensor as a picture: a row is a token.
fn map(cx: CellCx, tensor: &'static str, label: &'static str, concept: Concept) -> AnyView {
    view! {
        <HeatMap grid=cx.grid(tensor) label=label palette=Palette::Diverging domain=Domain::Symmetric
            format=Format::Fixed(2) concept=concept picture=true no_legend=true no_readout=true />
    }
    .into_any()
}
