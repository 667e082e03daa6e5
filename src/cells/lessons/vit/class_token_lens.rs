//! The ten probabilities after each block, as a map.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::model_note::trained;
use crate::cells::parts::pad::{folded_pad, received};
use crate::widgets::{Concept, Domain, HeatMap};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let none = Signal::stored(Vec::new());
    let knows = cx.value("knows", Vec::new());
    let from = move || match knows.get() {
        Some(0.0) => view! { "at every depth" }.into_any(),
        _ => view! { "from block " {cx.num("knows", &[], Format::Count)} " on" }.into_any(),
    };
    view! {
        <div class="lens">
            {received(cx)}
            <HeatMap grid=cx.grid_with("lens", none, "depths", "digits")
                label="Probability of each digit (column) after each block (row)" domain=Domain::Fixed(0.0, 1.0)
                format=Format::Fixed(2) concept=Concept::Output numbers=true />
        </div>
        <p class="verdict">
            "The model answers " <strong>{cx.num("answer", &[], Format::Count)}</strong> "; this is the most likely digit "
            {from} "."
        </p>
        {folded_pad(cx)}
        {trained(&["digit-vit"])}
    }
    .into_any()
}
