//! tiny-gpt, or a GPT-2 that the reader has opened, from the tokens of a text to the next token: its
//! parts as buttons in the order of the computation, the opened tensor as a map, and one number of it
//! as the sum that it is.

use cells::InputValue;
use cells::format::Format;
use cells::lessons::decoder_only::whole_model::{
    AFTER, AT_ONCE, ATTENTION, BEFORE, MLP, Of, Spot, TOP, walked,
};
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::decoder_parts::{Shown, shown};
use crate::cells::parts::figures::later_pairs;
use crate::cells::parts::model_note::trained;
use crate::cells::parts::rail::rail;
use crate::cells::parts::terms::{Origins, pager, steps, terms};
use crate::widgets::{Choice, Domain, Grid, HeatMap, More, Palette, Place, Selected, set};

/// Columns up to which a map leaves room for its number beside it.
const NARROW: usize = 40;

/// Blocks up to which each is called so on its button; of more, the first one is.
const NAMED: usize = 6;

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
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
        {drawing(cx)}
        {opened(cx)}
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

/// The part that is open, and the number of blocks.
#[derive(Clone, Copy)]
struct Here {
    cx: CellCx,
    part: Signal<String>,
    layer: Memo<usize>,
    layers: Memo<usize>,
}

impl Here {
    fn new(cx: CellCx) -> Self {
        let (layer, layers) = (cx.number("layer"), cx.value("layers", vec![]));
        // Four before the first result is there, as many as the site's model has.
        let layers = Memo::new(move |_| layers.get().map_or(4, |layers| layers as usize));
        Self {
            cx,
            part: cx.choice("part"),
            layer: Memo::new(move |_| (layer.get() as usize).clamp(1, layers.get().max(1))),
            layers,
        }
    }

    /// The stage: 0 before the blocks, the number of a block, or one more than there are.
    fn stage(self) -> usize {
        let is_among = |parts: &[&str]| self.part.with(|part| parts.contains(&part.as_str()));
        match (is_among(&BEFORE), is_among(&AFTER)) {
            (true, _) => 0,
            (_, true) => self.layers.get() + 1,
            _ => self.layer.get(),
        }
    }

    fn go(self, layer: usize, part: &str) {
        self.cx.set_all(vec![
            ("layer", InputValue::Number(layer as f64)),
            ("part", InputValue::Choice(part.to_owned())),
        ]);
    }

    /// Opens a stage; another block with the same part.
    fn open(self, stage: usize) {
        let (layers, layer) = (self.layers.get_untracked(), self.layer.get_untracked());
        let part = self.part.get_untracked();
        let is_in_block = [&ATTENTION[..], &MLP].concat().contains(&part.as_str());
        match stage {
            0 => self.go(layer, BEFORE[0]),
            block if block <= layers && is_in_block => self.go(block, &part),
            block if block <= layers => self.go(block, ATTENTION[0]),
            _ => self.go(layer, AFTER[AFTER.len() - 1]),
        }
    }

    fn next(self, steps: isize) -> Option<(usize, &'static str)> {
        let place = |part: &String| walked(self.layers.get(), (self.layer.get(), part), steps);
        self.part.with(place)
    }

