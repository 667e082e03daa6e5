//! The data of a chart as tables.

use ::plot::axis::tick_text;
use ::plot::{Chart, Series};
use cells::format::Format;
use cells::symbols::spoken;
use leptos::prelude::*;

use crate::display::Num;
use crate::display::label::set;

/// Most rows of a table; longer series are thinned evenly.
const ROWS: usize = 64;

/// Rows of a series of `len` that the table shows: all, or evenly spaced ones.
fn rows(len: usize) -> impl Iterator<Item = usize> {
    (0..len).step_by(len.div_ceil(ROWS).max(1))
}

/// One table where all series share their positions, else one a series.
pub(crate) fn tables(chart: &Chart, label: &str, format: Format) -> AnyView {
    let shown: Vec<&Series> = chart.shown().collect();
    let shared = shown.windows(2).all(|pair| pair[0].xs == pair[1].xs);
    let groups: Vec<&[&Series]> = if shared {
        vec![&shown[..]]
    } else {
        shown.iter().map(std::slice::from_ref).collect()
    };
    let thinned = shown.iter().any(|s| s.xs.len() > ROWS);
    let tables = groups
        .into_iter()
        .map(|group| table(chart, group, label, format))
        .collect_view();
    view! {
        {thinned.then(|| view! { <p class="hint">"The rows are thinned evenly; the export has all of them."</p> })}
        <div class="scroll" tabindex="0" role="region" aria-label=format!("{}, numbers", spoken(label))>
            {tables}
        </div>
    }
    .into_any()
}

fn table(chart: &Chart, group: &[&Series], label: &str, format: Format) -> impl IntoView {
    let xs = group.first().map(|s| s.xs.clone()).unwrap_or_default();
    let step = xs
        .windows(2)
        .map(|w| (w[1] - w[0]).abs())
        .filter(|d| *d > 0.0)
        .fold(f64::INFINITY, f64::min);
    let heads = group
        .iter()
        .map(|s| {
            view! {
                <th scope="col" data-label="">
                    {set(chart.name_of(s))}
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
            <caption class="vh">{spoken(label)}</caption>
            <thead>
                <tr>
                    <th scope="col" data-label="">
                        {set(&chart.x_label)}
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
