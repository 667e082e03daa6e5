//! One prediction against a smoothed target.

use cells::format::Format;
use cells::lessons::encoder_decoder::label_smoothing::WORDS;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::shares;
use crate::widgets::{Concept, set};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls">{cx.slider("epsilon", Format::Fixed(2))}</div>
        {cx.matrix_edit("logits", Concept::Score, &[], &WORDS)}
        <div class="cols-2">
            <div>
                <p class="panel-title">"Target"</p>
                {shares(cx, "target", &WORDS)}
            </div>
            <div>
                <p class="panel-title">"Probabilities"</p>
                {shares(cx, "probabilities", &WORDS)}
            </div>
        </div>
        <dl class="readout">
            <div>
                <dt>"loss without smoothing"</dt>
                <dd>{cx.num("loss.plain", &[], Format::Fixed(3))}</dd>
            </div>
            <div class="c-score">
                <dt>"loss with smoothing"</dt>
                <dd>{cx.num("loss", &[], Format::Fixed(3))}</dd>
            </div>
            <div>
                <dt>"least loss possible"</dt>
                <dd>{cx.num("least", &[], Format::Fixed(3))}</dd>
            </div>
            <div>
                <dt>"gradient of the right logit, without"</dt>
                <dd>{cx.num("gradient.plain", &[0], Format::Fixed(3))}</dd>
            </div>
            <div class="c-score">
                <dt>"gradient of the right logit, " {set("with $\u{3b5}$")}</dt>
                <dd>{cx.num("gradient", &[0], Format::Fixed(3))}</dd>
            </div>
        </dl>
    }
    .into_any()
}
