//! The cosines between the vectors of one word in four sentences, layer by layer.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::model_note::{model_box, model_note};
use crate::widgets::{Concept, Domain, HeatMap, More};

/// The inputs that hold the sentences.
const SENTENCES: [&str; 4] = ["first", "second", "third", "fourth"];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls">{model_box(cx)}</div>
        <div class="cols-2">
            <div class="stack">{SENTENCES.map(|name| cx.text_box(name)).collect_view()}</div>
            <HeatMap
                grid=cx.grid_with("pairs", Signal::stored(Vec::new()), "depths", "names")
                label="Cosine of the two vectors of the word, for each pair of sentences"
                domain=Domain::Fixed(-1.0, 1.0)
                format=Format::Fixed(2)
                concept=Concept::Residual
                no_legend=true
            />
        </div>
        <More summary="Another word">{cx.text_box("word")}</More>
        {model_note(cx)}
    }
    .into_any()
}
