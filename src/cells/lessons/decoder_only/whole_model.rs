//! tiny-gpt, or a GPT-2 that the reader has opened, from the tokens of a text to the next token: its
//! parts as buttons in the order of the computation, the opened tensor as a map, and one number of it
//! as the sum that it is.

use cells::InputValue;
use cells::format::Format;
use cells::lessons::decoder_only::whole_model::{DECODER, TOP};
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::block_words::Shown;
use crate::cells::parts::model_note::trained;
use crate::cells::parts::model_parts::{Parted, drawing, opened};
use crate::widgets::{Concept, More};

/// Columns up to which a map leaves room for its number beside it.
const NARROW: usize = 40;

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let parted = Parted {
        cx,
        stages: &DECODER,
        own: &OWN,
        rows: "tokens",
        narrow: NARROW,
        is_causal: true,
        has_pictures: false,
    };
    view! {
        <div class="cols-2 slim whole-top">
            <div class="stack tight">
                {cx.text_box("sentence")}
                <div class="row center">{cx.slider("tau", Format::Fixed(1))} {draw_button(cx)}</div>
                {no_draw(cx)}
                <More summary="Seed of the draws">{cx.seed_box()}</More>
            </div>
            {next_tokens(cx)}
        </div>
        {drawing(parted)}
        {opened(parted, rounded)}
        {trained(&["tiny-gpt"])}
    }
    .into_any()
}

/// What takes the next token: where the result is that of the text in the box, its text with the
/// token.
#[derive(Clone, Copy)]
struct Taking {
    cx: CellCx,
    now: Signal<String>,
    read: Signal<Vec<String>>,
    is_full: Memo<bool>,
}

impl Taking {
    fn new(cx: CellCx) -> Self {
        let (tokens, most) = (cx.value("tokens", vec![]), cx.value("most", vec![]));
        Self {
            cx,
            now: cx.text("sentence"),
            read: cx.words("text"),
            is_full: Memo::new(move |_| {
                let counts = tokens.get().zip(most.get());
                counts.is_some_and(|(tokens, most)| tokens >= most)
            }),
        }
    }

    /// The text with a token at its end; `None` where it cannot be added. Tracks what it reads.
    fn with(self, token: &str) -> Option<String> {
        let read = self.read.with(|read| read.first().cloned())?;
        let is_read = self.now.with(|now| now.trim() == read);
        (is_read && !token.is_empty() && !self.is_full.get()).then(|| read + token)
    }

    fn take(self, token: &str) {
        if let Some(text) = untrack(|| self.with(token)) {
            self.cx.set("sentence", InputValue::Text(text));
        }
    }
}

/// The first of some words.
fn first(words: &[String]) -> String {
    words.first().cloned().unwrap_or_default()
}

/// The button that draws the next token.
fn draw_button(cx: CellCx) -> AnyView {
    let (taking, drawn) = (Taking::new(cx), cx.words("drawn"));
    let token = Memo::new(move |_| drawn.with(|drawn| first(drawn)));
    view! {
        <button
            type="button"
            class="button primary"
            data-whole="draw"
            aria-disabled=move || token.with(|token| taking.with(token).is_none()).then_some("true")
            on:click=move |_| taking.take(&token.get_untracked())
        >
            "Draw the next token"
        </button>
    }
    .into_any()
}

/// Why no token can be drawn, where that is so.
fn no_draw(cx: CellCx) -> AnyView {
    let taking = Taking::new(cx);
    let (drawn, word) = (cx.words("drawn"), cx.words("drawn.word"));
    let is_over = Memo::new(move |_| {
        word.with(|word| !word.is_empty()) && drawn.with(|drawn| first(drawn)).is_empty()
    });
    let full = move || {
        view! {
            <p class="hint">
                "The cell reads at most " {cx.num("most", &[], Format::Count)}
                " tokens. Shorten the text to continue."
            </p>
        }
    };
    let over = move || {
        view! {
            <p class="hint">
                "The draw is " <span data-label="">{move || word.with(|word| first(word))}</span>
                ", which adds no letter. Take another token, or change the seed."
            </p>
        }
    };
    view! {
        {move || {
            if taking.is_full.get() {
                Some(full().into_any())
            } else {
                is_over.get().then(|| over().into_any())
            }
        }}
    }
    .into_any()
}

