//! Two arrows to drag: their dot product term by term, its sign, and the angle.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{input_arrow, input_num};
use crate::widgets::{Concept, More, Plane};

/// Farthest coordinate of the plane.
const REACH: f64 = 3.0;

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let arrow = |row, name, concept| input_arrow(cx, "vectors", (row, [0, 1]), name, concept);
    let marks = vec![arrow(0, "a", Concept::Query), arrow(1, "b", Concept::Key)];
    view! {
        <div class="cols-2">
            <Plane
                label="Drag the tips, or move them with the arrow keys"
                marks
                reach=Signal::stored(REACH)
            />
            <div class="stack">{sum(cx)} {verdict(cx)} {readouts(cx)}</div>
        </div>
        <More summary="The vectors as numbers">
            {cx.matrix_edit("vectors", Concept::Plain, &["a", "b"], &["right", "up"])}
        </More>
    }
    .into_any()
}

/// a₁ b₁ + a₂ b₂, with the numbers.
fn sum(cx: CellCx) -> AnyView {
    let term = |column| {
        view! {
            <span class="term">
                {(column > 0).then_some("+ ")} {input_num(cx, "vectors", (0, column))} " \u{d7} "
                {input_num(cx, "vectors", (1, column))}
            </span>
        }
    };
    let part = |column: usize| {
        view! {
            <span class="term">
                {(column > 0).then_some("+ ")} {cx.num("terms", &[column], Format::Fixed(2))}
            </span>
        }
    };
    view! {
        <p class="sum">{term(0)} {term(1)} " = " {part(0)} {part(1)} " = " <strong>{cx.num("dot", &[], Format::Fixed(2))}</strong></p>
    }
    .into_any()
}

/// What the sign says.
fn verdict(cx: CellCx) -> AnyView {
    let dot = cx.value("dot", Vec::new());
    let words = move || match dot.get() {
        Some(dot) if dot > 0.0 => "Positive: the angle is smaller than a right angle.",
        Some(dot) if dot < 0.0 => "Negative: the angle is larger than a right angle.",
        Some(_) => "Zero: the arrows are at a right angle, or one of them has no length.",
        None => "",
    };
    view! { <p class="verdict">{words}</p> }.into_any()
}

fn readouts(cx: CellCx) -> AnyView {
    view! {
        <dl class="readout">
            <div class="c-score">
                <dt>"dot product"</dt>
                <dd>{cx.num("dot", &[], Format::Fixed(2))}</dd>
            </div>
            <div>
                <dt>"angle"</dt>
                <dd>{cx.num("angle", &[], Format::Fixed(1))} "\u{b0}"</dd>
            </div>
            <div>
                <dt>"cosine of the angle"</dt>
                <dd>{cx.num("cosine", &[], Format::Fixed(3))}</dd>
            </div>
            <div class="c-query">
                <dt>"length of a"</dt>
                <dd>{cx.num("lengths", &[0], Format::Fixed(3))}</dd>
            </div>
            <div class="c-key">
                <dt>"length of b"</dt>
                <dd>{cx.num("lengths", &[1], Format::Fixed(3))}</dd>
            </div>
        </dl>
    }
    .into_any()
}
