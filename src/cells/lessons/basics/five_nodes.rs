//! A graph of five nodes: click one to see its value, its gradient, and what it passes back.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::widgets::{Selected, set};

/// A node: its name, the formula that it is computed by, and the nodes in it.
struct Node {
    name: &'static str,
    formula: &'static str,
    parents: &'static [usize],
}

/// The nodes, in the order of the tensors.
const NODES: [Node; 5] = [
    Node {
        name: "$w$",
        formula: "$w$",
        parents: &[],
    },
    Node {
        name: "$x$",
        formula: "$x$",
        parents: &[],
    },
    Node {
        name: "$y$",
        formula: "$y$",
        parents: &[],
    },
    Node {
        name: "$p$",
        formula: "$p = w \u{b7} x$",
        parents: &[0, 1],
    },
    Node {
        name: "$L$",
        formula: "$L = (p \u{2212} y)\u{b2}$",
        parents: &[3, 2],
    },
];

/// The lines of the graph, in halves of the columns and rows of its grid, each with the node that it
/// leads to.
const LINES: [(usize, &str); 4] = [
    (3, "M1 1L3 2"),
    (3, "M1 3L3 2"),
    (4, "M3 2L5 3"),
    (4, "M3 5L5 3"),
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let chosen = cx.selected_entry::<1>("node");
    let node = Memo::new(move |_| chosen.get().map_or(0, |[n]| n.min(NODES.len() - 1)));
    view! {
        <div class="controls">
            {cx.slider("w", Format::Fixed(1))} {cx.slider("x", Format::Fixed(1))} {cx.slider("y", Format::Fixed(1))}
        </div>
        <div class="cols-2">{graph(cx, chosen, node)} {move || details(cx, node.get())}</div>
    }
    .into_any()
}

/// The nodes as buttons, over the lines between them.
fn graph(cx: CellCx, chosen: Selected<[usize; 1]>, node: Memo<usize>) -> AnyView {
    let lines = LINES.map(|(to, path)| {
        view! { <path d=path class:is-chosen=move || node.get() == to /> }
    });
    let button = |(n, own): (usize, &Node)| {
        view! {
            <button
                type="button"
                class="button"
                aria-pressed=move || (node.get() == n).to_string()
                on:click=move |_| chosen.choose(Some([n]))
            >
                <span>{set(own.formula)} " = " {cx.num("values", &[n], Format::Fixed(2))}</span>
                <small>"gradient " {cx.num("gradients", &[n], Format::Fixed(2))}</small>
            </button>
        }
    };
    view! {
        <div class="node-graph" role="group" aria-label="The graph of the loss">
            <svg viewBox="0 0 6 6" preserveAspectRatio="none" aria-hidden="true">
                {lines.collect_view()}
            </svg>
            {NODES.iter().enumerate().map(button).collect_view()}
        </div>
    }
    .into_any()
}

/// What a node is, and how much each of its parents gets from it.
fn details(cx: CellCx, n: usize) -> AnyView {
    let own = &NODES[n];
    let rows = own.parents.iter().map(|&parent| {
        view! {
            <tr>
                <th scope="row">{set(NODES[parent].name)}</th>
                <td>{cx.num("gradients", &[n], Format::Fixed(2))}</td>
                <td>{cx.num("local", &[n, parent], Format::Fixed(2))}</td>
                <td>{cx.num("passed", &[n, parent], Format::Fixed(2))}</td>
            </tr>
        }
    });
    let passes = match own.parents {
        [] => view! {
            <p>"This node is not computed from others, so it passes nothing on. If it grows a little, the loss grows by its gradient times as much."</p>
        }
        .into_any(),
        _ => view! {
            <div class="scroll" tabindex="0" role="region" aria-label="What the node passes back">
                <table>
                    <thead>
                        <tr>
                            <th scope="col">"to node"</th>
                            <th scope="col">"own gradient"</th>
                            <th scope="col">"local slope"</th>
                            <th scope="col">"product"</th>
                        </tr>
                    </thead>
                    <tbody>{rows.collect_view()}</tbody>
                </table>
            </div>
        }
        .into_any(),
    };
    view! {
        <section class="panel">
            <p class="panel-title">"Node " {set(own.name)}</p>
            <dl class="readout">
                <div>
                    <dt>"value"</dt>
                    <dd>{cx.num("values", &[n], Format::Fixed(3))}</dd>
                </div>
                <div class="c-score">
                    <dt>"gradient"</dt>
                    <dd>{cx.num("gradients", &[n], Format::Fixed(3))}</dd>
                </div>
            </dl>
            {passes}
        </section>
    }
    .into_any()
}
