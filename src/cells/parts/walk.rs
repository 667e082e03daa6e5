//! A chain of matrices that is walked cell by cell: each cell shows the row and column it came
//! from, and its sum written out.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::walk_sum::written;
use crate::widgets::{Concept, Domain, Grid, HeatMap, MatrixEdit, Palette, Place, Selected};

/// The formula of a stage's cells. Matrices are named as `data-from` names them: `q`, `input:x`.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rule {
    /// left · right.
    Product(&'static str, &'static str),
    /// left · rightᵀ times the number `scale` of the result.
    Score(&'static str, &'static str),
    /// left · rightᵀ.
    Dot(&'static str, &'static str),
    /// tanh of each row of right plus the one row left.
    Tanh(&'static str, &'static str),
    /// Softmax of each row of a matrix; the result holds `exponents`, `exponentials` and `totals`.
    Softmax(&'static str),
}

/// One computed matrix of the chain.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stage {
    /// Tensor of the result.
    pub(crate) name: &'static str,
    /// Title of its map, with its formula.
    pub(crate) title: &'static str,
    /// Short name in the step bar.
    pub(crate) short: &'static str,
    /// Formula of its cells.
    pub(crate) rule: Rule,
    /// Accent colour.
    pub(crate) concept: Concept,
    /// Names of its rows.
    pub(crate) rows: &'static [&'static str],
    /// Names of its columns; none for plain numbering.
    pub(crate) cols: &'static [&'static str],
}

/// A walk through all cells of all stages.
#[derive(Clone, Copy)]
pub(crate) struct Walk {
    cx: CellCx,
    stages: &'static [Stage],
    /// Stage and cell in view.
    focus: Selected<[usize; 3]>,
}

/// A matrix of the result or an input, with names.
pub(crate) fn grid_of(
    cx: CellCx,
    name: &'static str,
    labels: Option<&Stage>,
) -> Signal<Option<Grid>> {
    let own = |labels: &[&str]| labels.iter().map(|&l| l.to_owned()).collect::<Vec<_>>();
    let (rows, cols) = labels.map_or_else(Default::default, |s| (own(s.rows), own(s.cols)));
    let input = name.strip_prefix("input:");
    let found = match input {
        Some(input) => {
            let matrix = cx.matrix(input);
            Signal::derive(move || Some(matrix.with(|m| Grid::from_matrix(name, m))))
        }
        None => cx.grid(name),
    };
    Memo::new(move |_| found.get().map(|g| g.labelled(rows.clone(), cols.clone()))).into()
}

impl Walk {
    /// A walk whose stage and cell are the cell's input `step`.
    pub(crate) fn new(cx: CellCx, stages: &'static [Stage]) -> Self {
        Self {
            cx,
            stages,
            focus: cx.selected_entry("step"),
        }
    }

    /// Rows and columns of a stage; nothing where the result does not hold it.
    fn shape(self, stage: usize) -> Place {
        let Some(stage) = self.stages.get(stage) else {
            return (0, 0);
        };
        self.cx.computed().with(|c| {
            c.as_ref()
                .and_then(|c| c.tensor(stage.name)?.rows_cols())
                .unwrap_or((0, 0))
        })
    }

    /// The stage and cell in view; the last cell that exists where the present result is shorter.
    fn here(self) -> (usize, Place) {
        let [stage, i, j] = self.focus.get().unwrap_or_default();
        let (rows, cols) = self.shape(stage);
        if i < rows && j < cols {
            (stage, (i, j))
        } else {
            (0, (0, 0))
        }
    }

    /// The next cell, or the one before, over the borders of the matrices.
    fn step(self, forward: bool) -> Option<(usize, Place)> {
        let (stage, (i, j)) = self.here();
        let (rows, cols) = self.shape(stage);
        let flat = i * cols + j;
        if forward && flat + 1 < rows * cols {
            return Some((stage, ((flat + 1) / cols, (flat + 1) % cols)));
        }
        if !forward && flat > 0 {
            return Some((stage, ((flat - 1) / cols, (flat - 1) % cols)));
        }
        self.jump(forward)
            .map(|(stage, start)| match self.shape(stage) {
                (rows, cols) if !forward => (stage, (rows - 1, cols - 1)),
                _ => (stage, start),
            })
    }

    /// The first cell of the next stage, or of the one before.
    fn jump(self, forward: bool) -> Option<(usize, Place)> {
        let (stage, _) = self.here();
        let next = if forward {
            stage + 1
        } else {
            stage.checked_sub(1)?
        };
        let (rows, cols) = self.shape(next);
        (rows * cols > 0).then_some((next, (0, 0)))
    }

