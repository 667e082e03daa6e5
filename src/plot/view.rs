//! A chart on the page: its drawing, a read-out of its values, and its data as a table.

use ::plot::{Chart, Layout, describe, svg};
use cells::format::Format;
use leptos::html::Div;
use leptos::prelude::*;

use super::dense::{self, MOST_SVG_POINTS};
use super::reader::reader;
use super::table::tables;
use crate::browser::width::width_of;
use crate::display::label::set;

/// The chart with the margins that the widest of the charts beside it needs.
fn with_margins(
    chart: Signal<Option<Chart>>,
    beside: Vec<Signal<Option<Chart>>>,
    width: Signal<u32>,
    height: u32,
) -> Signal<Option<Chart>> {
    if beside.is_empty() {
        return chart;
    }
    Memo::new(move |_| {
        let mut chart = chart.get()?;
        let width = width.get();
        let margins = beside.iter().map(|other| {
            let needs = |chart: &Chart| Layout::new(chart, (width, height)).margins(width);
            other.with(|other| other.as_ref().map(needs).unwrap_or_default())
        });
        if width > 0 {
            chart.margins = margins.fold((0.0, 0.0), |most, next| {
                (f64::max(most.0, next.0), f64::max(most.1, next.1))
            });
        }
        Some(chart)
    })
    .into()
}

/// A chart with its data beside it as a table.
#[component]
pub fn ChartView(
    /// The chart.
    #[prop(into)]
    chart: Signal<Option<Chart>>,
    /// Subject of the chart: its accessible name.
    #[prop(into)]
    label: String,
    /// Height in CSS pixels.
    #[prop(default = 260)]
    height: u32,
    /// Format of the values of read-out and table.
    #[prop(default = Format::Fixed(4))]
    format: Format,
    /// What the reader may do while no series has two points: it stands where the axes would.
    #[prop(default = "")]
    until: &'static str,
    /// Charts of the same height that this one is compared with: all plotting rectangles get the
    /// same ends, so equal axes have equal numbers in the same places.
    #[prop(default = Vec::new())]
    beside: Vec<Signal<Option<Chart>>>,
) -> impl IntoView {
    // Computed once for each change, however often it is read below.
    let chart: Signal<Option<Chart>> = Memo::new(move |_| chart.get()).into();
    let stage = NodeRef::<Div>::new();
    let width = width_of(stage);
    let chart = with_margins(chart, beside, width, height);
    let layout = Memo::new(move |_| {
        let width = width.get();
        (width > 0).then(|| chart.with(|c| Some(Layout::new(c.as_ref()?, (width, height)))))?
    });
    let dense = Memo::new(move |_| {
        chart.with(|c| {
            c.as_ref()
                .is_some_and(|c| c.point_count() > MOST_SVG_POINTS)
        })
    });
    let waits = Memo::new(move |_| {
        let drawn = |c: &Chart| c.series.iter().any(|series| series.xs.len() > 1);
        !until.is_empty() && !chart.with(|c| c.as_ref().is_some_and(drawn))
    });
    let open = RwSignal::new(false);
    let title = move || chart.with(|c| c.as_ref().map(|c| c.title.clone()).unwrap_or_default());
    let spoken = {
        let label = label.clone();
        Signal::derive(move || {
            chart.with(|c| {
                c.as_ref()
                    .map_or_else(|| label.clone(), |c| describe(c, &label, format))
            })
        })
    };
    let drawing = move || {
        if dense.get() {
            return dense::canvas(chart, spoken, height).into_any();
        }
        let text = move || {
            let width = width.get();
            let drawn = |c: &Chart| svg(c, (width, height));
            chart.with(|c| {
                c.as_ref()
                    .filter(|_| width > 0)
                    .map(drawn)
                    .unwrap_or_default()
            })
        };
        view! { <div class="chart-drawing" role="img" aria-label=spoken data-label="" inner_html=text></div> }
            .into_any()
    };
    view! {
        <figure class="chart">
            <figcaption class="chart-title" data-label="">
                {move || set(&title())}
            </figcaption>
            <div class="chart-stage" class:is-empty=waits node_ref=stage style=format!("height:{height}px")>
                {drawing}
                {
                    let label = label.clone();
                    move || {
                        (!waits.get()).then(|| reader(chart, layout, label.clone(), format))
                    }
                }
                {move || waits.get().then(|| view! { <p class="chart-until">{until}</p> })}
            </div>
            <details
                class="chart-data"
                on:toggle=move |_| open.update(|open| *open = !*open)
            >
                <summary>"The numbers as a table"</summary>
                {move || {
                    open.get()
                        .then(|| {
                            chart.with(|c| c.as_ref().map(|c| tables(c, &label, format)))
                        })
                }}
            </details>
        </figure>
    }
}
