//! A matrix of two rows, the vector that it is multiplied with, and the plane before and after.

use cells::InputValue;
use cells::format::Format;
use leptos::prelude::*;
use ndarray::{Array2, arr2};

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{input_arrow, input_num, tip, values};
use crate::widgets::{Concept, Mark, Plane, set};

/// Farthest coordinate of both planes.
const REACH: f64 = 3.0;

/// Matrices to begin with, each with what it does.
const EXAMPLES: [(&str, [[f32; 2]; 2]); 4] = [
    ("Shear", [[1.0, 0.5], [0.0, 1.0]]),
    ("Stretch", [[2.0, 0.0], [0.0, 0.5]]),
    ("Turn", [[0.8, -0.6], [0.6, 0.8]]),
    ("Flatten", [[1.0, 1.0], [0.5, 0.5]]),
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="cols-3">
            <div class="stack">
                {cx.matrix_edit("w", Concept::Plain, &["row 1", "row 2"], &[])}
                <div class="row" role="group" aria-label="Examples">
                    {EXAMPLES.map(|(words, matrix)| example(cx, words, matrix)).collect_view()}
                </div>
                <p class="panel-title">{set("Each row times $x$")}</p>
                {[0, 1].map(|row| sum(cx, row)).collect_view()}
            </div>
            {before(cx)}
            {after(cx)}
        </div>
    }
    .into_any()
}

/// A button that puts a matrix in.
fn example(cx: CellCx, words: &'static str, matrix: [[f32; 2]; 2]) -> AnyView {
    let matrix: Array2<f32> = arr2(&matrix);
    view! {
        <button
            type="button"
            class="button"
            on:click=move |_| cx.set("w", InputValue::Matrix(matrix.clone()))
        >
            {words}
        </button>
    }
    .into_any()
}

/// The dot product of a row with the vector.
fn sum(cx: CellCx, row: usize) -> AnyView {
    let term = |column: usize| {
        view! {
            <span class="term">
                {(column > 0).then_some("+ ")} {input_num(cx, "w", (row, column))} " \u{d7} "
                {input_num(cx, "x", (0, column))}
            </span>
        }
    };
    let from = cx.num("output", &[row], Format::Fixed(2));
    view! { <p class="sum">{term(0)} {term(1)} " = " <strong class="c-output">{from}</strong></p> }
        .into_any()
}

/// The vector, and the two arrows of length one along the axes.
fn before(cx: CellCx) -> AnyView {
    let unit = |x, y| Signal::stored(Some((x, y)));
    let marks = vec![
        Mark::arrow("right", Concept::Plain, unit(1.0, 0.0)).faint(),
        Mark::arrow("up", Concept::Plain, unit(0.0, 1.0)).faint(),
        input_arrow(cx, "x", (0, [0, 1]), "x", Concept::Residual),
    ];
    view! { <Plane label="Before: drag x" marks reach=Signal::stored(REACH) /> }.into_any()
}

/// What becomes of them, and of the grid.
fn after(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    let column = |n| tip(computed, "columns", vec![n, 0], vec![n, 1]);
    let marks = vec![
        Mark::arrow("column 1", Concept::Plain, column(0)).faint(),
        Mark::arrow("column 2", Concept::Plain, column(1)).faint(),
        Mark::arrow(
            "Wx",
            Concept::Output,
            tip(computed, "output", vec![0], vec![1]),
        ),
    ];
    let net = Signal::derive(move || {
        let grid = computed.with(|c| c.as_ref().map(|c| values(c, "grid")).unwrap_or_default());
        let lines = grid
            .chunks_exact(4)
            .map(|ends| [(ends[0], ends[1]), (ends[2], ends[3])]);
        lines.collect::<Vec<_>>()
    });
    view! {
        <Plane
            label="After: the grid and x, multiplied by W"
            marks
            reach=Signal::stored(REACH)
            nets=vec![(Concept::Output, net)]
        />
    }
    .into_any()
}
