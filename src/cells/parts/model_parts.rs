//! A pre-norm Transformer on one screen: its parts as buttons in the order of the computation, the
//! opened tensor as a map, and one number of it as the sum that it is. The results have the names that
//! `crates/cells/src/parts/opened_number.rs` gives them.

use cells::InputValue;
use cells::block_parts::{AT_ONCE, ATTENTION, MLP, Of, Spot, Stages};
use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::block_words::{Shown, shown};
use crate::cells::parts::figures::later_pairs;
use crate::cells::parts::rail::rail;
use crate::cells::parts::terms::{Origins, pager, steps, terms};
use crate::widgets::{Choice, Domain, Grid, HeatMap, Palette, Place, Selected, set};

/// Blocks up to which each is called so on its button; of more, the first one is.
const NAMED: usize = 6;

/// A model, and how its parts are shown.
#[derive(Clone, Copy)]
pub(crate) struct Parted {
    pub(crate) cx: CellCx,
    pub(crate) stages: &'static Stages,
    /// The words of the parts that other models do not have, or that differ from theirs.
    pub(crate) own: &'static [Shown],
    /// The words of the result that name the rows.
    pub(crate) rows: &'static str,
    /// Columns up to which a map leaves room for its number beside it.
    pub(crate) narrow: usize,
    /// No token may look at a later one.
    pub(crate) is_causal: bool,
    /// Maps of several rows are pictures: they fill their place, without tables of their rows and
    /// columns.
    pub(crate) has_pictures: bool,
}

impl Parted {
    fn shown(self, name: &str) -> Option<&'static Shown> {
        shown(self.own, name)
    }
}

/// The part that is open, and the number of blocks.
#[derive(Clone, Copy)]
struct Here {
    parted: Parted,
    part: Signal<String>,
    layer: Memo<usize>,
    layers: Memo<usize>,
}

impl Here {
    fn new(parted: Parted) -> Self {
        let cx = parted.cx;
        let (layer, layers) = (cx.number("layer"), cx.value("layers", vec![]));
        // Four before the first result is there, as many as the site's model has.
        let layers = Memo::new(move |_| layers.get().map_or(4, |layers| layers as usize));
        Self {
            parted,
            part: cx.choice("part"),
            layer: Memo::new(move |_| (layer.get() as usize).clamp(1, layers.get().max(1))),
            layers,
        }
    }

    /// The stage: 0 before the blocks, the number of a block, or one more than there are.
    fn stage(self) -> usize {
        let is_among = |parts: &[&str]| self.part.with(|part| parts.contains(&part.as_str()));
        let stages = self.parted.stages;
        match (is_among(stages.before()), is_among(stages.after())) {
            (true, _) => 0,
            (_, true) => self.layers.get() + 1,
            _ => self.layer.get(),
        }
    }

    fn go(self, layer: usize, part: &str) {
        self.parted.cx.set_all(vec![
            ("layer", InputValue::Number(layer as f64)),
            ("part", InputValue::Choice(part.to_owned())),
        ]);
    }

    /// Opens a stage; another block with the same part.
    fn open(self, stage: usize) {
        let (layers, layer) = (self.layers.get_untracked(), self.layer.get_untracked());
        let part = self.part.get_untracked();
        let is_in_block = [&ATTENTION[..], &MLP].concat().contains(&part.as_str());
        let stages = self.parted.stages;
        let (first, last) = (stages.before().first(), stages.after().last());
        match stage {
            0 => self.go(layer, first.copied().unwrap_or_default()),
            block if block <= layers && is_in_block => self.go(block, &part),
            block if block <= layers => self.go(block, ATTENTION[0]),
            _ => self.go(layer, last.copied().unwrap_or_default()),
        }
    }

    fn next(self, steps: isize) -> Option<(usize, &'static str)> {
        let (stages, layers, layer) = (self.parted.stages, self.layers.get(), self.layer.get());
        self.part
            .with(|part| stages.walked(layers, (layer, part), steps))
    }

