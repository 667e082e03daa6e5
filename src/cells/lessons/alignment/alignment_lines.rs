//! A translation joined to its source by lines: each as wide and as dark as its weight.

use std::fmt::Write;

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::frame::selection::of_rows;
use crate::cells::parts::model_note::trained;
use crate::widgets::{
    Concept, Domain, Grid, HeatMap, More, Place, Selected, TokenStrip, weighted_lines,
};

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
    let lines = move || {
        grid.with(|g| {
            let g = g.as_ref()?;
            let middle = |at: usize, of: usize| (at as f64 + 0.5) / of as f64;
            let line = |t, s| Some(bend([middle(s, g.cols), middle(t, g.rows)]));
            Some(weighted_lines(g, row.get(), line))
        })
    };
    view! {
        <div class="alignment scroll" tabindex="0" role="region" aria-label="Source and translation, joined by lines">
            <div class="alignment-inner" style=move || format!("--columns: {}", columns())>
                <ol class="tokens alignment-source" aria-label="Source words, with the weight that the chosen word puts on each">
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
            {item("crossings among the strongest lines", "crossings")}
            {item("pieces in the source", "source.pieces")}
            {item("pieces in the translation, end included", "target.pieces")}
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
