//! The map of sinusoidal position vectors, a row of it as clocks, a row and a column as curves.

use cells::InputValue;
use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{
    Computed, curve, dial, dots, labelled, position_name, spread, step_button, tip, values,
    wave_name,
};
use crate::plot::{Chart, ChartView, Series};
use crate::widgets::{Concept, Domain, HeatMap, Mark, More, Num, Palette, Place, Selected};

/// Most clocks in a row.
const CLOCKS: usize = 6;

/// Largest map in which the chosen row and column are outlined.
const OUTLINED: usize = 512;

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    let map = labelled(cx.grid("encoding"), position_name, wave_name);
    let place = cx.number("position");
    let dimension = cx.value("dimension", Vec::new());
    let mark = Signal::derive(move || {
        let (rows, cols) = map.with(|g| g.as_ref().map_or((0, 0), |g| (g.rows, g.cols)));
        let row = place.get() as usize;
        // Outlines would bury a map of thousands of cells; there the selected cell and its tables
        // are enough.
        if rows * cols > OUTLINED {
            return Vec::new();
        }
        let mut cells: Vec<Place> = (0..cols).filter(|_| row < rows).map(|j| (row, j)).collect();
        if let Some(col) = dimension.get() {
            cells.extend((0..rows).filter(|&i| i != row).map(|i| (i, col as usize)));
        }
        cells
    });
    let entry = Signal::derive(move || {
        let row = place.get() as usize;
        let is_shown = map.with(|g| g.as_ref().is_some_and(|g| row < g.rows));
        dimension
            .get()
            .filter(|_| is_shown)
            .map(|col| (row, col as usize))
    });
    let selected = Selected::new(entry, move |entry: Option<Place>| {
        if let Some((row, col)) = entry {
            cx.set_all(vec![
                ("position", InputValue::Number(row as f64)),
                ("dimension", InputValue::Number(col as f64)),
            ]);
        }
    });
    view! {
        <div class="controls">
            {cx.slider("position", Format::Count)} {cx.slider("width", Format::Count)}
        </div>
        {clocks(cx, computed)}
        <More summary="The vectors of all positions as a map">
        <div class="controls">{cx.slider("length", Format::Count)} {cx.slider("dimension", Format::Count)}</div>
        <HeatMap
            grid=map
            label="Position vectors: a row for each position, a column for each dimension"
            palette=Palette::Diverging
            domain=Domain::Fixed(-1.0, 1.0)
            format=Format::Fixed(2)
            concept=Concept::Position
            selected
            mark
        />
        {curves(cx, computed)}
        </More>
    }
    .into_any()
}

/// The vector of the chosen place as clocks, one for each pair (a choice of them where there are
/// many).
fn clocks(cx: CellCx, computed: Computed) -> AnyView {
    let pairs = Memo::new(move |_| {
        let count = computed.with(|c| {
            c.as_ref()
                .and_then(|c| c.tensor("angles"))
                .map_or(0, |t| t.values.len())
        });
        (spread(count, CLOCKS), count > CLOCKS)
    });
    let place = cx.number("position");
    let place = Signal::derive(move || Some(place.get()));
    view! {
        <section class="panel c-position">
            <p class="panel-title">
                "The vector of position " <Num value=place from="input:position" format=Format::Count /> " as clocks"
            </p>
            <p>
                {move || if pairs.get().1 { "Some of its pairs, from the fastest to the slowest. " } else { "" }}
                "At position zero all hands point up; each turns clockwise at its own speed. The sine says how far right the tip is, the cosine how far up."
            </p>
            <div class="row">{move || pairs.get().0.into_iter().map(|i| clock(cx, computed, i)).collect_view()}</div>
            <div class="row">
                {step_button(cx, &["position"], -1.0, "\u{2190} Previous position")}
                {step_button(cx, &["position"], 1.0, "Next position \u{2192}")}
            </div>
        </section>
    }
    .into_any()
}

fn clock(cx: CellCx, computed: Computed, i: usize) -> AnyView {
    let tip = tip(computed, "row", vec![2 * i], vec![2 * i + 1]);
    let hand = Mark::arrow("hand", Concept::Position, tip);
    view! {
        <div class="stack tight">
            <span data-label="">{format!("pair {i}")}</span>
            {dial(format!("Clock of pair {i}"), Signal::stored(1.0), vec![hand])}
            <dl class="readout pairs">
                <dt>"angle, radians"</dt>
                <dd>{cx.num("angles", &[i], Format::Fixed(2))}</dd>
                <dt>"sin"</dt>
                <dd>{cx.num("row", &[2 * i], Format::Fixed(2))}</dd>
                <dt>"cos"</dt>
                <dd>{cx.num("row", &[2 * i + 1], Format::Fixed(2))}</dd>
                <dt>"positions per turn"</dt>
                <dd>{cx.num("wavelengths", &[i], Format::Fixed(1))}</dd>
            </dl>
        </div>
    }
    .into_any()
}

/// The chosen row against the dimension and the chosen column against the place.
fn curves(cx: CellCx, computed: Computed) -> AnyView {
    let y_range = Some((-1.05, 1.05));
    let row = Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            Some(Chart {
                title: "The chosen row: one position, all pairs".to_owned(),
                x_label: "pair".to_owned(),
                y_label: "value".to_owned(),
                series: vec![
                    dots(c, "row.sin", "sin", Concept::Position),
                    dots(c, "row.cos", "cos", Concept::Plain),
                ],
                y_range,
                ..Chart::default()
            })
        })
    });
    let place = cx.number("position");
    let column = Signal::derive(move || {
        let at = place.get();
        computed.with(|c| {
            let c = c.as_ref()?;
            let wave = Series {
                xs: values(c, "curve.places"),
                ..curve(c, "curve", "", Concept::Position, |p| p as f64)
            };
            let places = dots(c, "column", "", Concept::Position);
            let marks = places
                .xs
                .contains(&at)
                .then(|| (at, "p".to_owned()))
                .into_iter()
                .collect();
            Some(Chart {
                title: format!(
                    "The chosen column: {} at every position",
                    wave_name(c.at("dimension", &[])? as usize)
                ),
                x_label: "position".to_owned(),
                y_label: "value".to_owned(),
                series: vec![wave, places],
                y_range,
                marks,
                ..Chart::default()
            })
        })
    });
    cx.offer_chart("row", row);
    cx.offer_chart("column", column);
    view! {
        <div class="cols-2">
            <ChartView chart=row label="The chosen row" height=220 />
            <ChartView chart=column label="The chosen column" height=220 />
        </div>
    }
    .into_any()
}
