//! All products of sinusoidal position vectors, with one diagonal marked, and one row as a curve.

use cells::InputValue;
use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{Computed, curve, labelled, position_name, step_button};
use crate::plot::{Chart, ChartView};
use crate::widgets::{Concept, HeatMap, More, Place, Selected, set};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    let map = labelled(cx.grid("products"), position_name, |position| {
        position.to_string()
    });
    let offset = cx.value("offset", Vec::new());
    let mark = Signal::derive(move || {
        let length = map.with(|g| g.as_ref().map_or(0, |g| g.rows));
        offset
            .get()
            .map_or_else(Vec::new, |k| diagonal(length, k as i64))
    });
    let (first, second) = (
        cx.value("first", Vec::new()),
        cx.value("second", Vec::new()),
    );
    let pair = Signal::derive(move || Some((first.get()? as usize, second.get()? as usize)));
    let selected = Selected::new(pair, move |pair: Option<Place>| {
        if let Some((first, second)) = pair {
            cx.set_all(vec![
                ("first", InputValue::Number(first as f64)),
                ("second", InputValue::Number(second as f64)),
            ]);
        }
    });
    view! {
        <div class="controls">
            {cx.slider("first", Format::Count)} {cx.slider("second", Format::Count)}
        </div>
        <div class="cols-2">
        <HeatMap
            grid=map
            label="Products of position vectors: position $p$ by position $q$"
            format=Format::Fixed(2)
            concept=Concept::Position
            numbers=false
            selected
            mark
        />
        <div class="stack">
        <div class="row">
            {step_button(cx, &["first", "second"], -1.0, "\u{2196} Previous on diagonal")}
            {step_button(cx, &["first", "second"], 1.0, "Next on diagonal \u{2198}")}
        </div>
        {readouts(cx, computed, offset)}
        </div>
        </div>
        <More summary="One row as a curve">{row_curve(cx, computed)}</More>
        <More summary="Positions and dimensions">
            <div class="controls">{cx.slider("length", Format::Count)} {cx.slider("width", Format::Count)}</div>
        </More>
    }
    .into_any()
}

/// The cells whose column is `offset` places after their row.
fn diagonal(length: usize, offset: i64) -> Vec<Place> {
    (0..length)
        .filter_map(|p| {
            let q = usize::try_from(p as i64 + offset).ok()?;
            (q < length).then_some((p, q))
        })
        .collect()
}

fn readouts(cx: CellCx, computed: Computed, offset: Signal<Option<f64>>) -> AnyView {
    let along = Signal::derive(move || {
        let count = computed.with(|c| {
            c.as_ref()
                .and_then(|c| c.tensor("spreads"))
                .map_or(0, |t| t.values.len())
        });
        // Diagonals are listed from the lower left corner; the main one is in the middle.
        let middle = count / 2;
        vec![(middle as f64 + offset.get().unwrap_or_default()).max(0.0) as usize]
    });
    view! {
        <dl class="readout">
            <div class="c-position">
                <dt>{set("$PE(p) \u{b7} PE(q)$")}</dt>
                <dd>{cx.num("product", &[], Format::Fixed(2))}</dd>
            </div>
            <div>
                <dt>{set("offset $q \u{2212} p$")}</dt>
                <dd>{cx.num("offset", &[], Format::Count)}</dd>
            </div>
            <div>
                <dt>"relative difference along this diagonal"</dt>
                <dd>{cx.num_at("spreads", along, Format::Power(1))}</dd>
            </div>
            <div>
                <dt>"relative difference along any diagonal"</dt>
                <dd>{cx.num("largest_spread", &[], Format::Power(1))}</dd>
            </div>
        </dl>
    }
    .into_any()
}

fn row_curve(cx: CellCx, computed: Computed) -> AnyView {
    let chart = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            let first = c.at("first", &[])?;
            Some(Chart {
                title: "One row: the product against the distance".to_owned(),
                x_label: "offset $q \u{2212} p$".to_owned(),
                y_label: "$PE(p) \u{b7} PE(q)$".to_owned(),
                series: vec![curve(c, "row", "", Concept::Position, |q| q as f64 - first)],
                marks: vec![(c.at("offset", &[])?, "q".to_owned())],
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("row", chart);
    view! { <ChartView chart label="One row of the products" height=240 format=Format::Fixed(3) /> }
        .into_any()
}

#[cfg(test)]
mod tests {
    use super::diagonal;

    #[test]
    fn diagonals_stay_inside() {
        assert_eq!(diagonal(3, 0), [(0, 0), (1, 1), (2, 2)]);
        assert_eq!(diagonal(3, 2), [(0, 2)]);
        assert_eq!(diagonal(3, -1), [(1, 0), (2, 1)]);
        assert!(diagonal(0, 0).is_empty());
    }
}
