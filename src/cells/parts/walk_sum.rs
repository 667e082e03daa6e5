//! The sum for one cell of a walk, written out term by term.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::walk::{Rule, Stage, grid_of};
use crate::widgets::{Grid, Num, Place};

fn at(grid: Signal<Option<Grid>>, (i, j): Place) -> Option<f64> {
    grid.with(|g| g.as_ref()?.at(i, j))
}

/// Inputs are printed as typed, results with a fixed number of digits.
fn format_of(name: &str) -> Format {
    if name.starts_with("input:") {
        Format::Typed
    } else {
        Format::Fixed(3)
    }
}

/// The sum for a cell, term by term.
pub(crate) fn written(
    cx: CellCx,
    stages: &'static [Stage],
    (stage, place): (usize, Place),
) -> AnyView {
    let Some(stage) = stages.get(stage) else {
        return ().into_any();
    };
    let result = number(grid_of(cx, stage.name, None), place, Format::Fixed(3));
    let sum = match stage.rule {
        Rule::Product(left, right) => products(cx, (left, right), place, false),
        Rule::Score(left, right) => {
            let sum = products(cx, (left, right), place, true);
            view! { "( " {sum} " ) \u{d7} " {cx.num("scale", &[], Format::Fixed(3))} }.into_any()
        }
        Rule::Dot(left, right) => products(cx, (left, right), place, true),
        Rule::Tanh(left, right) => {
            let (a, b) = (grid_of(cx, left, None), grid_of(cx, right, None));
            view! {
                "tanh( " {number(a, (0, place.1), format_of(left))} " + " {number(b, place, format_of(right))}
                " )"
            }
            .into_any()
        }
        Rule::Softmax(scores) => shares(cx, scores, place),
    };
    view! { {sum} " = " <strong>{result}</strong> }.into_any()
}

fn number(grid: Signal<Option<Grid>>, place: Place, format: Format) -> AnyView {
    let value = Signal::derive(move || at(grid, place));
    let from = Signal::derive(move || {
        grid.with(|g| {
            g.as_ref()
                .map(|g| g.from(place.0, place.1))
                .unwrap_or_default()
        })
    });
    view! { <Num value from format /> }.into_any()
}

/// The column of the largest value of a row, the first where several are equal.
fn largest_of_row(grid: &Grid, row: usize) -> usize {
    let value = |col| grid.at(row, col).unwrap_or(f64::NEG_INFINITY);
    (1..grid.cols).fold(
        0,
        |best, col| if value(col) > value(best) { col } else { best },
    )
}

/// Σₖ left[i, k] · right[k, j], or · right[j, k] for a score.
fn products(
    cx: CellCx,
    (left, right): (&'static str, &'static str),
    (i, j): Place,
    transposed: bool,
) -> AnyView {
    let (a, b) = (grid_of(cx, left, None), grid_of(cx, right, None));
    let inner = a.with(|g| g.as_ref().map_or(0, |g| g.cols));
    (0..inner)
        .map(|k| {
            let other = if transposed { (j, k) } else { (k, j) };
            view! {
                <span class="term">
                    {(k > 0).then_some("+ ")} {number(a, (i, k), format_of(left))} " \u{d7} "
                    {number(b, other, format_of(right))}
                </span>
            }
        })
        .collect_view()
        .into_any()
}

/// exp of one score over the sum of the row's, after the largest score of the row is subtracted.
fn shares(cx: CellCx, scores: &'static str, (i, j): Place) -> AnyView {
    let scores = grid_of(cx, scores, None);
    let largest = scores.with(|g| g.as_ref().map_or(0, |g| largest_of_row(g, i)));
    let exponentials = grid_of(cx, "exponentials", None);
    let count = exponentials.with(|g| g.as_ref().map_or(0, |g| g.cols));
    let terms = (0..count)
        .map(|k| {
            view! {
                <span class="term">
                    {(k > 0).then_some("+ ")} {number(exponentials, (i, k), Format::Fixed(3))}
                </span>
            }
        })
        .collect_view();
    view! {
        <span class="term">
            "exp(" {number(scores, (i, j), Format::Fixed(3))} " \u{2212} "
            {number(scores, (i, largest), Format::Fixed(3))} ") = "
            {number(exponentials, (i, j), Format::Fixed(3))}
        </span>
        " \u{2192} "
        <span class="term">{number(exponentials, (i, j), Format::Fixed(3))} " \u{f7} ("</span>
        {terms}
        ")"
    }
    .into_any()
}
