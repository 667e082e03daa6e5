//! What the views of cells that compare models of digits share: the three models, and a digit as they
//! receive it.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::widgets::{Concept, Domain, HeatMap, Palette};

/// A model: its title, its name, and its colour in charts.
#[derive(Clone, Copy)]
pub(crate) struct Model {
    pub(crate) title: &'static str,
    pub(crate) short: &'static str,
    pub(crate) concept: Concept,
}

/// The models of the log, in its order.
pub(crate) const MODELS: [Model; 3] = [
    Model {
        title: "digit-cnn: convolutions",
        short: "digit-cnn",
        concept: Concept::Score,
    },
    Model {
        title: "digit-vit: patches",
        short: "digit-vit",
        concept: Concept::Weight,
    },
    Model {
        title: "digit-vit-nopos: no positions",
        short: "digit-vit-nopos",
        concept: Concept::Residual,
    },
];

/// A picture of one channel, as the models receive it.
pub(crate) fn picture(cx: CellCx, tensor: &'static str, label: &'static str) -> AnyView {
    let prefix = Signal::stored(vec![0]);
    view! {
        <HeatMap grid=cx.grid_with(tensor, prefix, "", "") label palette=Palette::Brightness
            domain=Domain::Fixed(0.0, 1.0) format=Format::Fixed(2) picture=true no_legend=true no_readout=true />
    }
    .into_any()
}
