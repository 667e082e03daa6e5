//! A sentence under arcs: from a word to those that it takes from, each arc as wide and as dark as
//! its weight.

use std::fmt::Write;

use cells::format::Format;
use leptos::prelude::*;

use super::selected::Selected;
use super::token_strip::TokenStrip;
use crate::display::{Concept, Grid, Num};

/// Width of the line of weight 1, and of the thinnest one, in pixels.
const WIDEST: f64 = 10.0;
const THINNEST: f64 = 0.75;

/// Weights below this draw no line: it could not be seen.
const FAINTEST: f64 = 0.02;

/// Most words that stand side by side; the letters of more are turned, so their columns are narrow.
const SIDE_BY_SIDE: usize = 14;

/// Opacity of the faintest line against the darkest one of its row.
const PALEST: f64 = 0.15;

/// The words of a sentence to choose from, and arcs over them; on a narrow page the words stand
/// below each other and the arcs beside them.
#[component]
pub fn Arcs(
    /// The words in their order.
    #[prop(into)]
    tokens: Signal<Vec<String>>,
    /// What a word takes from each: a row for each word that asks.
    #[prop(into)]
    weights: Signal<Option<Grid>>,
    /// What the arcs are, for assistive technology.
    #[prop(into)]
    label: String,
    /// Origin of the words, as for [`TokenStrip`].
    #[prop(into)]
    source: String,
    /// The chosen word.
    selected: Selected<usize>,
) -> impl IntoView {
    let columns = move || format!("--columns: {}", tokens.with(Vec::len));
    let row = Memo::new(move |_| selected.get().filter(|&t| t < tokens.with(Vec::len)));
    let arcs = move || {
        weights.with(|grid| {
            let grid = grid.as_ref()?;
            let path = |from, to| (from != to).then(|| arc(from, to, grid.cols));
            Some(weighted_lines(grid, row.get(), path))
        })
    };
    let shares = move || {
        let grid = weights
            .get()
            .filter(|grid| grid.cols == tokens.with(Vec::len));
        let shown = row.get().zip(grid).filter(|(row, grid)| *row < grid.rows);
        shown.map(|(row, grid)| {
            (0..grid.cols)
                .map(|at| share(&grid, row, at))
                .collect_view()
        })
    };
    let many = Memo::new(move |_| tokens.with(Vec::len) > SIDE_BY_SIDE);
    view! {
        <div class="alignment arcs scroll" class:is-dense=many tabindex="0" role="region" aria-label=label>
            <div class="alignment-inner" style=columns>
                <svg class=Concept::Weight.class() viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">
                    <g>{arcs}</g>
                </svg>
                <TokenStrip tokens label="Choose a word" source selected />
                <ol class="arc-shares c-weight" aria-label="Share that the chosen word takes from each">{shares}</ol>
            </div>
        </div>
    }
}

fn share(grid: &Grid, row: usize, at: usize) -> impl IntoView + use<> {
    let value = Signal::stored(grid.at(row, at));
    let is_most = (0..grid.cols).all(|other| grid.at(row, other) <= grid.at(row, at));
    view! {
        <li class:is-most=is_most><Num value from=grid.from(row, at) format=Format::Percent(0) /></li>
    }
}

/// A line for each weight of the grid that can be seen, as wide as the weight, and as dark as its
/// share of the largest of its row: in a long row all weights are small. `d` gives the line from a
/// row to a column. Those of the chosen row come last; the style sheet makes the others fainter.
pub(crate) fn weighted_lines(
    grid: &Grid,
    chosen: Option<usize>,
    d: impl Fn(usize, usize) -> Option<String>,
) -> AnyView {
    let others = (0..grid.rows).filter(|&row| Some(row) != chosen);
    let mut lines = Vec::new();
    for row in others.chain(chosen) {
        let is_behind = chosen.is_some_and(|chosen| chosen != row);
        let weights = (0..grid.cols).filter_map(|at| grid.at(row, at));
        let most = weights.fold(FAINTEST, f64::max);
        for at in 0..grid.cols {
            let weight = grid.at(row, at).filter(|&weight| weight >= FAINTEST);
            let Some((weight, d)) = weight.zip(d(row, at)) else {
                continue;
            };
            let width = THINNEST + (WIDEST - THINNEST) * weight;
            let opacity = PALEST + (1.0 - PALEST) * weight / most;
            lines.push(view! {
                <path
                    d=d
                    class=is_behind.then_some("is-behind")
                    fill="none"
                    stroke="var(--c)"
                    stroke-width=format!("{width:.2}")
                    stroke-opacity=format!("{opacity:.3}")
                    vector-effect="non-scaling-stroke"
                />
            });
        }
    }
    lines.into_any()
}

/// An arc between the middles of two of `count` words, higher the further they are apart.
fn arc(from: usize, to: usize, count: usize) -> String {
    let middle = |at: usize| (at as f64 + 0.5) / count.max(1) as f64;
    let reach = from.abs_diff(to) as f64 / count.saturating_sub(1).max(1) as f64;
    // A cubic curve rises to three quarters of the height of its handles.
    let top = 1.0 - (0.25 + 0.75 * reach) / 0.75 * 0.97;
    let (from, to) = (middle(from), middle(to));
    let mut d = String::new();
    // Writing into a String does not fail.
    let _ = write!(
        d,
        "M{from:.4} 1C{from:.4} {top:.4} {to:.4} {top:.4} {to:.4} 1"
    );
    d
}

#[cfg(test)]
mod tests {
    use super::arc;

    #[test]
    fn arcs_join_the_middles_of_words_and_stay_inside() {
        assert_eq!(
            arc(0, 3, 4),
            "M0.1250 1C0.1250 -0.2933 0.8750 -0.2933 0.8750 1"
        );
        // The top of the longest arc, where the curve is at its middle.
        let top = 0.25 + 0.75 * -0.2933;
        assert!((0.0..0.1).contains(&top), "{top}");
        assert!(arc(2, 1, 4).starts_with("M0.6250 1C"));
    }
}
