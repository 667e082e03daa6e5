//! The read-out of a chart: a line at the nearest values, and these values beside it. The mouse, a
//! finger and the arrow keys move it.

use ::plot::axis::tick_text;
use ::plot::{Chart, Layout, Reading, nearest, readings, stops};
use cells::format::{Format, number};
use cells::symbols;
use leptos::prelude::*;
use leptos::web_sys::{KeyboardEvent, PointerEvent};

use crate::display::Num;
use crate::display::label::set;

/// What the read-out shows: a copy, since the chart may change while it is shown.
#[derive(Debug, Clone, PartialEq)]
struct ReadOut {
    /// Name of the horizontal axis, and the position on it.
    x: (String, String),
    /// Pixels from the left of the plotting rectangle.
    left: f64,
    /// Whether the values are to the left of the line, where the right has no room.
    before: bool,
    rows: Vec<Row>,
}

/// The value of one series.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    name: String,
    class: &'static str,
    value: f64,
    from: String,
    /// Pixels from the top of the plotting rectangle.
    top: f64,
}

/// The read-out over the plotting rectangle, out of sight until it is asked for.
pub(crate) fn reader(
    chart: Signal<Option<Chart>>,
    layout: Memo<Option<Layout>>,
    label: String,
    format: Format,
) -> impl IntoView {
    let at = RwSignal::new(None::<usize>);
    // Sorted only once the reader asks.
    let positions = Memo::new(move |_| chart.with(|c| c.as_ref().map(stops).unwrap_or_default()));
    let reading = Memo::new(move |_| {
        let at = at.get()?;
        positions.with(|p| {
            let at = at.min(p.len().checked_sub(1)?);
            chart.with(|c| layout.with(|l| Some(read(c.as_ref()?, l.as_ref()?, p, at))))
        })
    });
    let follow = move |event: PointerEvent| {
        let found = layout.with_untracked(|layout| {
            let layout = layout.as_ref()?;
            let share = f64::from(event.offset_x()) / (layout.right - layout.left);
            positions.with_untracked(|p| nearest(p, |x| layout.x.share(x), share))
        });
        at.set(found);
    };
    let leave = move |event: PointerEvent| {
        // A finger that is lifted leaves what it showed.
        if event.pointer_type() != "touch" {
            at.set(None);
        }
    };
    let press = move |event: KeyboardEvent| {
        // With these the arrow keys belong to the browser.
        if event.alt_key() || event.ctrl_key() || event.meta_key() {
            return;
        }
        let last = positions.with_untracked(Vec::len).checked_sub(1);
        if let Some(to) = last.and_then(|last| step(&event.key(), at.get_untracked(), last)) {
            event.prevent_default();
            event.stop_propagation();
            at.set(to);
        }
    };
    let area = move || {
        layout.with(|l| {
            l.as_ref().map(|l| {
                let (width, height) = (l.right - l.left, l.bottom - l.top);
                format!(
                    "left:{}px;top:{}px;width:{width}px;height:{height}px",
                    l.left, l.top
                )
            })
        })
    };
    let last = move || positions.with(|p| p.len().saturating_sub(1));
    view! {
        <div
            class="chart-reader"
            role="slider"
            tabindex="0"
            aria-label=format!("Values of {label}")
            aria-orientation="horizontal"
            aria-valuemin="0"
            aria-valuemax=move || last().to_string()
            aria-valuenow=move || at.get().unwrap_or(0).min(last()).to_string()
            aria-valuetext=move || reading.with(|r| r.as_ref().map_or_else(|| "no values shown".to_owned(), |r| spoken(r, format)))
            style=area
            hidden=move || positions.with(Vec::is_empty) || layout.with(Option::is_none)
            on:pointermove=follow
            on:pointerdown=follow
            on:pointerleave=leave
            on:keydown=press
            on:focus=move |_| at.update(|at| *at = at.or(Some(0)))
            on:blur=move |_| at.set(None)
        >
            {move || reading.get().map(|reading| shown(reading, format))}
        </div>
    }
}

/// Where a key moves the read-out of positions 0 to `last`; `None` for a key that is not ours.
fn step(key: &str, at: Option<usize>, last: usize) -> Option<Option<usize>> {
    let page = last / 10 + 1;
    let up = |by: usize| Some(Some(at.map_or(0, |at| (at + by).min(last))));
    let down = |by: usize| Some(Some(at.map_or(last, |at| at.saturating_sub(by))));
    match key {
        "ArrowRight" | "ArrowUp" => up(1),
        "ArrowLeft" | "ArrowDown" => down(1),
        "PageUp" => up(page),
        "PageDown" => down(page),
        "Home" => Some(Some(0)),
        "End" => Some(Some(last)),
        // Without a read-out the key belongs to what surrounds the chart.
        "Escape" => at.map(|_| None),
        _ => None,
    }
}