    /// Buttons of some parts.
    fn parts(self, label: &'static str, names: &'static [&'static str]) -> AnyView {
        let words = names
            .iter()
            .map(|name| shown(name).map_or(*name, |part| part.short));
        let chosen = move || {
            self.part
                .with(|part| names.iter().position(|name| name == part))
        };
        let choose = Callback::new(move |n: usize| {
            if let Some(name) = names.get(n) {
                self.go(self.layer.get_untracked(), name);
            }
        });
        let words = words.map(str::to_owned).collect();
        rail(label, words, Signal::derive(chosen), choose)
    }
}

/// The whole model as buttons: the stages in one row, and the parts of the open stage below.
fn drawing(cx: CellCx) -> AnyView {
    let here = Here::new(cx);
    let stage = Memo::new(move |_| here.stage());
    let stages = move || {
        let layers = here.layers.get();
        let blocks = (1..=layers).map(move |n| match n {
            2.. if layers > NAMED => n.to_string(),
            _ => format!("Block {n}"),
        });
        let names = std::iter::once("Embedding".to_owned()).chain(blocks);
        let names = names.chain(std::iter::once("Prediction".to_owned()));
        let chosen = Signal::derive(move || Some(stage.get()));
        let choose = Callback::new(move |n| here.open(n));
        rail("Stages of the model", names.collect(), chosen, choose)
    };
    // The buttons stay where another block is opened.
    let kind = Memo::new(move |_| match stage.get() {
        0 => 0,
        n if n <= here.layers.get() => 1,
        _ => 2,
    });
    let parts = move || match kind.get() {
        0 => group("Embedding", here.parts("Parts of the embedding", &BEFORE)),
        1 => view! {
            {group("Attention", here.parts("Parts of attention", &ATTENTION))}
            {group("MLP", here.parts("Parts of the MLP", &MLP))}
        }
        .into_any(),
        _ => group("Prediction", here.parts("Parts of the prediction", &AFTER)),
    };
    view! {
        <div class="whole-drawing">
            <div class="whole-stages">
                {stages} <Show when=move || kind.get() == 1>{head_box(cx)}</Show>
                <div class="row" role="group" aria-label="Walk through all parts">
                    {walk_button(here, -1, "\u{2190} Back")} {walk_button(here, 1, "Next \u{2192}")}
                </div>
            </div>
            <div class="whole-parts">{parts}</div>
        </div>
    }
    .into_any()
}

fn group(title: &'static str, rail: AnyView) -> AnyView {
    view! {
        <div class="whole-group">
            <p class="panel-title">{title}</p>
            {rail}
        </div>
    }
    .into_any()
}

/// A button that goes one part on, through all blocks.
fn walk_button(here: Here, steps: isize, words: &'static str) -> AnyView {
    let name = if steps > 0 { "next" } else { "back" };
    view! {
        <button
            type="button"
            class="button"
            data-whole=name
            aria-disabled=move || here.next(steps).is_none().then_some("true")
            on:click=move |_| {
                if let Some((layer, part)) = untrack(|| here.next(steps)) {
                    here.go(layer, part);
                }
            }
        >
            {words}
        </button>
    }
    .into_any()
}

/// The choice of the head.
fn head_box(cx: CellCx) -> AnyView {
    let (head, heads) = (cx.value("head", vec![]), cx.value("heads", vec![]));
    let heads = Memo::new(move |_| heads.get().unwrap_or(4.0) as usize);
    let value = Signal::derive(move || head.get().map(|n| n.to_string()).unwrap_or_default());
    let change = Callback::new(move |number: String| {
        if let Some(number) = cells::decimal::parse(&number) {
            cx.set("head", InputValue::Number(number));
        }
    });
    let choice = move || {
        let options: Vec<String> = (1..=heads.get()).map(|n| n.to_string()).collect();
        view! { <Choice label="Head" options value on_change=change verbatim=true /> }
    };
    view! { {choice} }.into_any()
}

/// The opened tensor, and one number of it.
fn opened(cx: CellCx) -> AnyView {
    let part = cx.words("part");
    let name = Memo::new(move |_| part.with(|part| part.first().cloned()));
    let grid = cx.grid("opened");
    let is_narrow = move || grid.with(|grid| grid.as_ref().is_none_or(|grid| grid.cols <= NARROW));
    let columns = move || {
        let columns = grid.with(|grid| grid.as_ref().map_or(1, |grid| grid.cols));
        format!("--columns: {columns}")
    };
    let map = move || name.with(|name| Some(map(cx, shown(name.as_ref()?)?)));
    let number = move || name.with(|name| Some(number(cx, shown(name.as_ref()?)?)));
    view! {
        <div class="whole-open" class:is-narrow=is_narrow style=columns>
            <div class="whole-map">{map} {other_columns(cx)}</div>
            <div class="stack tight">{number}</div>
        </div>
    }
    .into_any()
}

/// The first column in view, from 0: a wide tensor is shown in parts.
fn first_column(cx: CellCx) -> Memo<usize> {
    let first = cx.value("first", vec![]);
    Memo::new(move |_| first.get().unwrap_or(0.0) as usize)
}

/// Buttons to the columns before and after those in view, where there are any.
fn other_columns(cx: CellCx) -> AnyView {
    let (first, width, grid) = (
        first_column(cx),
        cx.value("width", vec![]),
        cx.grid("opened"),
    );
    let width = Memo::new(move |_| width.get().unwrap_or(0.0) as usize);
    let shown = Memo::new(move |_| grid.with(|grid| grid.as_ref().map_or(0, |grid| grid.cols)));
    let column = cx.value("column", vec![]);
    let to = Callback::new(move |steps: isize| {
        let to = first.get().checked_add_signed(steps * AT_ONCE as isize)?;
        (to < width.get()).then_some(to)
    });
    let which = Signal::derive(move || {
        let first = first.get();
        format!(
            "{} to {} of {}",
            first + 1,
            first + shown.get(),
            width.get()
        )
    });
    // The selected number moves to the same place among them.
    let go = Callback::new(move |to: usize| {
        let column = untrack(|| column.get()).unwrap_or(1.0) as usize;
        let column = column.saturating_sub(first.get_untracked()) + to;
        let column = column.clamp(1, width.get_untracked().max(1));
        cx.set("column", InputValue::Number(column as f64));
    });
    let words = ["\u{2190} Columns before", "Columns after \u{2192}"];
    let is_part = Memo::new(move |_| shown.get() < width.get());
    view! { <Show when=move || is_part.get()>{pager("Columns in view", words, which, to, go)}</Show> }
        .into_any()
}

/// The selected number of the opened tensor.
fn selected(cx: CellCx) -> Selected<Place> {
    let (row, column) = (cx.value("row", vec![]), cx.value("column", vec![]));
    let first = first_column(cx);
    let at = |number: Option<f64>| number.map(|n| (n as usize).saturating_sub(1));
    let chosen = Memo::new(move |_| {
        let column = at(column.get())?.checked_sub(first.get())?;
        Some((at(row.get())?, column))
    });
    Selected::new(chosen, move |place: Option<Place>| {
        if let Some((row, column)) = place {
            let number = |n: usize| InputValue::Number((n + 1) as f64);
            let column = first.get_untracked() + column;
            cx.set_all(vec![("row", number(row)), ("column", number(column))]);
        }
    })
}

/// The opened tensor. Its columns have the numbers that they have in the whole one.
fn grid_of(cx: CellCx) -> Signal<Option<Grid>> {
    let grid = cx.grid_with("opened", Signal::stored(Vec::new()), "tokens", "columns");
    let first = first_column(cx);
    Memo::new(move |_| {
        let mut grid = grid.get()?;
        let first = first.get();
        if first > 0 {
            let names = (first..first + grid.cols).map(|n| format!("column {}", n + 1));
            grid.col_labels = names.collect();
        }
        Some(grid)
    })
    .into()
}

fn map(cx: CellCx, part: &'static Shown) -> AnyView {
    let grid = grid_of(cx);
    let is_share = matches!(part.name, "weights" | "probabilities");
    let (palette, domain, format) = if is_share {
        (
            Palette::Sequential,
            Domain::Fixed(0.0, 1.0),
            Format::Fixed(3),
        )
    } else {
        (Palette::Diverging, Domain::Symmetric, Format::Fixed(2))
    };
    let selected = selected(cx);
    if matches!(part.name, "scores" | "weights") {
        let count = Memo::new(move |_| grid.with(|grid| grid.as_ref().map_or(0, |g| g.rows)));
        let hidden = Signal::derive(move || later_pairs(count.get()));
        return view! {
            <HeatMap grid label=part.title palette domain format concept=part.concept selected hidden no_legend=true />
        }
        .into_any();
    }
    view! {
        <HeatMap grid label=part.title palette domain format concept=part.concept selected no_legend=true />
    }
    .into_any()
}

/// The number that is shown. Tracks the result.
fn spot(cx: CellCx) -> Option<(Spot, usize)> {
    cx.computed().with(|c| {
        let c = c.as_ref()?;
        let count = |name: &str| c.at(name, &[]).map(|number| number as usize);
        let place = (
            count("row")?.checked_sub(1)?,
            count("column")?.checked_sub(1)?,
        );
        let head = (count("layer")?, count("head")?);
        let spot = Spot::new(head, c.words("part").first()?, place)?;
        Some((spot, c.tensor("terms")?.shape().first().copied()?))
    })
}

/// The numbers that another number leads to; `of` names one of them by row and column.
fn origins(cx: CellCx, of: fn(Place) -> Of) -> Origins {
    let (layers, heads) = (cx.value("layers", vec![]), cx.value("heads", vec![]));
    let source = move |place: Place| {
        let (spot, count) = spot(cx)?;
        let sizes = (layers.get()? as usize, heads.get()? as usize);
        spot.source(of(place), count, sizes)
    };
    Origins {
        is_known: Callback::new(move |place| source(place).is_some()),
        open: Callback::new(move |place| {
            if let Some(to) = untrack(|| source(place)) {
                let number = |n: usize| InputValue::Number(n as f64);
                cx.set_all(vec![
                    ("part", InputValue::Choice(to.part.to_owned())),
                    ("layer", number(to.layer)),
                    ("head", number(to.head)),
                    ("row", number(to.row + 1)),
                    ("column", number(to.column + 1)),
                ]);
            }
        }),
    }
}

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

/// The selected number with its terms.
fn number(cx: CellCx, part: &'static Shown) -> AnyView {
    let (tokens, columns) = (cx.words("tokens"), cx.words("columns"));
    let name = move || {
        let (spot, _) = spot(cx)?;
        let token = tokens.with(|tokens| tokens.get(spot.row).cloned())?;
        let column = columns.with(|columns| columns.get(spot.column).cloned());
        let column = column.unwrap_or_else(|| format!("column {}", spot.column + 1));
        Some(format!("{token}, {column}"))
    };
    let of_terms = origins(cx, |(row, column)| Of::Term(row, column));
    let of_steps = origins(cx, |(step, _)| Of::Step(step));
    view! {
        <p class=format!("panel-title {}", part.concept.class())>
            <span data-label="">{name}</span> ": " {cx.num("value", &[], Format::Fixed(4))}
        </p>
        <p class="whole-rule">{set(part.rule)}</p>
        {terms(cx, of_terms)}
        {steps(cx, of_steps)}
        <p class="whole-rule">
            "Difference from the forward pass: " {cx.num("difference", &[], Format::Power(0))} {rounded(cx)}
        </p>
    }
    .into_any()
}