    /// The cells of a matrix that the cell in view was made from.
    fn sources(self, name: &'static str) -> Signal<Vec<Place>> {
        let grid = grid_of(self.cx, name, None);
        Signal::derive(move || {
            let (rows, cols) = grid.with(|g| g.as_ref().map_or((0, 0), |g| (g.rows, g.cols)));
            let (stage, (i, j)) = self.here();
            let row = |i: usize| (0..cols).map(move |k| (i, k)).collect::<Vec<_>>();
            match self.stages.get(stage).map(|s| s.rule) {
                Some(
                    Rule::Product(left, _)
                    | Rule::Score(left, _)
                    | Rule::Dot(left, _)
                    | Rule::Softmax(left),
                ) if left == name => row(i),
                Some(Rule::Product(_, right)) if right == name => {
                    (0..rows).map(|k| (k, j)).collect()
                }
                Some(Rule::Score(_, right) | Rule::Dot(_, right)) if right == name => row(j),
                Some(Rule::Tanh(left, _)) if left == name => vec![(0, j)],
                Some(Rule::Tanh(_, right)) if right == name => vec![(i, j)],
                _ => Vec::new(),
            }
        })
    }

    /// The map of a stage, its cells to point at; nothing while the result does not hold it.
    pub(crate) fn map(self, stage: usize, weights: bool) -> AnyView {
        let Some(shown) = self.stages.get(stage) else {
            return ().into_any();
        };
        let selected = self.focus.map(
            move |[at, i, j]| (at == stage).then_some((i, j)),
            move |(i, j)| Some([stage, i, j]),
        );
        let (palette, domain) = if weights {
            (Palette::Sequential, Domain::Fixed(0.0, 1.0))
        } else {
            (Palette::Diverging, Domain::Symmetric)
        };
        let grid = grid_of(self.cx, shown.name, Some(shown));
        let mark = self.sources(shown.name);
        let exists = Memo::new(move |_| self.shape(stage).0 > 0);
        let format = if weights {
            Format::Fixed(3)
        } else {
            Format::Fixed(2)
        };
        let map = move || {
            view! {
                <HeatMap
                    grid
                    label=shown.title
                    palette
                    domain
                    format
                    concept=shown.concept
                    selected
                    mark
                    no_legend=true
                    no_readout=true
                />
            }
        };
        view! { <Show when=move || exists.get()>{map()}</Show> }.into_any()
    }

    /// An input as boxes to type into, with the cells lit that the cell in view was made from.
    pub(crate) fn edit(
        self,
        name: &'static str,
        concept: Concept,
        rows: &[&str],
        cols: &[&str],
    ) -> AnyView {
        let Some((input, spec)) = name
            .strip_prefix("input:")
            .and_then(|input| Some((input, self.cx.input_spec(input)?)))
        else {
            return ().into_any();
        };
        let own = |labels: &[&str]| labels.iter().map(|&l| l.to_owned()).collect::<Vec<_>>();
        let cx = self.cx;
        view! {
            <MatrixEdit
                matrix=cx.matrix(input)
                on_change=Callback::new(move |m| cx.set(input, cells::InputValue::Matrix(m)))
                label=spec.label
                source=name
                row_labels=own(rows)
                col_labels=own(cols)
                concept
                mark=self.sources(name)
            />
        }
        .into_any()
    }

    /// Name of the cell in view.
    fn place(self) -> Option<String> {
        let (stage, (i, j)) = self.here();
        let stage = self.stages.get(stage)?;
        let name = |labels: &[&str], index: usize, word: &str| {
            labels
                .get(index)
                .map_or_else(|| format!("{word} {}", index + 1), |&l| l.to_owned())
        };
        Some(format!(
            "{}: {}, {}",
            stage.short,
            name(stage.rows, i, "row"),
            name(stage.cols, j, "column")
        ))
    }

    /// A button that goes where `to` says; the arrow is for the eye only.
    fn button(
        self,
        arrows: (&'static str, &'static str),
        words: &'static str,
        to: fn(Walk) -> Option<(usize, Place)>,
    ) -> AnyView {
        view! {
            <button
                type="button"
                class="button quiet"
                aria-disabled=move || to(self).is_none().then_some("true")
                on:click=move |_| {
                    if let Some((stage, (i, j))) = to(self) {
                        self.focus.choose(Some([stage, i, j]));
                    }
                }
            >
                <span aria-hidden="true">{arrows.0}</span>
                {words}
                <span aria-hidden="true">{arrows.1}</span>
            </button>
        }
        .into_any()
    }

    /// The step bar and the sum of the cell in view. It stays in sight while the matrices scroll.
    pub(crate) fn bar(self) -> AnyView {
        let concept = move || {
            let (stage, _) = self.here();
            let concept = self
                .stages
                .get(stage)
                .map(|s| s.concept)
                .unwrap_or_default();
            format!("walk {}", concept.class())
        };
        view! {
            <div class=concept>
                <div class="stepper" role="group" aria-label="Walk through all cells">
                    {self.button(("\u{21e4} ", ""), "Matrix before", |w| w.jump(false))}
                    {self.button(("\u{2190} ", ""), "Step back", |w| w.step(false))}
                    <span class="stepper-place" aria-live="polite" data-label="">
                        {move || self.place()}
                    </span>
                    {self.button(("", " \u{2192}"), "Step forward", |w| w.step(true))}
                    {self.button(("", " \u{21e5}"), "Next matrix", |w| w.jump(true))}
                </div>
                <p class="sum">{move || written(self.cx, self.stages, self.here())}</p>
            </div>
        }
        .into_any()
    }
}
