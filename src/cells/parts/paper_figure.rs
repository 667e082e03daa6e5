//! The figure of the 2017 paper: encoder and decoder as two columns of boxes to press, through which
//! data flows from the bottom up.

use cells::format::Format;
use cells::lessons::encoder_decoder::paper_figure::{BLOCKS, ENCODER};
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::widgets::Selected;

/// Rows of the figure: the decoder is the higher column.
const ROWS: usize = BLOCKS.len() - ENCODER;

/// The lines between the boxes, in halves of the columns and rows of the figure's grid: the flow,
/// the connections around attention and MLP, and the encoder's output on its way to the decoder.
const FLOW: &str = "M1 19V7M3 19V1";
const AROUND: &str = "M1 16H.08V13H1M1 12H.08V9H1M3 16H3.92V13H3M3 12H3.92V9H3M3 8H3.92V5H3";
const MEMORY: &str = "M1 7H2V11H3";

/// The frames of what is repeated: left edge, upper edge, height.
const FRAMES: [(f64, f64, f64); 2] = [(0.02, 8.05, 8.2), (2.04, 4.05, 12.2)];

/// The box of the cell's input `box`; the cross-attention where nothing is selected.
pub(crate) fn chosen_box(cx: CellCx) -> (Selected<[usize; 1]>, Memo<usize>) {
    let chosen = cx.selected_entry::<1>("box");
    let here = Memo::new(move |_| chosen.get().map_or(11, |[n]| n.min(BLOCKS.len() - 1)));
    (chosen, here)
}

/// The figure. `number` is the tensor whose elements that are not zero are printed in the boxes;
/// boxes of which `is_idle` says so have not been computed.
pub(crate) fn figure(
    cx: CellCx,
    (chosen, here): (Selected<[usize; 1]>, Memo<usize>),
    number: Option<&'static str>,
    is_idle: impl Fn(usize) -> bool + Copy + Send + Sync + 'static,
) -> AnyView {
    let frames = FRAMES.map(|(x, y, height)| {
        view! { <rect x=x.to_string() y=y.to_string() width="1.94" height=height.to_string() /> }
    });
    let button = |n: usize| {
        let (column, row) = match n.checked_sub(ENCODER) {
            None => (1, n),
            Some(row) => (2, row),
        };
        let value = number.map(|name| cx.value(name, vec![n]));
        let count = move || {
            let is_some = value.is_some_and(|value| value.get().is_some_and(|count| count > 0.0));
            is_some.then(|| {
                number.map(|name| view! { <small>{cx.num(name, &[n], Format::Count)}</small> })
            })
        };
        view! {
            <button
                type="button"
                class="button"
                data-box=n.to_string()
                style=format!("grid-area: {} / {column}", ROWS - row)
                class:is-idle=move || is_idle(n)
                aria-pressed=move || (here.get() == n).to_string()
                on:click=move |_| chosen.choose(Some([n]))
            >
                <span>{BLOCKS[n].name}</span>
                {count}
            </button>
        }
    };
    view! {
        <div class="paper-figure" role="group" aria-label="Encoder and decoder, from the input up">
            <svg viewBox="0 0 4 20" preserveAspectRatio="none" aria-hidden="true">
                {frames.collect_view()} <path d=FLOW /> <path d=AROUND />
                <path class="is-memory" d=MEMORY />
            </svg>
            {(0..BLOCKS.len()).map(button).collect_view()}
        </div>
    }
    .into_any()
}
