//! The shift matrix, its product with one position vector written out, and its error at every
//! place.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{Computed, dial, dots, labelled, spread, tip, wave_name};
use crate::plot::{Chart, ChartView};
use crate::widgets::{Concept, LinkedProduct, Mark, More, set};

/// Error below which the two sides agree: the rounding of 32-bit numbers is a hundred times
/// smaller.
const AGREES: f64 = 1e-5;

/// Most clocks in a row.
const CLOCKS: usize = 4;

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    let one = |_: usize| "PE(p)".to_owned();
    let moved = |_: usize| "R_k PE(p)".to_owned();
    view! {
        <div class="controls">
            {cx.slider("shift", Format::Count)} {cx.slider("position", Format::Count)}
        </div>
        {clocks(cx, computed)}
        {verdict(cx)}
        <More summary="The matrix, number by number">
        {cx.slider("width", Format::Count)}
        <LinkedProduct
            left=labelled(cx.grid("matrix"), wave_name, wave_name)
            right=labelled(cx.grid("here"), wave_name, one)
            product=labelled(cx.grid("moved"), wave_name, moved)
            left_label="Shift matrix $R_k$"
            right_label="$PE(p)$"
            product_label="$R_k PE(p)$"
            concepts=(Concept::Plain, Concept::Position, Concept::Output)
            selected=cx.selected_place("selected")
        />
        </More>
        <More summary="The difference at every position">
            {cx.slider("length", Format::Count)} {errors(cx, computed)}
        </More>
    }
    .into_any()
}

/// The pairs of PE(p), of R PE(p) and of PE(p + k) on clock faces.
fn clocks(cx: CellCx, computed: Computed) -> AnyView {
    let pairs = Memo::new(move |_| {
        let width = computed.with(|c| {
            c.as_ref()
                .and_then(|c| c.tensor("here"))
                .map_or(0, |t| t.values.len())
        });
        spread(width / 2, CLOCKS)
    });
    let face = move |i: usize| {
        let (s, c) = (2 * i, 2 * i + 1);
        let hand = |tensor, name, concept| {
            Mark::arrow(name, concept, tip(computed, tensor, vec![s, 0], vec![c, 0]))
        };
        let hands = vec![
            hand("here", "before the shift", Concept::Position).faint(),
            hand("moved", "after the shift", Concept::Output),
        ];
        view! {
            <div class="stack tight">
                <span data-label="">{format!("pair {i}")}</span>
                {dial(format!("Pair {i} before and after the shift"), Signal::stored(1.0), hands)}
                <dl class="readout pairs">
                    <dt>{set("$R_k PE(p)$")}</dt>
                    <dd>
                        {cx.num("moved", &[s, 0], Format::Fixed(3))} ", " {cx.num("moved", &[c, 0], Format::Fixed(3))}
                    </dd>
                    <dt>{set("$PE(p + k)$")}</dt>
                    <dd>
                        {cx.num("target", &[s, 0], Format::Fixed(3))} ", " {cx.num("target", &[c, 0], Format::Fixed(3))}
                    </dd>
                </dl>
            </div>
        }
    };
    view! {
        <section class="panel">
            <p class="panel-title">{set("The same rotation at every $p$")}</p>
            <p>
                {set("Dashed: the hand at position $p$. Solid: the same hand after multiplication by $R_k$. It points where the hand of position $p + k$ points, here position ")}
                {cx.num("goal", &[], Format::Count)} "."
            </p>
            <div class="row">{move || pairs.get().into_iter().map(face).collect_view()}</div>
        </section>
    }
    .into_any()
}

/// The largest error at every place.
fn errors(cx: CellCx, computed: Computed) -> AnyView {
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            Some(Chart {
                title: "Largest difference between $R_k PE(p)$ and $PE(p + k)$".to_owned(),
                x_label: "position $p$".to_owned(),
                y_label: "difference".to_owned(),
                series: vec![dots(c, "errors", "", Concept::Position)],
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("errors", chart);
    view! { <ChartView chart label="The error at every position" height=200 format=Format::Power(1) /> }
        .into_any()
}

/// Whether both sides agree at every place.
fn verdict(cx: CellCx) -> AnyView {
    let largest = cx.value("largest", Vec::new());
    let good = move || largest.get().is_some_and(|e| e < AGREES);
    view! {
        <p class="verdict" class:good=good class:bad=move || !good()>
            {move || if good() { "One matrix for all positions: the largest difference is " } else { "The two sides differ by " }}
            {cx.num("largest", &[], Format::Power(1))} "."
        </p>
    }
    .into_any()
}
