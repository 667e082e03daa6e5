//! Two matrices with a ReLU between them or without: the plane before and after, and their product.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::{input_arrow, tip, values};
use crate::widgets::{Concept, Mark, Net, Plane, set};

/// Farthest coordinate of the plane before and of the one after.
const BEFORE: f64 = 1.2;
const AFTER: f64 = 2.4;

/// The rows of the table: name and tensor.
const ROWS: [(&str, &str); 2] = [("$x$", "output"), ("$-x$", "mirror")];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls">{cx.toggle_box("relu")} {cx.toggle_box("multiplied")}</div>
        <div class="cols-3">
            <div class="stack">
                {cx.matrix_edit("w_1", Concept::Key, &[], &["neuron 1", "neuron 2", "neuron 3"])}
                {cx.matrix_edit("w_2", Concept::Value, &["neuron 1", "neuron 2", "neuron 3"], &[])}
            </div>
            {before(cx)}
            {after(cx)}
        </div>
        {verdict(cx)}
        {table(cx)}
    }
    .into_any()
}

/// The lines whose ends are the rows of a tensor.
fn net(cx: CellCx, tensor: &'static str, is_shown: Signal<bool>) -> Net {
    let computed = cx.computed();
    Signal::derive(move || {
        if !is_shown.get() {
            return Vec::new();
        }
        let grid = computed.with(|c| c.as_ref().map(|c| values(c, tensor)).unwrap_or_default());
        let pieces = grid.chunks_exact(4);
        pieces
            .map(|ends| [(ends[0], ends[1]), (ends[2], ends[3])])
            .collect()
    })
}

/// The vector.
fn before(cx: CellCx) -> AnyView {
    let marks = vec![input_arrow(cx, "x", (0, [0, 1]), "x", Concept::Residual)];
    view! { <Plane label="Before: drag x" marks reach=Signal::stored(BEFORE) /> }.into_any()
}

/// What becomes of it, and of the grid.
fn after(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    let at = |name| tip(computed, name, vec![0], vec![1]);
    let is_multiplied = cx.toggle("multiplied");
    let product = at("single");
    let single = Signal::derive(move || product.get().filter(|_| is_multiplied.get()));
    let marks = vec![
        Mark::arrow("single", Concept::Score, single).faint(),
        Mark::arrow("y", Concept::Output, at("output")),
    ];
    let nets = vec![
        (Concept::Score, net(cx, "grid.single", is_multiplied)),
        (Concept::Output, net(cx, "grid", Signal::stored(true))),
    ];
    view! {
        <Plane label="After: y and the grid" marks reach=Signal::stored(AFTER) nets />
    }
    .into_any()
}

/// The product, and how far what it does is from what the two matrices do.
fn verdict(cx: CellCx) -> AnyView {
    let product = move || {
        let entry = |row, column| cx.num("product", &[row, column], Format::Fixed(2));
        view! {
            <span>
                <span data-label="">{set("$W_1 W_2$")}</span> " = [" {entry(0, 0)} ", " {entry(0, 1)} "; " {entry(1, 0)} ", "
                {entry(1, 1)} "]. "
            </span>
        }
    };
    let is_multiplied = cx.toggle("multiplied");
    view! {
        <p class="verdict">
            {move || is_multiplied.get().then(product)}
            "Over the whole grid, the two matrices and their product differ by up to "
            <strong class="c-score" data-train="apart">{cx.num("apart", &[], Format::Power(1))}</strong> "."
        </p>
    }
    .into_any()
}

/// What comes out for the vector and for its opposite.
fn table(cx: CellCx) -> AnyView {
    let rows = ROWS.map(|(name, tensor)| {
        view! {
            <tr>
                <th scope="row">{set(name)}</th>
                {[0, 1].map(|n| view! { <td>{cx.num(tensor, &[n], Format::Fixed(3))}</td> }).collect_view()}
            </tr>
        }
    });
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="What comes out">
            <table>
                <caption class="vh">"What comes out for the vector and for its opposite"</caption>
                <thead>
                    <tr>
                        <th scope="col">"in"</th>
                        <th scope="col">"out, first"</th>
                        <th scope="col">"out, second"</th>
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}
