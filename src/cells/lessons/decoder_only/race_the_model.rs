//! The view of `race-the-model`: a story up to its next hidden word, four words to choose from, and
//! the bits of the reader, tiny-gpt and the 4-gram.

use cells::InputValue;
use cells::format::Format;
use cells::lessons::decoder_only::race_the_model::GUESSES;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::bars::share_row;
use crate::cells::parts::figures::command_of_runs;
use crate::cells::parts::model_note::trained;
use crate::widgets::{Choice, More};

/// Words to choose from.
const CHOICES: usize = 4;

/// Who pays bits, in the order of the tensor `totals`.
const RACERS: [&str; 4] = ["you", "tiny-gpt", "4-gram", "even guess"];

/// The columns of the last word's table, with their tensors.
const SHARES: [(&str, &str); 3] = [
    ("you", "you.shares"),
    ("tiny-gpt", "gpt.shares"),
    ("4-gram", "grams.shares"),
];

/// What the parts of the view share.
#[derive(Clone, Copy)]
struct Game {
    cx: CellCx,
    /// The first gap without a guess; the number of gaps where all have one.
    next: Memo<usize>,
    gaps: Memo<usize>,
    words: Signal<Vec<String>>,
}

impl Game {
    fn new(cx: CellCx) -> Self {
        let guesses = GUESSES.map(|(name, _)| cx.number(name));
        let gaps = cx.value("gaps", Vec::new());
        let gaps = Memo::new(move |_| gaps.get().unwrap_or(0.0) as usize);
        let next = Memo::new(move |_| {
            let open = guesses.iter().position(|guess| guess.get() == 0.0);
            open.unwrap_or(guesses.len()).min(gaps.get())
        });
        let words = cx.words("words");
        Self {
            cx,
            next,
            gaps,
            words,
        }
    }

    fn is_over(self) -> bool {
        self.next.get() >= self.gaps.get()
    }
}

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let game = Game::new(cx);
    view! {
        <div class="controls">{story_box(cx)} {cx.slider("sure", Format::Count)}</div>
        {text(game)} {buttons(game)}
        <div class="cols-2">
            <section class="panel">
                <p class="panel-title">"Bits so far (fewer is better)"</p>
                {totals(cx)}
                <p>
                    "Guessed: " {cx.num("answered", &[], Format::Count)} " of "
                    {cx.num("gaps", &[], Format::Count)} ", right: "
                    {cx.num("hits", &[], Format::Count)}
                </p>
            </section>
            {last(game)}
        </div>
        <More summary="The whole story, token by token (guess first)">{tokens(cx)}</More>
        <More summary="The counts, which are logged">{log(cx)}</More>
        {trained(&["tiny-gpt"])}
    }
    .into_any()
}

/// The choice of the story; another one starts without guesses.
fn story_box(cx: CellCx) -> AnyView {
    let change = Callback::new(move |name: String| {
        let mut values = vec![("story", InputValue::Choice(name))];
        values.extend(GUESSES.map(|(name, _)| (name, InputValue::Number(0.0))));
        cx.set_all(values);
    });
    let options = vec!["boat".to_owned(), "ship".to_owned()];
    view! { <Choice label="Story" options value=cx.choice("story") on_change=change /> }.into_any()
}

/// The story up to the next gap, and all of it at the end.
fn text(game: Game) -> AnyView {
    let segments = game.cx.words("segments");
    let right = (0..GUESSES.len()).map(|n| game.cx.value("right", vec![n]));
    let right = StoredValue::new(right.collect::<Vec<Signal<Option<f64>>>>());
    // The word that was in a gap.
    let word = move |n: usize| {
        let place = right.with_value(|right| right.get(n).and_then(|place| place.get()))?;
        let place = CHOICES * n + place as usize;
        game.words.with(|words| words.get(place).cloned())
    };
    let parts = move || {
        let (next, segments) = (game.next.get(), segments.get());
        let shown = segments.into_iter().take(next + 1).enumerate();
        let part = |(n, segment): (usize, String)| {
            let hidden = n == next && !game.is_over();
            let word = match (hidden, n < next) {
                (true, _) => view! { " " <strong>"\u{2026}?"</strong> }.into_any(),
                (_, true) => view! { " " <strong data-label="">{word(n)}</strong> }.into_any(),
                _ => ().into_any(),
            };
            view! { <span data-label="">{segment}</span> {word} }
        };
        shown.map(part).collect_view()
    };
    view! { <p class="story">{parts}</p> }.into_any()
}

