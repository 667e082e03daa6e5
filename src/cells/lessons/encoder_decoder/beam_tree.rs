//! The tree of a beam search: a column for each token, the most probable text of a column on top.

use std::fmt::Write;

use cells::Computation;
use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::values;
use crate::cells::parts::model_note::trained;
use crate::widgets::More;

/// A text of the tree, as it is drawn.
#[derive(Debug, Clone, PartialEq)]
struct Node {
    token: String,
    step: usize,
    row: usize,
    parent: usize,
    best: bool,
    greedy: bool,
}

fn nodes(c: &Computation) -> Vec<Node> {
    let [step, row, parent, best, greedy] = [
        "tree.step",
        "tree.row",
        "tree.parent",
        "tree.best",
        "tree.greedy",
    ]
    .map(|name| values(c, name));
    let at = |values: &[f64], n: usize| values.get(n).copied().unwrap_or(0.0);
    let tokens = c.words("tree.tokens").iter().enumerate();
    tokens
        .map(|(n, token)| Node {
            token: token.clone(),
            step: at(&step, n) as usize,
            row: at(&row, n) as usize,
            parent: at(&parent, n) as usize,
            best: at(&best, n) > 0.0,
            greedy: at(&greedy, n) > 0.0,
        })
        .collect()
}

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        <div class="controls slim">
            {cx.text_box("sentence")} {cx.slider("beam", Format::Count)} {cx.slider("alpha", Format::Fixed(1))}
        </div>
        {tree(cx)}
        {verdict(cx)}
        <More summary="All translations that the search ends with">{found(cx)}</More>
        {trained(&["translator"])}
    }
    .into_any()
}

/// A line from a text to one that continues it, in halves of columns and rows.
fn line(from: &Node, to: &Node) -> String {
    let (x, y) = (2 * from.step + 1, 2 * from.row + 1);
    let (to_x, to_y) = (2 * to.step + 1, 2 * to.row + 1);
    let mut d = String::new();
    // Writing into a String does not fail.
    let _ = write!(
        d,
        "M{x} {y}C{} {y} {} {to_y} {to_x} {to_y}",
        x + 1,
        to_x - 1
    );
    d
}

fn tree(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    let nodes =
        Memo::new(move |_| computed.with(|c| c.as_ref().map_or_else(Vec::new, |c| nodes(c))));
    let drawn = move || {
        nodes.with(|nodes| {
            let rows = nodes.iter().map(|node| node.row + 1).max().unwrap_or(1);
            let columns = nodes.iter().map(|node| node.step + 1).max().unwrap_or(1);
            let lines = nodes.iter().skip(1).filter_map(|node| {
                let d = line(nodes.get(node.parent)?, node);
                Some(view! { <path d=d class:is-best=node.best class:is-greedy=node.greedy /> })
            });
            let boxes = nodes.iter().enumerate().map(|(n, node)| {
                let place = format!("grid-area: {} / {}", node.row + 1, node.step + 1);
                let share = (n > 0).then(|| cx.num("tree.share", &[n], Format::Percent(0)));
                view! {
                    <div class="beam-node" style=place class:is-best=node.best class:is-greedy=node.greedy>
                        <span lang="it" data-from=format!("tree.tokens[{n}]")>{node.token.clone()}</span>
                        {share}
                    </div>
                }
            });
            view! {
                <div class="beam-tree" style=format!("--columns: {columns}")>
                    <svg viewBox=format!("0 0 {} {}", 2 * columns, 2 * rows) preserveAspectRatio="none" aria-hidden="true">
                        {lines.collect_view()}
                    </svg>
                    {boxes.collect_view()}
                </div>
            }
        })
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="The tree of the search">{drawn}</div>
    }
    .into_any()
}

/// Both translations, with their probabilities.
fn verdict(cx: CellCx) -> AnyView {
    let row = move |name: &'static str,
                    label: &'static str,
                    p: &'static str,
                    tokens: &'static str,
                    score: &'static str| {
        let text = cx.words(name);
        let text = move || text.with(|t| t.first().cloned()).unwrap_or_default();
        view! {
            <tr>
                <th scope="row">{label}</th>
                <td class="is-text" lang="it" data-from=format!("{name}[0]")>{text}</td>
                <td>{cx.num(p, &[], Format::Percent(1))}</td>
                <td>{cx.num(tokens, &[], Format::Count)}</td>
                <td>{cx.num(score, &[], Format::Fixed(3))}</td>
            </tr>
        }
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Greedy decoding and beam search">
            <table>
                <thead>
                    <tr>
                        <th scope="col">"search"</th>
                        <th scope="col" class="is-text">"translation"</th>
                        <th scope="col">"probability"</th>
                        <th scope="col">"tokens"</th>
                        <th scope="col">"score"</th>
                    </tr>
                </thead>
                <tbody>
                    {row("greedy", "greedy", "greedy.p", "greedy.tokens", "greedy.score")}
                    {row("best", "beam", "best.p", "best.tokens", "best.score")}
                </tbody>
            </table>
        </div>
    }
    .into_any()
}

/// The texts that the search ends with.
fn found(cx: CellCx) -> AnyView {
    let texts = cx.words("found");
    let rows = move || {
        let texts = texts.get().into_iter().enumerate();
        texts
            .map(|(n, text)| {
                view! {
                    <tr>
                        <th scope="row" class="is-text" lang="it" data-from=format!("found[{n}]")>{text}</th>
                        <td>{cx.num("found.p", &[n], Format::Percent(2))}</td>
                        <td>{cx.num("found.tokens", &[n], Format::Count)}</td>
                        <td>{cx.num("found.score", &[n], Format::Fixed(3))}</td>
                    </tr>
                }
            })
            .collect_view()
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="All translations">
            <table>
                <thead>
                    <tr>
                        <th scope="col">"translation"</th>
                        <th scope="col">"probability"</th>
                        <th scope="col">"tokens"</th>
                        <th scope="col">"score"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::{Node, line};

    #[test]
    fn lines_join_the_middles_of_their_texts() {
        let node = |step, row| Node {
            token: String::new(),
            step,
            row,
            parent: 0,
            best: false,
            greedy: false,
        };
        assert_eq!(line(&node(0, 0), &node(1, 2)), "M1 1C2 1 2 5 3 5");
    }
}
