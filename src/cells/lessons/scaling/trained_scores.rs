//! The spread of the raw scores of each head, as three small maps.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::largest_of;
use crate::cells::parts::model_note::trained;
use crate::widgets::{Concept, Domain, HeatMap, More, set};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let most = largest_of(cx, ["trained", "xavier", "normal"]);
    let domain = Signal::derive(move || Domain::Fixed(0.0, most.get()));
    let map = move |name: &'static str, label: &'static str| {
        view! {
            <HeatMap
                grid=cx.grid_with(name, Signal::stored(Vec::new()), "layer", "head")
                label
                domain
                format=Format::Fixed(2)
                concept=Concept::Score
                no_legend=true
                no_readout=true
            />
        }
    };
    view! {
        {cx.text_box("text")}
        <dl class="readout">
            <div class="c-score">
                <dt data-label="">{set("expected: $\u{221a}d_k$")}</dt>
                <dd>{cx.num("root", &[], Format::Fixed(2))}</dd>
            </div>
            <div>
                <dt data-label="">{set("width of a head, $d_k$")}</dt>
                <dd>{cx.num("width", &[], Format::Count)}</dd>
            </div>
            <div>
                <dt>"pairs of tokens"</dt>
                <dd>{cx.num("pairs", &[], Format::Count)}</dd>
            </div>
        </dl>
        <div class="cols-2">
            {map("trained", "Trained")}
            {map("xavier", "Random, drawn for variance one (Xavier)")}
        </div>
        <More summary="The start of tiny-bert\u{2019}s training">
            {map("normal", "Random, with a small standard deviation")}
            <p>"All matrices and tables were drawn with a standard deviation of " {cx.num("at.first", &[], Format::Fixed(2))} "."</p>
            {cx.seed_box()}
        </More>
        {trained(&["tiny-bert"])}
    }
    .into_any()
}
