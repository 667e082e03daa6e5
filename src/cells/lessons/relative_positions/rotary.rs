//! Query and key in their planes before and after turning, and what the score does when both move.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{Computed, curve, dial, input_arrow, input_tip, tip, values};
use crate::plot::{Chart, ChartView, Kind, Series};
use crate::widgets::{Concept, Mark, More, Plane, set};

/// Planes of the four-wide query and key.
const PLANES: usize = 2;

/// Change of the score that counts as none: the rounding of 32-bit numbers is a hundred times
/// smaller.
const UNCHANGED: f64 = 1e-4;

/// Farthest coordinate of the planes that arrows are dragged in.
const REACH: f64 = 1.5;

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    let names = ["plane 0, x", "plane 0, y", "plane 1, x", "plane 1, y"];
    view! {
        <div class="controls">
            {cx.slider("m", Format::Count)} {cx.slider("n", Format::Count)} {cx.slider("shift", Format::Count)}
        </div>
        <div class="cols-2">{(0..PLANES).map(|plane| plane_panel(cx, computed, plane)).collect_view()}</div>
        {verdict(cx)}
        <More summary="The numbers of query and key, and the base">
            <div class="row">
                {cx.matrix_edit("q", Concept::Query, &["q"], &names)} {cx.matrix_edit("k", Concept::Key, &["k"], &names)}
                {cx.slider("power", Format::Fixed(1))}
            </div>
            {readouts(cx)}
        </More>
        <More summary="The score when both tokens move, or one">{curves(cx, computed)}</More>
    }
    .into_any()
}

/// One plane: arrows to drag, and where turning takes them.
fn plane_panel(cx: CellCx, computed: Computed, plane: usize) -> AnyView {
    let (x, y) = (2 * plane, 2 * plane + 1);
    let columns = [x, y];
    let given = vec![
        input_arrow(cx, "q", (0, columns), "q", Concept::Query),
        input_arrow(cx, "k", (0, columns), "k", Concept::Key),
    ];
    let hand =
        |tensor, name, concept| Mark::arrow(name, concept, tip(computed, tensor, vec![x], vec![y]));
    let hands = vec![
        hand("turned_q", "q turned", Concept::Query),
        hand("turned_k", "k turned", Concept::Key),
    ];
    let length = |name| {
        let (tip, _) = input_tip(cx, name, || 0, columns);
        move || tip.get().map_or(0.0, |(x, y)| x.hypot(y))
    };
    let (q, k) = (length("q"), length("k"));
    // The face is as wide as its longest hand needs, in steps, so that it does not breathe while an
    // arrow is dragged.
    let reach = Memo::new(move |_| (q().max(k()).max(f64::MIN_POSITIVE) / REACH).ceil() * REACH);
    view! {
        <section class="panel">
            <p class="panel-title">
                <span data-label="">{format!("Plane {plane}")}</span> ": one turn in "
                {cx.num("wavelengths", &[plane], Format::Fixed(1))} " positions"
            </p>
            <div class="row">
                <Plane
                    label=format!("Plane {plane} as given")
                    marks=given
                    reach=Signal::stored(REACH)
                />
                <div class="stack tight">
                    <span class="hint">"After turning"</span>
                    {dial(format!("Plane {plane} after turning"), reach.into(), hands)}
                    <dl class="readout pairs">
                        <dt>"q turned by, radians"</dt>
                        <dd>{cx.num("angles", &[0, plane], Format::Fixed(2))}</dd>
                        <dt>"k turned by, radians"</dt>
                        <dd>{cx.num("angles", &[1, plane], Format::Fixed(2))}</dd>
                    </dl>
                </div>
            </div>
        </section>
    }
    .into_any()
}

