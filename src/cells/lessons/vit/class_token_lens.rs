//! The ten probabilities after each block, as a map; of an opened model, its most likely classes.

use cells::format::Format;
use cells::lessons::vit::class_token_lens::TOP;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::lessons::decoder_only::logit_lens::lens_table;
use crate::cells::parts::model_note::trained;
use crate::cells::parts::pad::{folded_pad, received};
use crate::widgets::{Concept, Domain, HeatMap};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let none = Signal::stored(Vec::new());
    view! {
        <div class="lens">
            {received(cx)}
            <HeatMap grid=cx.grid_with("lens", none, "depths", "digits")
                label="Probability of each digit (column) after each block (row)" domain=Domain::Fixed(0.0, 1.0)
                format=Format::Fixed(2) concept=Concept::Output numbers=true />
        </div>
        <p class="verdict">
            "The model answers " <strong>{cx.num("answer", &[], Format::Count)}</strong> "; this is the most likely digit "
            {from(cx)} "."
        </p>
        {folded_pad(cx)}
        {trained(&["digit-vit"])}
    }
    .into_any()
}

/// The view of the cell on a model that the reader has opened.
pub(crate) fn opened_view(cx: CellCx) -> AnyView {
    let prediction = cx.words("prediction");
    let answer = move || prediction.with(|words| words.first().cloned());
    view! {
        {lens_table(cx, TOP, &[], "answer.probability")}
        <p class="verdict">
            "The model answers " <strong data-label="">{answer}</strong> "; of its "
            {cx.num("classes", &[], Format::Count)} " classes this is the most likely one " {from(cx)} "."
        </p>
        {trained(&[])}
    }
    .into_any()
}

/// The depth from which on the answer is the most likely class, in words.
fn from(cx: CellCx) -> AnyView {
    let knows = cx.value("knows", Vec::new());
    let from = move || match knows.get() {
        Some(0.0) => view! { "at every depth" }.into_any(),
        _ => view! { "from block " {cx.num("knows", &[], Format::Count)} " on" }.into_any(),
    };
    view! { {from} }.into_any()
}
