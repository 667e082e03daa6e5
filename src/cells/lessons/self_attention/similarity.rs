//! Query and key as arrows in the plane: dot product and cosine, and what stretching does to each.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{Computed, curve, input_arrow, tip, values};
use crate::plot::{Chart, ChartView};
use crate::widgets::{Concept, Mark, More, Plane};

/// Farthest coordinate of the plane.
const REACH: f64 = 2.0;

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    let arrow = |row, name, concept| input_arrow(cx, "vectors", (row, [0, 1]), name, concept);
    let stretched = tip(computed, "stretched", vec![0], vec![1]);
    let marks = vec![
        Mark::arrow("stretched key", Concept::Key, stretched).faint(),
        arrow(0, "query", Concept::Query),
        arrow(1, "key", Concept::Key),
    ];
    view! {
        <div class="cols-2">
            <div class="stack">
                <Plane
                    label="Drag the tips, or move them with the arrow keys"
                    marks
                    reach=Signal::stored(REACH)
                />
                {cx.slider("factor", Format::Fixed(1))}
            </div>
            <div class="stack">{readouts(cx)} {chart(cx, computed)}</div>
        </div>
        <More summary="The vectors as numbers">
            {cx.matrix_edit("vectors", Concept::Plain, &["query", "key"], &["right", "up"])}
        </More>
    }
    .into_any()
}

fn readouts(cx: CellCx) -> AnyView {
    view! {
        <dl class="readout">
            <div class="c-score">
                <dt>"dot product"</dt>
                <dd>{cx.num("dot", &[], Format::Fixed(3))}</dd>
            </div>
            <div class="c-position">
                <dt>"cosine"</dt>
                <dd>{cx.num("cosine", &[], Format::Fixed(3))}</dd>
            </div>
            <div class="c-query">
                <dt>"length of the query"</dt>
                <dd>{cx.num("query_length", &[], Format::Fixed(3))}</dd>
            </div>
            <div class="c-key">
                <dt>"length of the stretched key"</dt>
                <dd>{cx.num("key_length", &[], Format::Fixed(3))}</dd>
            </div>
        </dl>
        <p class="sum">
            <span class="term c-query">{cx.num("query_length", &[], Format::Fixed(3))}</span>
            " \u{d7} "
            <span class="term c-key">{cx.num("key_length", &[], Format::Fixed(3))}</span>
            " \u{d7} "
            <span class="term c-position">{cx.num("cosine", &[], Format::Fixed(3))}</span>
            " = "
            <strong>{cx.num("dot", &[], Format::Fixed(3))}</strong>
        </p>
    }
    .into_any()
}

/// Both measures against the factor.
fn chart(cx: CellCx, computed: Computed) -> AnyView {
    let factor = cx.number("factor");
    let chart = Signal::derive(move || {
        let at = factor.get();
        computed.with(|c| {
            let c = c.as_ref()?;
            let factors = values(c, "factors");
            let x = |i: usize| factors.get(i).copied().unwrap_or(f64::NAN);
            Some(Chart {
                title: "Only the dot product depends on length".to_owned(),
                x_label: "key stretched by".to_owned(),
                y_label: "similarity".to_owned(),
                series: vec![
                    curve(c, "dots", "dot product", Concept::Score, x),
                    curve(c, "cosines", "cosine", Concept::Position, x),
                ],
                marks: vec![(at, "now".to_owned())],
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("stretch", chart);
    view! { <ChartView chart label="Dot product and cosine against the factor" height=240 /> }
        .into_any()
}