/// The most likely next tokens, to be taken by hand.
fn next_tokens(cx: CellCx) -> AnyView {
    let taking = Taking::new(cx);
    let (words, texts) = (cx.words("next.words"), cx.words("next.texts"));
    let at = |words: Signal<Vec<String>>, n: usize| {
        words.with(|words| words.get(n).cloned().unwrap_or_default())
    };
    let row = move |n: usize| {
        let share = cx.value("next.probabilities", vec![n]);
        let style = move || format!("--share: {:.4}", share.get().unwrap_or(0.0));
        view! {
            <li class="share" style=style>
                <span class="share-word">
                    <button
                        type="button"
                        class="button quiet"
                        data-whole="take"
                        aria-disabled=move || taking.with(&at(texts, n)).is_none().then_some("true")
                        on:click=move |_| taking.take(&untrack(|| at(texts, n)))
                    >
                        <span class="vh">"Take "</span>
                        <span data-label="">{move || at(words, n)}</span>
                    </button>
                </span>
                <span class="share-bar"></span>
                {cx.num("next.probabilities", &[n], Format::Percent(1))}
            </li>
        }
    };
    let others = cx.value("next.others", vec![]);
    let style = move || format!("--share: {:.4}", others.get().unwrap_or(0.0));
    view! {
        <div class="c-output">
            <p class="panel-title">"Next token: press one to take it"</p>
            <ul class="shares whole-next">
                {(0..TOP).map(row).collect_view()} <li class="share is-rest" style=style>
                    <span class="share-word">"all others"</span>
                    <span class="share-bar"></span>
                    {cx.num("next.others", &[], Format::Percent(1))}
                </li>
            </ul>
        </div>
    }
    .into_any()
}

/// Its parts before and after the blocks in words, and what its mask does.
const OWN: [Shown; 6] = [
    Shown {
        name: "token",
        short: "$E$",
        title: "Token vectors, rows of the table $E$",
        rule: "Each token has an id. The token\u{2019}s vector is the row of the table with this number.",
        concept: Concept::Residual,
    },
    Shown {
        name: "position",
        short: "position",
        title: "Position vectors, rows of the table of positions",
        rule: "The first position has the first row, whatever the token is.",
        concept: Concept::Position,
    },
    Shown {
        name: "input",
        short: "sum",
        title: "Residual stream $x$ [T \u{d7} C] before the first block",
        rule: "Token vector and position vector, added number by number.",
        concept: Concept::Residual,
    },
    Shown {
        name: "scores",
        short: "scores",
        title: "Scores $QK^\u{22a4}/\u{221a}d_k$ [T \u{d7} T] of the head",
        rule: "The dot product of the row token\u{2019}s query and the column token\u{2019}s key, scaled. Later tokens will be hidden.",
        concept: Concept::Score,
    },
    Shown {
        name: "logits",
        short: "logits",
        title: "Logits of the most likely next tokens",
        rule: "The dot product of the row token\u{2019}s vector and the column token\u{2019}s row of the table $E$.",
        concept: Concept::Output,
    },
    Shown {
        name: "probabilities",
        short: "softmax",
        title: "Probabilities of the most likely next tokens",
        rule: "Softmax of the logits over the whole vocabulary, each divided by the temperature first.",
        concept: Concept::Output,
    },
];

/// What a model does whose matrices are packed into few bits.
fn rounded(cx: CellCx) -> AnyView {
    let bits = cx.value("bits", vec![]);
    let is_rounded = Memo::new(move |_| bits.get().is_some_and(|bits| bits < 32.0));
    view! {
        <Show when=move || is_rounded.get()>
            ". In its products, this model rounds the numbers that it multiplies its parameters with to "
            {cx.num("bits", &[], Format::Count)} " bits; the sum here does not."
        </Show>
    }
    .into_any()
}
