//! The four equations as rows of maps, each with the shapes of its parts.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::model_note::trained;
use crate::cells::parts::pad::folded_pad;
use crate::widgets::{Concept, Domain, HeatMap, Palette, set};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let tokens = move || shape(cx, &["tokens", "width"]);
    view! {
        <div class="controls">{cx.slider("block", Format::Count)}</div>
        <div class="equations">
            <div>
                <p class="panel-title">"Equation " <span data-label="">"1"</span> ": embedding"</p>
                <p><small>
                    {set("$x_p$")} {shape(cx, &["patches", "patch_numbers"])} ", "
                    {set("$E$")} {shape(cx, &["patch_numbers", "width"])} ", "
                    {set("$x_class$")} {shape(cx, &["width"])} ", "
                    {set("$E_pos$")} " and " {set("$z_0$")} {tokens()}
                </small></p>
                <div class="map-sum">{map(cx, "z_0", "$z_0$", Concept::Residual)}</div>
            </div>
            <div>
                <p class="panel-title">"Equation " <span data-label="">"2"</span> ": attention is added"</p>
                <p><small>
                    "MSA" {tokens()} " \u{2192} " {count(cx, "heads")} "\u{a0}heads, weights"
                    {shape(cx, &["tokens", "tokens"])} " each \u{2192}" {tokens()}
                </small></p>
                <div class="map-sum">
                    {map(cx, "before", "before the block", Concept::Residual)} <span>"+"</span>
                    {map(cx, "msa", "from attention", Concept::Output)} <span>"="</span>
                    {map(cx, "middle", "in the middle", Concept::Residual)}
                </div>
            </div>
            <div>
                <p class="panel-title">"Equation " <span data-label="">"3"</span> ": the MLP is added"</p>
                <p><small>
                    "MLP" {tokens()} " \u{2192}" {shape(cx, &["tokens", "inner"])} " \u{2192}" {tokens()}
                </small></p>
                <div class="map-sum">
                    {map(cx, "middle", "in the middle", Concept::Residual)} <span>"+"</span>
                    {map(cx, "mlp", "from the MLP", Concept::Output)} <span>"="</span>
                    {map(cx, "after", "after the block", Concept::Residual)}
                </div>
            </div>
            <div>
                <p class="panel-title">"Equation " <span data-label="">"4"</span> ": the class token after the last norm"</p>
                <p><small>
                    {set("$z_L$")} {tokens()} " \u{2192} " {set("$y$")} {shape(cx, &["width"])}
                    " \u{2192} scores" {shape(cx, &["classes"])}
                </small></p>
                <div class="map-sum is-vector">{map(cx, "y", "$y$", Concept::Output)}</div>
            </div>
        </div>
        {folded_pad(cx)}
        {trained(&["digit-vit"])}
    }
    .into_any()
}

/// A number of the model.
fn count(cx: CellCx, name: &'static str) -> AnyView {
    cx.num(name, &[], Format::Count)
}

/// The shape of a tensor after a space, in brackets that no line break divides.
fn shape(cx: CellCx, sizes: &[&'static str]) -> AnyView {
    let size = |(n, &name): (usize, &&'static str)| {
        let before = ["\u{a0}[", "\u{a0}\u{d7}\u{a0}"][n.min(1)];
        view! { {before} {count(cx, name)} }
    };
    let sizes = sizes.iter().enumerate().map(size).collect_view();
    view! { {sizes} "]" }.into_any()
}

/// A tensor as a picture: a row is a token.
fn map(cx: CellCx, tensor: &'static str, label: &'static str, concept: Concept) -> AnyView {
    view! {
        <HeatMap grid=cx.grid(tensor) label=label palette=Palette::Diverging domain=Domain::Symmetric
            format=Format::Fixed(2) concept=concept picture=true no_legend=true no_readout=true />
    }
    .into_any()
}