/// The words of the next gap.
fn buttons(game: Game) -> AnyView {
    let button = move |n: usize| {
        let word = move || {
            let place = CHOICES * game.next.get() + n;
            let word = game.words.with(|words| words.get(place).cloned());
            word.unwrap_or_else(|| "\u{2013}".to_owned())
        };
        let press = move |_| {
            let gap = game.next.get_untracked();
            if gap < game.gaps.get_untracked()
                && let Some((name, _)) = GUESSES.get(gap)
            {
                game.cx.set(name, InputValue::Number((n + 1) as f64));
            }
        };
        view! {
            <button
                type="button"
                class="button"
                data-label=""
                aria-disabled=move || game.is_over().then_some("true")
                on:click=press
            >
                {word}
            </button>
        }
    };
    let again = move |_| {
        let none = GUESSES.map(|(name, _)| (name, InputValue::Number(0.0)));
        game.cx.set_all(none.to_vec());
    };
    view! {
        <div class="row" role="group" aria-label="The next word">
            {(0..CHOICES).map(button).collect_view()}
            <button type="button" class="button quiet" on:click=again>"Start again"</button>
        </div>
    }
    .into_any()
}

/// The bits of all four.
fn totals(cx: CellCx) -> AnyView {
    let bars = RACERS.iter().enumerate().map(|(n, &name)| {
        let number = cx.num("totals", &[n], Format::Fixed(1));
        share_row(cx, name, ("totals.share", vec![n]), number)
    });
    view! { <ul class="shares">{bars.collect_view()}</ul> }.into_any()
}

/// The probabilities that all three gave to the words of the last gap.
fn last(game: Game) -> AnyView {
    let cx = game.cx;
    let table = move || {
        let gap = game.next.get().checked_sub(1)?;
        let right = cx.value("right", vec![gap]).get()? as usize;
        let rows = (0..CHOICES).map(|n| {
            let word = game
                .words
                .with(|words| words.get(CHOICES * gap + n).cloned());
            let cells = SHARES.map(|(_, tensor)| {
                view! { <td>{cx.num(tensor, &[gap, n], Format::Percent(0))}</td> }
            });
            view! {
                <tr>
                    <th scope="row" data-label="">
                        {word} {(n == right).then_some(" (right)")}
                    </th>
                    {cells.into_iter().collect_view()}
                </tr>
            }
        });
        let heads = SHARES.map(|(name, _)| view! { <th scope="col" data-label="">{name}</th> });
        Some(view! {
            <table class="values">
                <thead>
                    <tr>
                        <th scope="col">"last word"</th>
                        {heads.into_iter().collect_view()}
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        })
    };
    let waiting = move || game.next.get() == 0;
    view! {
        <section class="panel">
            <p class="panel-title">"What each gave to the last four words"</p>
            {move || waiting().then_some("Choose the first word.")}
            {table}
        </section>
    }
    .into_any()
}

/// Every token of the story, with the bits that tiny-gpt saves on it.
fn tokens(cx: CellCx) -> AnyView {
    let texts = cx.words("token.texts");
    let boxes = move || {
        let each = texts.get().into_iter().enumerate();
        each.map(|(n, text)| {
            let gain = cx.value("token.gain", vec![n]);
            let class = move || match gain.get() {
                Some(gain) if gain > 1.0 => "token good",
                Some(gain) if gain < -1.0 => "token bad",
                _ => "token",
            };
            view! {
                <li>
                    <span class=class data-from=format!("token.texts[{n}]")>{text}</span>
                    {cx.num("token.gain", &[n], Format::Fixed(1))}
                </li>
            }
        })
        .collect_view()
    };
    view! {
        <p>
            "Below each token: the bits that tiny-gpt saves compared with the " <span data-label="">"4-gram"</span>
            ". Mean over all tokens: " {cx.num("mean.gpt", &[], Format::Fixed(2))} " bits by tiny-gpt, "
            {cx.num("mean.grams", &[], Format::Fixed(2))} " by the " <span data-label="">"4-gram"</span> "."
        </p>
        <ol class="tokens token-boxes gains" aria-label="Bits saved on each token">{boxes}</ol>
    }
    .into_any()
}

/// Where the numbers of the 4-gram come from.
fn log(cx: CellCx) -> AnyView {
    view! {
        <p>
            "The " <span data-label="">"4-gram"</span> " holds "
            {cx.num("log.grams", &[], Format::Count)} " counts from the "
            {cx.num("log.texts", &[], Format::Count)}
            " texts that tiny-gpt was trained on: far more than a page can load. Its bits for these stories were computed once and logged."
        </p>
        {command_of_runs(cx)}
    }
    .into_any()
}