fn readouts(cx: CellCx) -> AnyView {
    let pair = move |name: &'static str| {
        view! {
            {cx.num(name, &[0], Format::Fixed(4))}
            ", "
            {cx.num(name, &[1], Format::Fixed(4))}
        }
    };
    let base = cx.value("base", Vec::new());
    // A base of three has decimals that matter; one of ten thousand has none.
    let base_format = move || match base.get() {
        Some(base) if base < 100.0 => Format::Fixed(2),
        _ => Format::Count,
    };
    view! {
        <dl class="readout">
            <div class="c-query">
                <dt>"query position now"</dt>
                <dd>{cx.num("place_q", &[], Format::Count)}</dd>
            </div>
            <div class="c-key">
                <dt>"key position now"</dt>
                <dd>{cx.num("place_k", &[], Format::Count)}</dd>
            </div>
            <div>
                <dt>{set("offset $n \u{2212} m$")}</dt>
                <dd>{cx.num("offset", &[], Format::Count)}</dd>
            </div>
            <div>
                <dt>"base"</dt>
                <dd>{move || cx.num("base", &[], base_format())}</dd>
            </div>
            <div class="c-score">
                <dt>"score before any move"</dt>
                <dd>{cx.num("score_at_start", &[], Format::Fixed(4))}</dd>
            </div>
            <div class="c-score">
                <dt>"score now"</dt>
                <dd>{cx.num("score", &[], Format::Fixed(4))}</dd>
            </div>
            <div>
                <dt>"squared lengths of q and k"</dt>
                <dd>{pair("squared_length")}</dd>
            </div>
            <div>
                <dt>"squared lengths after turning"</dt>
                <dd>{pair("squared_length_turned")}</dd>
            </div>
        </dl>
    }
    .into_any()
}

/// Whether the score stays when both tokens move.
fn verdict(cx: CellCx) -> AnyView {
    let change = cx.value("largest_change", Vec::new());
    let squared = [
        cx.value("squared_length", vec![0]),
        cx.value("squared_length", vec![1]),
    ];
    // Long vectors have large scores, and rounding grows with them.
    let same = move || {
        let [q, k] = squared.map(|s| s.get().unwrap_or_default());
        change
            .get()
            .is_some_and(|c| c < UNCHANGED * (q * k).sqrt().max(1.0))
    };
    view! {
        <p class="verdict" class:good=same class:bad=move || !same()>
            "The score is " {cx.num("score", &[], Format::Fixed(4))}
            ". Moving both tokens by up to a hundred positions changes it by at most "
            {cx.num("largest_change", &[], Format::Power(1))} "."
        </p>
    }
    .into_any()
}

/// The score when both move, and when the key moves alone, on one vertical scale.
fn curves(cx: CellCx, computed: Computed) -> AnyView {
    let range = move |ys: &[f64]| {
        let (low, high) = ys
            .iter()
            .fold((0.0_f64, 0.0_f64), |(a, b), &y| (a.min(y), b.max(y)));
        let room = 0.08 * (high - low).max(1e-3);
        Some((low - room, high + room))
    };
    let shift = cx.number("shift");
    let by_shift = Signal::derive(move || {
        let at = shift.get();
        computed.with(|c| {
            let c = c.as_ref()?;
            Some(Chart {
                title: "Both move: the score stays".to_owned(),
                x_label: "both moved by".to_owned(),
                y_label: "score".to_owned(),
                series: vec![curve(c, "by_shift", "", Concept::Score, |s| s as f64)],
                y_range: range(&values(c, "curve")),
                marks: vec![(at, "now".to_owned())],
                ..Chart::default()
            })
        })
    });
    let by_offset = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let series = |tensor: &str, offsets: &str, kind| Series {
                name: String::new(),
                source: tensor.to_owned(),
                kind,
                xs: values(c, offsets),
                ys: values(c, tensor),
                concept: Concept::Score,
            };
            // Tokens have whole places: there is no offset between two of them.
            let between = series("curve", "curve.offsets", Kind::Line);
            let whole = series("by_offset", "offsets", Kind::Points);
            let here = c.at("offset", &[])?;
            Some(Chart {
                title: "The key moves alone: the score depends on the offset".to_owned(),
                x_label: "offset $n \u{2212} m$".to_owned(),
                y_label: "score".to_owned(),
                y_range: range(&between.ys),
                marks: whole
                    .xs
                    .contains(&here)
                    .then(|| (here, "now".to_owned()))
                    .into_iter()
                    .collect(),
                series: vec![between, whole],
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("by-shift", by_shift);
    cx.offer_chart("by-offset", by_offset);
    view! {
        <div class="cols-2">
            <ChartView chart=by_shift beside=vec![by_offset] label="Score against a move of both" height=220 />
            <ChartView chart=by_offset beside=vec![by_shift] label="Score against the offset" height=220 />
        </div>
    }
    .into_any()
}
