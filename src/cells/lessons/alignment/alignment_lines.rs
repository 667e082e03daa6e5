//! A translation joined to its source by lines: each as wide and as dark as its weight.

use std::fmt::Write;

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::frame::selection::of_rows;
use crate::cells::parts::model_note::trained;
use crate::widgets::{Concept, Domain, Grid, HeatMap, More, Place, Selected, TokenStrip};

/// Width of the line of weight 1, and of the thinnest one, in pixels.
const WIDEST: f64 = 11.0;
const THINNEST: f64 = 0.75;

/// Weights below this draw no line: it could not be seen.
const FAINTEST: f64 = 0.02;

/// Opacity of the lines of words that are not chosen, against those of the one that is.
const BEHIND: f64 = 0.16;

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let (source, target) = (cx.words("source"), cx.words("target"));
    let word = cx.selected_written("selected", target);
    let row = Memo::new(move |_| word.get().filter(|&t| t < target.with(Vec::len)));
    let mark = Signal::derive(move || match row.get() {
        Some(t) => (0..source.with(Vec::len))
            .map(|s| (t, s))
            .collect::<Vec<Place>>(),
        None => Vec::new(),
    });
    let grid = cx.grid_with("weights", Signal::stored(Vec::new()), "target", "source");
    view! {
        <div class="controls">{cx.text_box("sentence")} {cx.choice_box("show")}</div>
        <p class="translation" lang="it" data-from="translation[0]">
            {move || cx.words("translation").get().into_iter().next()}
        </p>
        {drawing(cx, word, row.into(), grid)}
        <p class="hint">
            "Choose a word of the translation, with a click or with Tab and the arrow keys; choose it again to see the lines of all words."
        </p>
        <More summary="All weights as a map">
        <HeatMap
            grid
            label="Weights: a row for each word of the translation, a column for each of the source"
            domain=Domain::Fixed(0.0, 1.0)
            format=Format::Fixed(2)
            concept=Concept::Weight
            selected=of_rows(word)
            mark
        />
        {readout(cx)}
        </More>
        {trained(&["seq2seq-attention"])}
    }
    .into_any()
}

/// Source above, translation below, lines between; on a narrow page the source is on the left.
fn drawing(
    cx: CellCx,
    word: Selected<usize>,
    row: Signal<Option<usize>>,
    grid: Signal<Option<Grid>>,
) -> AnyView {
    let (source, target) = (cx.words("source"), cx.words("target"));
    let columns = move || source.with(Vec::len).max(target.with(Vec::len));
    let lines = move || grid.with(|g| g.as_ref().map(|g| paths(g, row.get())));
    view! {
        <div class="alignment scroll" tabindex="0" role="region" aria-label="Source and translation, joined by lines">
            <div class="alignment-inner" style=move || format!("--columns: {}", columns())>
                <ol class="tokens alignment-source" aria-label="Source words, with the share that the chosen word takes of each">
                    {move || {
                        let words = source.get().into_iter().enumerate();
                        words.map(|(s, text)| source_word(cx, s, text, row)).collect_view()
                    }}
                </ol>
                <svg class="c-weight" viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">
                    <g>{lines}</g>
                </svg>
                <div class="alignment-target">
                    <TokenStrip tokens=target label="Choose a word of the translation" source="target" selected=word />
                </div>
            </div>
        </div>
    }
    .into_any()
}

/// A source word, and what the chosen word takes of it.
fn source_word(cx: CellCx, s: usize, text: String, row: Signal<Option<usize>>) -> impl IntoView {
    let share = move || {
        row.get()
            .map(|t| cx.num("weights", &[t, s], Format::Percent(0)))
    };
    view! {
        <li>
            <span class="token" data-from=format!("source[{s}]")>{text}</span>
            <span class="alignment-share c-weight">{share}</span>
        </li>
    }
}

/// The lines of all target words, the chosen one's last and in full; without a choice all in full.
fn paths(grid: &Grid, chosen: Option<usize>) -> AnyView {
    let others = (0..grid.rows).filter(|&t| Some(t) != chosen);
    let strength = if chosen.is_some() { BEHIND } else { 1.0 };
    let all = others.map(|t| (t, strength));
    let all = all.chain(chosen.map(|t| (t, 1.0)));
    all.flat_map(|(t, strength)| {
        (0..grid.cols).filter_map(move |s| Some((t, s, grid.at(t, s)?, strength)))
    })
    .filter(|&(_, _, weight, _)| weight >= FAINTEST)
    .map(|(t, s, weight, strength)| {
        let ends = [(s, grid.cols), (t, grid.rows)].map(|(at, of)| (at as f64 + 0.5) / of as f64);
        view! {
            <path
                d=bend(ends)
                fill="none"
                stroke="var(--c)"
                stroke-width=THINNEST + (WIDEST - THINNEST) * weight
                stroke-opacity=weight * strength
                vector-effect="non-scaling-stroke"
            />
        }
    })
    .collect_view()
    .into_any()
}

/// A line from the middle of a source word to that of a target word, upright at both ends.
fn bend([from, to]: [f64; 2]) -> String {
    let mut d = String::new();
    // Writing into a String does not fail.
    let _ = write!(d, "M{from:.4} 0C{from:.4} .45 {to:.4} .55 {to:.4} 1");
    d
}

fn readout(cx: CellCx) -> AnyView {
    let item = move |words: &'static str, name: &'static str| {
        view! {
            <div>
                <dt>{words}</dt>
                <dd data-count=name>{cx.num(name, &[], Format::Count)}</dd>
            </div>
        }
    };
    view! {
        <dl class="readout">
            {item("pairs of heaviest lines that cross", "crossings")}
            {item("pieces of the source", "source.pieces")}
            {item("pieces of the translation, the end among them", "target.pieces")}
        </dl>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::bend;

    #[test]
    fn lines_begin_and_end_in_the_middle_of_their_words() {
        assert_eq!(
            bend([0.125, 0.5]),
            "M0.1250 0C0.1250 .45 0.5000 .55 0.5000 1"
        );
    }
}
