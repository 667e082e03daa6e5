//! A chart on the page: a canvas, and its data as a table.

use cells::format::Format;
use leptos::html::Canvas;
use leptos::prelude::*;
use leptos::web_sys::HtmlCanvasElement;
use plotters::prelude::IntoDrawingArea;
use plotters_canvas::CanvasBackend;

use super::chart::{Chart, Series};
use super::draw::draw;
use super::theme::Theme;
use super::ticks::tick_text;
use crate::browser::canvas::{device_scale, fit, size_of};
use crate::display::Num;

/// Most rows of the table; longer series are thinned evenly.
const ROWS: usize = 64;

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
    /// Format of the values of the table.
    #[prop(default = Format::Fixed(4))]
    format: Format,
) -> impl IntoView {
    let canvas = NodeRef::<Canvas>::new();
    keep_painted(canvas, chart);
    let open = RwSignal::new(false);
    let title = move || chart.with(|c| c.as_ref().map(|c| c.title.clone()).unwrap_or_default());
    let spoken = {
        let label = label.clone();
        move || {
            chart.with(|c| {
                c.as_ref()
                    .map_or_else(|| label.clone(), |c| describe(&label, c))
            })
        }
    };
    view! {
        <figure class="chart">
            <figcaption class="chart-title" data-label="">
                {title}
            </figcaption>
            <canvas node_ref=canvas role="img" aria-label=spoken style=format!("height:{height}px")></canvas>
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

/// Paints at once at another size or in another theme, and another chart with the next frame: to
/// set a font has the browser lay out the page, which is best done after all changes of an edit.
fn keep_painted(canvas: NodeRef<Canvas>, chart: Signal<Option<Chart>>) {
    let size = size_of(canvas);
    let now = move || {
        if let Some(Some(canvas)) = canvas.try_get_untracked() {
            // A canvas that cannot be drawn on leaves the table, which says the same.
            chart.try_with_untracked(|chart| paint(&canvas, chart.as_ref()?));
        }
    };
    Effect::new(move |_| {
        size.track();
        now();
    });
    let waits = StoredValue::new(false);
    Effect::new(move |_| {
        chart.track();
        if waits.get_value() {
            return;
        }
        waits.set_value(true);
        request_animation_frame(move || {
            // The page may have been left.
            if waits.try_update_value(|waits| *waits = false).is_some() {
                now();
            }
        });
    });
}

/// The chart in a sentence: what runs along its axes, and the names of its series.
fn describe(label: &str, chart: &Chart) -> String {
    let names: Vec<&str> = chart
        .series
        .iter()
        .map(|s| s.name.as_str())
        .filter(|n| !n.is_empty())
        .collect();
    let axes = format!("{label}: {} by {}", chart.y_label, chart.x_label);
    if names.is_empty() {
        axes
    } else {
        format!("{axes}; {}", names.join(", "))
    }
}

fn paint(canvas: &HtmlCanvasElement, chart: &Chart) -> Option<()> {
    fit(canvas)?;
    let root = CanvasBackend::with_canvas_object(canvas.clone())?.into_drawing_area();
    let theme = Theme {
        scale: device_scale(),
        ..Theme::current()
    };
    draw(&root, chart, &theme).ok()
}

/// Rows of a series of `len` that the table shows: all, or evenly spaced ones.
fn rows(len: usize) -> impl Iterator<Item = usize> {
    (0..len).step_by(len.div_ceil(ROWS).max(1))
}

/// One table where all series share their positions, else one a series.
fn tables(chart: &Chart, label: &str, format: Format) -> AnyView {
    let shared = chart.series.windows(2).all(|pair| pair[0].xs == pair[1].xs);
    let groups: Vec<&[Series]> = if shared {
        vec![&chart.series[..]]
    } else {
        chart.series.iter().map(std::slice::from_ref).collect()
    };
    let thinned = chart.series.iter().any(|s| s.xs.len() > ROWS);
    let tables = groups
        .into_iter()
        .map(|group| table(chart, group, label, format))
        .collect_view();
    view! {
        {thinned.then(|| view! { <p class="hint">"The rows are thinned evenly; the export has all of them."</p> })}
        <div class="scroll" tabindex="0" role="region" aria-label=format!("{label}, numbers")>
            {tables}
        </div>
    }
    .into_any()
}

fn table(chart: &Chart, group: &[Series], label: &str, format: Format) -> impl IntoView {
    let xs = group.first().map(|s| s.xs.clone()).unwrap_or_default();
    let step = xs
        .windows(2)
        .map(|w| (w[1] - w[0]).abs())
        .filter(|d| *d > 0.0)
        .fold(f64::INFINITY, f64::min);
    let heads = group
        .iter()
        .map(|s| {
            let name = if s.name.is_empty() {
                &chart.y_label
            } else {
                &s.name
            };
            view! {
                <th scope="col" data-label="">
                    {name.clone()}
                </th>
            }
        })
        .collect_view();
    let lines = rows(xs.len())
        .map(|i| {
            let values = group
                .iter()
                .map(|s| view! { <td><Num value=Signal::stored(s.ys.get(i).copied()) from=s.from(i) format /></td> })
                .collect_view();
            let x = tick_text(xs[i], if chart.x_log { xs[i] } else { step });
            view! {
                <tr>
                    <th scope="row" data-label="">
                        {x}
                    </th>
                    {values}
                </tr>
            }
        })
        .collect_view();
    view! {
        <table class="line-table">
            <caption class="vh">{label.to_owned()}</caption>
            <thead>
                <tr>
                    <th scope="col" data-label="">
                        {chart.x_label.clone()}
                    </th>
                    {heads}
                </tr>
            </thead>
            <tbody>{lines}</tbody>
        </table>
    }
}

#[cfg(test)]
mod tests {
    use super::{ROWS, rows};

    #[test]
    fn long_series_are_thinned_evenly() {
        assert_eq!(rows(3).collect::<Vec<_>>(), [0, 1, 2]);
        for len in [64, 65, 1000, 10_001] {
            let shown: Vec<usize> = rows(len).collect();
            assert!(shown.len() <= ROWS && shown.len() >= ROWS / 2, "{len}");
            assert!(shown.windows(2).all(|w| w[1] - w[0] == shown[1] - shown[0]));
        }
        assert_eq!(rows(0).count(), 0);
    }
}