    /// Buttons of some parts.
    fn parts(self, label: &'static str, names: &'static [&'static str]) -> AnyView {
        let words = names
            .iter()
            .map(|name| self.parted.shown(name).map_or(*name, |part| part.short));
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
pub(crate) fn drawing(parted: Parted) -> AnyView {
    let here = Here::new(parted);
    let (before, after) = (parted.stages.before(), parted.stages.after());
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
        0 => group("Embedding", here.parts("Parts of the embedding", before)),
        1 => view! {
            {group("Attention", here.parts("Parts of attention", &ATTENTION))}
            {group("MLP", here.parts("Parts of the MLP", &MLP))}
        }
        .into_any(),
        _ => group("Prediction", here.parts("Parts of the prediction", after)),
    };
    view! {
        <div class="whole-drawing">
            <div class="whole-stages">
                {stages} <Show when=move || kind.get() == 1>{head_box(parted.cx)}</Show>
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

/// The opened tensor, and one number of it; `note` follows the difference from the forward pass.
pub(crate) fn opened(parted: Parted, note: fn(CellCx) -> AnyView) -> AnyView {
    let cx = parted.cx;
    let part = cx.words("part");
    let name = Memo::new(move |_| part.with(|part| part.first().cloned()));
    let grid = cx.grid("opened");
    let is_narrow =
        move || grid.with(|grid| grid.as_ref().is_none_or(|grid| grid.cols <= parted.narrow));
    let columns = move || {
        let columns = grid.with(|grid| grid.as_ref().map_or(1, |grid| grid.cols));
        format!("--columns: {columns}")
    };
    let shown = move || name.with(|name| parted.shown(name.as_ref()?));
    let map = move || Some(map(parted, shown()?));
    let number = move || Some(number(parted, shown()?, note));
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
fn grid_of(parted: Parted) -> Signal<Option<Grid>> {
    let (cx, none) = (parted.cx, Signal::stored(Vec::new()));
    let grid = cx.grid_with("opened", none, parted.rows, "columns");
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

fn map(parted: Parted, part: &'static Shown) -> AnyView {
    let grid = grid_of(parted);
    let shares = (Palette::Sequential, Domain::Fixed(0.0, 1.0));
    let ((palette, domain), format) = match part.name {
        "weights" | "probabilities" => (shares, Format::Fixed(3)),
        "pixels" | "patches" => ((Palette::Brightness, shares.1), Format::Fixed(2)),
        _ => ((Palette::Diverging, Domain::Symmetric), Format::Fixed(2)),
    };
    let selected = selected(parted.cx);
    if parted.is_causal && matches!(part.name, "scores" | "weights") {
        let count = Memo::new(move |_| grid.with(|grid| grid.as_ref().map_or(0, |g| g.rows)));
        let hidden = Signal::derive(move || later_pairs(count.get()));
        return view! {
            <HeatMap grid label=part.title palette domain format concept=part.concept selected hidden no_legend=true />
        }
        .into_any();
    }
    let is_row = matches!(part.name, "class" | "logits" | "probabilities");
    let picture = parted.has_pictures && !is_row;
    view! {
        <HeatMap grid label=part.title palette domain format concept=part.concept selected picture no_legend=true />
    }
    .into_any()
}

/// The number that is shown. Tracks the result.
fn spot(parted: Parted) -> Option<(Spot, usize)> {
    parted.cx.computed().with(|c| {
        let c = c.as_ref()?;
        let count = |name: &str| c.at(name, &[]).map(|number| number as usize);
        let place = (
            count("row")?.checked_sub(1)?,
            count("column")?.checked_sub(1)?,
        );
        let head = (count("layer")?, count("head")?);
        let spot = Spot::new(parted.stages, head, c.words("part").first()?, place)?;
        Some((spot, c.tensor("terms")?.shape().first().copied()?))
    })
}

/// The numbers that another number leads to; `of` names one of them by row and column.
fn origins(parted: Parted, of: fn(Place) -> Of) -> Origins {
    let cx = parted.cx;
    let (layers, heads) = (cx.value("layers", vec![]), cx.value("heads", vec![]));
    let source = move |place: Place| {
        let (spot, count) = spot(parted)?;
        let sizes = (layers.get()? as usize, heads.get()? as usize);
        spot.source(parted.stages, of(place), count, sizes)
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

/// The selected number with its terms.
fn number(parted: Parted, part: &'static Shown, note: fn(CellCx) -> AnyView) -> AnyView {
    let cx = parted.cx;
    let (rows, columns) = (cx.words(parted.rows), cx.words("columns"));
    let named = |words: Signal<Vec<String>>, kind: &str, n: usize| {
        let name = words.with(|words| words.get(n).cloned());
        name.unwrap_or_else(|| format!("{kind} {}", n + 1))
    };
    let name = move || {
        let (spot, _) = spot(parted)?;
        let row = named(rows, "row", spot.row);
        let column = named(columns, "column", spot.column);
        Some(format!("{row}, {column}"))
    };
    let of_terms = origins(parted, |(row, column)| Of::Term(row, column));
    let of_steps = origins(parted, |(step, _)| Of::Step(step));
    view! {
        <p class=format!("panel-title {}", part.concept.class())>
            <span data-label="">{name}</span> ": " {cx.num("value", &[], Format::Fixed(4))}
        </p>
        <p class="whole-rule">{set(part.rule)}</p>
        {terms(cx, of_terms)}
        {steps(cx, of_steps)}
        <p class="whole-rule">
            "Difference from the forward pass: " {cx.num("difference", &[], Format::Power(0))} {note(cx)}
        </p>
    }
    .into_any()
}