/// The values at position number `at`.
fn read(chart: &Chart, layout: &Layout, positions: &[f64], at: usize) -> ReadOut {
    let x = positions[at];
    let gap = match positions.get(at + 1) {
        Some(next) => next - x,
        None => at.checked_sub(1).map_or(x, |before| x - positions[before]),
    };
    let row = |r: Reading<'_>| Row {
        name: chart.name_of(r.series).to_owned(),
        class: r.series.concept.class(),
        value: r.value,
        from: r.series.from(r.index),
        top: layout.at(x, r.value).1 - layout.top,
    };
    let left = layout.at(x, layout.y.low).0 - layout.left;
    ReadOut {
        x: (
            chart.x_label.clone(),
            tick_text(x, if chart.x_log { x } else { gap }),
        ),
        left,
        before: left > (layout.right - layout.left) / 2.0,
        rows: readings(chart, x).into_iter().map(row).collect(),
    }
}

/// The read-out in words, for readers who do not see it.
fn spoken(reading: &ReadOut, format: Format) -> String {
    let mut text = format!("{} {}", reading.x.0, reading.x.1);
    for row in &reading.rows {
        text += &format!("; {}: {}", row.name, number(row.value, format));
    }
    symbols::spoken(&text)
}

fn shown(reading: ReadOut, format: Format) -> impl IntoView {
    let left = reading.left;
    let dots = reading
        .rows
        .iter()
        .map(|row| {
            let style = format!("left:{left}px;top:{}px", row.top);
            view! { <span class=format!("chart-dot {}", row.class) style=style></span> }
        })
        .collect_view();
    let values = reading
        .rows
        .into_iter()
        .map(|row| {
            view! {
                <tr class=row.class>
                    <th scope="row" data-label="">{set(&row.name)}</th>
                    <td><Num value=Signal::stored(Some(row.value)) from=row.from format /></td>
                </tr>
            }
        })
        .collect_view();
    let (name, x) = reading.x;
    view! {
        <span class="chart-line" style=format!("left:{left}px")></span>
        {dots}
        <table class="chart-values" class:is-before=reading.before style=format!("left:{left}px")>
            <tbody>
                <tr><th scope="row" data-label="">{set(&name)}</th><td data-label="">{x}</td></tr>
                {values}
            </tbody>
        </table>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::plot::Series;

    #[test]
    fn keys_move_within_the_positions() {
        assert_eq!(step("ArrowRight", Some(3), 9), Some(Some(4)));
        assert_eq!(step("ArrowRight", Some(9), 9), Some(Some(9)));
        assert_eq!(step("ArrowLeft", Some(0), 9), Some(Some(0)));
        assert_eq!(step("ArrowRight", None, 9), Some(Some(0)));
        assert_eq!(step("PageUp", Some(1), 99), Some(Some(11)));
        assert_eq!(
            (step("Home", Some(5), 9), step("End", Some(5), 9)),
            (Some(Some(0)), Some(Some(9)))
        );
        assert_eq!(step("Escape", Some(5), 9), Some(None));
        assert_eq!(
            step("Escape", None, 9),
            None,
            "Escape is left to the dialog around the chart"
        );
        assert_eq!(step("a", Some(5), 9), None);
    }

    #[test]
    fn the_values_of_a_position_are_told_with_their_names() {
        let series = Series {
            name: "held out".to_owned(),
            source: "held".to_owned(),
            xs: vec![0.0, 50.0, 100.0],
            ys: vec![3.0, 2.0, 1.0],
            ..Series::default()
        };
        let chart = Chart {
            x_label: "step".to_owned(),
            series: vec![series],
            ..Chart::default()
        };
        let layout = Layout::new(&chart, (400, 200));
        let reading = read(&chart, &layout, &[0.0, 50.0, 100.0], 1);
        assert_eq!(spoken(&reading, Format::Fixed(1)), "step 50; held out: 2.0");
        assert_eq!(reading.rows[0].from, "held[1]");
        let half = (layout.right - layout.left) / 2.0;
        assert!((reading.left - half).abs() < 1e-9 && !reading.before);
    }
}
