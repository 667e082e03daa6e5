//! Encoder, decoder and cross-attention over two sentences, linked by their words.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::later_pairs;
use crate::cells::parts::model_note::{
    head_box, is_random, model_box, model_note, only_if, pieces_note,
};
use crate::widgets::{Concept, Domain, HeatMap, More, Place, Selected};

/// One of the three.
#[derive(Clone, Copy)]
struct Kind {
    title: &'static str,
    weights: &'static str,
    rows: &'static str,
    cols: &'static str,
    pairs: &'static str,
    row_words: &'static str,
    col_words: &'static str,
    story: &'static str,
}

const ENCODER: Kind = Kind {
    title: "Encoder self-attention",
    weights: "encoder.weights",
    rows: "encoder.rows",
    cols: "encoder.cols",
    pairs: "encoder.pairs",
    row_words: "source",
    col_words: "source",
    story: "Queries, keys and values all come from the source. Nothing is hidden: the whole source is known.",
};

const DECODER: Kind = Kind {
    title: "Masked decoder self-attention",
    weights: "decoder.weights",
    rows: "decoder.rows",
    cols: "decoder.cols",
    pairs: "decoder.pairs",
    row_words: "target",
    col_words: "target",
    story: "Target words ask target words. Later words are hidden: they are not written yet.",
};

const CROSS: Kind = Kind {
    title: "Cross-attention",
    weights: "cross.weights",
    rows: "cross.rows",
    cols: "cross.cols",
    pairs: "cross.pairs",
    row_words: "target",
    col_words: "source",
    story: "Queries come from the decoder, keys and values from the encoder\u{2019}s output. Nothing is hidden.",
};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let pair = cx.selected_entry::<3>("pair");
    // The pair of one figure, whose row is the word that asks. In cross-attention the column is the
    // source word that answers.
    let places = [0, 1, 2].map(|figure| {
        pair.map(
            move |[at, row, col]| (at == figure).then_some((row, col)),
            move |(row, col)| Some([figure, row, col]),
        )
    });
    let source = Signal::derive(move || match pair.get()? {
        [0, row, _] => Some(row),
        [2, _, col] => Some(col),
        _ => None,
    });
    let target = Signal::derive(move || match pair.get()? {
        [0, ..] => None,
        [_, row, _] => Some(row),
    });
    let lines =
        move |row: Signal<Option<usize>>, col: Option<Signal<Option<usize>>>, kind: Kind| {
            Signal::derive(move || {
                let (rows, cols) = (
                    cx.words(kind.row_words).with(Vec::len),
                    cx.words(kind.col_words).with(Vec::len),
                );
                let along = row
                    .get()
                    .into_iter()
                    .flat_map(|r| (0..cols).map(move |c| (r, c)));
                let down = col
                    .and_then(|c| c.get())
                    .into_iter()
                    .flat_map(|c| (0..rows).map(move |r| (r, c)));
                along.chain(down).collect::<Vec<Place>>()
            })
        };
    let nothing = Signal::stored(Vec::new());
    let later = Signal::derive(move || later_pairs(cx.words("target").with(Vec::len)));
    view! {
        <div class="controls">{cx.text_box("sentence")} {cx.text_box("target")}</div>
        <div class="cols-3">
            {figure(cx, ENCODER, places[0], lines(source, None, ENCODER), nothing)}
            {figure(cx, DECODER, places[1], lines(target, None, DECODER), later)}
            {figure(cx, CROSS, places[2], lines(target, Some(source), CROSS), nothing)}
        </div>
        <p class="hint">
            "Point at a pair: all three figures mark the row of its target word and the source word that answers."
        </p>
        <More summary="What flows where">
                <p>
                    "The encoder\u{2019}s output becomes the keys and values of cross-attention; the decoder\u{2019}s output becomes its queries. So a source word reaches the encoder and cross-attention, and a target word reaches the decoder and cross-attention, but no row above its own."
                </p>
                {only_if(is_random(cx), || view! {
                    <p>
                        "One head each, positions added; the residual additions and norms of the full model are left out."
                    </p>
                }.into_any())}
            {[ENCODER, DECODER, CROSS].map(|kind| pairs(cx, kind)).into_iter().collect_view()}
        </More>
        <More summary="Model and head">
            <div class="controls">{model_box(cx)} {head_box(cx)}</div>
            {pieces_note(cx)}
        </More>
        {model_note(cx)}
    }
    .into_any()
}

fn figure(
    cx: CellCx,
    kind: Kind,
    selected: Selected<Place>,
    mark: Signal<Vec<Place>>,
    hidden: Signal<Vec<Place>>,
) -> AnyView {
    view! {
        <section class="panel">
            <HeatMap
                grid=cx.grid_with(kind.weights, Signal::stored(Vec::new()), kind.row_words, kind.col_words)
                label=kind.title
                domain=Signal::stored(Domain::Fixed(0.0, 1.0))
                format=Format::Fixed(3)
                concept=Concept::Weight
                selected
                mark
                hidden
                no_legend=true
            />
        </section>
    }
    .into_any()
}

/// What one of the three asks, and how often.
fn pairs(cx: CellCx, kind: Kind) -> AnyView {
    view! {
        <section class="panel">
            <p class="panel-title">{kind.title}</p>
            <p>{kind.story}</p>
            <dl class="readout">
                <div>
                    <dt>"queries"</dt>
                    <dd>{cx.num(kind.rows, &[], Format::Count)}</dd>
                </div>
                <div>
                    <dt>"keys"</dt>
                    <dd>{cx.num(kind.cols, &[], Format::Count)}</dd>
                </div>
                <div>
                    <dt>"visible pairs"</dt>
                    <dd>{cx.num(kind.pairs, &[], Format::Count)}</dd>
                </div>
            </dl>
        </section>
    }
    .into_any()
}
