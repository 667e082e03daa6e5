//! The view of `information-budget`: two counts of bits, and where one overtakes the other.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{Computed, values};
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::{Concept, set};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let fits = cx.value("fits", Vec::new());
    let verdict = move || match fits.get() {
        Some(1.0) => "Counting bits, the text fits into the vector.",
        _ => "Counting bits, the text does not fit into the vector.",
    };
    view! {
        <div class="controls">
            {cx.slider("tokens", Format::Count)} {cx.slider("vocabulary", Format::Count)}
            {cx.slider("width", Format::Count)} {cx.slider("bits", Format::Count)}
        </div>
        <dl class="readout">
            <div class="c-score">
                <dt data-label="">{set("text, at most: $T \u{b7} log_2 V$ bits")}</dt>
                <dd data-budget="message">{cx.num("message.bits", &[], Format::Count)}</dd>
            </div>
            <div class="c-residual">
                <dt>{set("vector: $C \u{b7} b$ bits")}</dt>
                <dd data-budget="vector">{cx.num("vector.bits", &[], Format::Count)}</dd>
            </div>
            <div>
                <dt>"share of the vector used"</dt>
                <dd>{cx.num("share", &[], Format::Percent(1))}</dd>
            </div>
            <div>
                <dt data-label="">{set("bits per token, $log_2 V$")}</dt>
                <dd>{cx.num("token.bits", &[], Format::Fixed(2))}</dd>
            </div>
        </dl>
        <p class="verdict" class:good=move || fits.get() == Some(1.0) class:bad=move || fits.get() == Some(0.0)>
            {verdict} " The longest text that fits has " {cx.num("longest", &[], Format::Count)}
            " tokens; " {cx.num("too.long", &[], Format::Count)} " tokens are too many."
        </p>
        {chart(cx, cx.computed())}
    }
    .into_any()
}

fn chart(cx: CellCx, computed: Computed) -> AnyView {
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let line = |source: &str, name: &str, concept| Series {
                name: name.to_owned(),
                source: source.to_owned(),
                kind: Kind::Line,
                xs: values(c, "line.tokens"),
                ys: values(c, source),
                concept,
            };
            Some(Chart {
                title: "Bits against the length of the text".to_owned(),
                x_label: "tokens $T$".to_owned(),
                y_label: "bits".to_owned(),
                series: vec![
                    line("line.message", "text", Concept::Score),
                    line("line.vector", "vector", Concept::Residual),
                ],
                marks: vec![(cx.number("tokens").get(), "your text".to_owned())],
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("bits", chart);
    view! { <ChartView chart label="Bits of the text and of the vector" height=180 format=Format::Count /> }
        .into_any()
}
