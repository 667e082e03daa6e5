//! The figure of the paper with the tensors of the trained translator: a strip of steps, the boxes,
//! and the tensor of the chosen box.

use cells::InputValue;
use cells::format::Format;
use cells::lessons::encoder_decoder::live_figure::{ATTENTIONS, TENSORS, TOP};
use cells::lessons::encoder_decoder::paper_figure::{BLOCKS, ENCODER};
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::model_note::trained;
use crate::cells::parts::paper_figure::{chosen_box, figure};
use crate::widgets::{Concept, Domain, HeatMap, More, Palette, set};

/// Heads of the translator.
const HEADS: usize = 4;

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let (chosen, here) = chosen_box(cx);
    let step = cx.value("step", Vec::new());
    let has_decoder = Memo::new(move |_| step.get() > Some(0.0));
    let is_idle = move |n: usize| n >= ENCODER && !has_decoder.get();
    view! {
        <div class="controls">{cx.text_box("sentence")} {cx.choice_box("block")}</div>
        {steps(cx)}
        <div class="cols-2">
            {figure(cx, (chosen, here), None, is_idle)}
            {move || {
                let n = here.get();
                if is_idle(n) { idle(n) } else { details(cx, n) }
            }}
        </div>
        <More summary="The sizes of this model, and the lengths of its vectors">{sizes(cx)}</More>
        {trained(&["translator"])}
    }
    .into_any()
}

/// The steps: the encoder, then each token that the decoder writes.
fn steps(cx: CellCx) -> AnyView {
    let (names, step) = (cx.words("steps"), cx.value("step", Vec::new()));
    let items = move || {
        let names = names.get().into_iter().enumerate();
        names
            .map(|(n, name)| {
                let is_here = move || step.get() == Some(n as f64);
                view! {
                    <li>
                        <button type="button" data-step=n.to_string() data-from=format!("steps[{n}]")
                            aria-pressed=move || is_here().to_string()
                            on:click=move |_| cx.set("step", InputValue::Number(n as f64))>{name}</button>
                    </li>
                }
            })
            .collect_view()
    };
    view! {
        <div role="group" aria-label="Steps">
            <ul class="tokens">{items}</ul>
        </div>
    }
    .into_any()
}

/// A box of the decoder before it has read anything.
fn idle(n: usize) -> AnyView {
    view! {
        <section class="panel" aria-live="polite">
            <p class="panel-title">{BLOCKS[n].name}</p>
            <p>"Only the encoder has run. Choose a token above to let the decoder begin."</p>
        </section>
    }
    .into_any()
}

/// The tensor of a box.
fn details(cx: CellCx, n: usize) -> AnyView {
    let block = &BLOCKS[n];
    let tensor = if ATTENTIONS.contains(&n) {
        weights(cx, n)
    } else if n >= TENSORS.len() - 2 {
        next(cx, n)
    } else {
        vectors(cx, n)
    };
    view! {
        <section class="panel" aria-live="polite">
            <p class="panel-title">{block.name}</p>
            <p>{set(block.says)}</p>
            {tensor}
        </section>
    }
    .into_any()
}

/// The words and the number of the rows of a box.
fn rows_of(n: usize) -> (&'static str, &'static str) {
    if n < ENCODER {
        ("source", "source.count")
    } else {
        ("target", "target.count")
    }
}

/// A vector for each token.
fn vectors(cx: CellCx, n: usize) -> AnyView {
    let (words, count) = rows_of(n);
    view! {
        <p>
            "Shape: " {cx.num(count, &[], Format::Count)} " \u{d7} " {cx.num("width", &[], Format::Count)}
            ", a row for each token."
        </p>
        <HeatMap
            grid=cx.grid_with(TENSORS[n], Signal::stored(Vec::new()), words, "")
            label="What leaves this box"
            palette=Palette::Diverging
            domain=Domain::Symmetric
            format=Format::Fixed(2)
            concept=Concept::Residual
        />
    }
    .into_any()
}

/// The weights of all heads.
fn weights(cx: CellCx, n: usize) -> AnyView {
    let (rows, count) = rows_of(n);
    let is_cross = n == ATTENTIONS[2];
    let (cols, seen) = if is_cross { rows_of(0) } else { (rows, count) };
    let map = move |head: usize| {
        view! {
            <HeatMap
                grid=cx.grid_with(TENSORS[n], Signal::stored(vec![head]), rows, cols)
                label=format!("Head {}", head + 1)
                domain=Domain::Fixed(0.0, 1.0)
                format=Format::Fixed(2)
                concept=Concept::Weight
                numbers=false
                no_legend=true
                no_readout=true
            />
        }
    };
    view! {
        <p>
            "Weights, shape: " {cx.num("heads", &[], Format::Count)} " \u{d7} "
            {cx.num(count, &[], Format::Count)} " \u{d7} " {cx.num(seen, &[], Format::Count)}
            ". Each row adds up to one."
        </p>
        <div class="map-pairs">{(0..HEADS).map(map).collect_view()}</div>
    }
    .into_any()
}

/// The most likely next tokens, with logits or probabilities.
fn next(cx: CellCx, n: usize) -> AnyView {
    let words = cx.words("top");
    let row = move |at: usize| {
        let word = move || words.with(|words| words.get(at).cloned().unwrap_or_default());
        let share = cx.value("probabilities", vec![at]);
        let style = move || format!("--share: {:.4}", share.get().unwrap_or(0.0));
        let number = if n + 1 == TENSORS.len() {
            cx.num("probabilities", &[at], Format::Percent(1))
        } else {
            cx.num("logits", &[at], Format::Fixed(2))
        };
        view! {
            <li class="share" style=style>
                <span class="share-word" data-from=format!("top[{at}]")>{word}</span>
                <span class="share-bar"></span>
                {number}
            </li>
        }
    };
    view! {
        <p>
            "The last row has " {cx.num("vocabulary", &[], Format::Count)}
            " numbers, one for each token. These are the largest:"
        </p>
        <ul class="shares">{(0..TOP).map(row).collect_view()}</ul>
    }
    .into_any()
}

fn sizes(cx: CellCx) -> AnyView {
    view! {
        <p>
            "The model has " {cx.num("parameters", &[], Format::Count)} " parameters, "
            {cx.num("table", &[], Format::Count)} " of them (" {cx.num("table.share", &[], Format::Percent(0))}
            ") in its one table. With three tables it would have " {cx.num("untied", &[], Format::Count)} "."
        </p>
        <p>
            "Mean lengths of the source\u{2019}s vectors: " {cx.num("length.plain", &[], Format::Fixed(2))}
            " in the table, " {cx.num("length.scaled", &[], Format::Fixed(2))} " times " {set("$\u{221a}C$")}
            ", and " {cx.num("length.positions", &[], Format::Fixed(2))} " for the positions that are added."
        </p>
    }
    .into_any()
}
