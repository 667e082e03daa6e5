//! Small parts that several cells' views draw with: labelled grids, curves out of a result, clock
//! faces, step buttons.

use std::sync::Arc;

use cells::format::Format;
use cells::{Computation, InputKind, InputValue};
use leptos::prelude::*;
use ndarray::Array2;

use crate::cells::frame::context::CellCx;
use crate::plot::{Kind, Series};
use crate::widgets::{Concept, Domain, Grid, HeatMap, Mark, Num, Place, Plane, Tip, set};

/// Label of the factor that keeps the scores of wide heads small.
pub(crate) const SCALE: &str = "scale factor $1/\u{221a}d_k$";

/// The computation of a cell as its views read it.
pub(crate) type Computed = Signal<Option<Arc<Computation>>>;

/// The largest size of a number in some tensors: the end of one scale for the maps of all of them,
/// so that equal numbers have equal colours.
pub(crate) fn largest_of<const N: usize>(cx: CellCx, tensors: [&'static str; N]) -> Memo<f64> {
    let grids = tensors.map(|tensor| cx.grid(tensor));
    Memo::new(move |_| {
        let size = |grid: &Signal<Option<Grid>>| {
            let range = grid.with(|g| g.as_ref().and_then(Grid::range));
            range.map_or(0.0, |(low, high)| high.max(-low))
        };
        grids.iter().map(size).fold(0.0, f64::max)
    })
}

/// The grid with a name for each row and column.
pub(crate) fn labelled(
    grid: Signal<Option<Grid>>,
    row: fn(usize) -> String,
    col: fn(usize) -> String,
) -> Signal<Option<Grid>> {
    Memo::new(move |_| {
        grid.get().map(|g| {
            let (rows, cols) = (g.rows, g.cols);
            g.labelled((0..rows).map(row).collect(), (0..cols).map(col).collect())
        })
    })
    .into()
}

/// The grid with a name for each row.
pub(crate) fn named_rows(
    grid: Signal<Option<Grid>>,
    row: fn(usize) -> String,
) -> Signal<Option<Grid>> {
    Memo::new(move |_| {
        grid.get().map(|g| {
            let rows = g.rows;
            g.labelled((0..rows).map(row).collect(), Vec::new())
        })
    })
    .into()
}

/// The pairs of a row of `count` tokens in which a token would look at a later one.
pub(crate) fn later_pairs(count: usize) -> Vec<Place> {
    (0..count)
        .flat_map(|i| (i + 1..count).map(move |j| (i, j)))
        .collect()
}

/// Name of a position, counted from zero.
pub(crate) fn position_name(position: usize) -> String {
    format!("position {position}")
}

/// Name of a dimension of a sinusoidal vector: `sin 0`, `cos 0`, `sin 1`, …
pub(crate) fn wave_name(dimension: usize) -> String {
    format!(
        "{} {}",
        if dimension.is_multiple_of(2) {
            "sin"
        } else {
            "cos"
        },
        dimension / 2
    )
}

/// All values of a tensor in row-major order; none where it does not exist.
pub(crate) fn values(computation: &Computation, tensor: &str) -> Vec<f64> {
    computation
        .tensor(tensor)
        .map(|t| t.values.iter().copied().collect())
        .unwrap_or_default()
}

/// A vector of the result as a curve; `x` gives the horizontal position of each index.
pub(crate) fn curve(
    computation: &Computation,
    tensor: &str,
    name: &str,
    concept: Concept,
    x: impl Fn(usize) -> f64,
) -> Series {
    let ys = values(computation, tensor);
    Series {
        name: name.to_owned(),
        source: tensor.to_owned(),
        kind: Kind::Line,
        xs: (0..ys.len()).map(x).collect(),
        ys,
        concept,
    }
}

/// The same as dots: a vector that has values at whole numbers only.
pub(crate) fn dots(
    computation: &Computation,
    tensor: &str,
    name: &str,
    concept: Concept,
) -> Series {
    Series {
        kind: Kind::Points,
        ..curve(computation, tensor, name, concept, |i| i as f64)
    }
}

/// At most `most` of the indices below `count`, evenly spread, first and last among them.
pub(crate) fn spread(count: usize, most: usize) -> Vec<usize> {
    if count <= most {
        return (0..count).collect();
    }
    (0..most)
        .map(|i| i * (count - 1) / (most - 1).max(1))
        .collect()
}

/// The point whose coordinates are two elements of a tensor.
pub(crate) fn tip(computed: Computed, name: &'static str, x: Vec<usize>, y: Vec<usize>) -> Tip {
    Signal::derive(move || {
        computed.with(|c| {
            let c = c.as_ref()?;
            Some((c.at(name, &x)?, c.at(name, &y)?))
        })
    })
}

/// The point whose coordinates are two entries of an input's row, and what writes a dragged one
/// back.
pub(crate) fn input_tip(
    cx: CellCx,
    name: &'static str,
    row: impl Fn() -> usize + Copy + Send + Sync + 'static,
    [x, y]: [usize; 2],
) -> (Tip, Callback<(f64, f64)>) {
    let matrix = cx.matrix(name);
    let tip = Signal::derive(move || {
        let row = row();
        let at = |m: &Array2<f32>, column| m.get((row, column)).map(|&x| f64::from(x));
        matrix.with(|m| Some((at(m, x)?, at(m, y)?)))
    });
    let write = Callback::new(move |to: (f64, f64)| {
        let (now, row) = (matrix.get_untracked(), untrack(row));
        let mut next = now.clone();
        for (column, value) in [(x, to.0), (y, to.1)] {
            if let Some(slot) = next.get_mut((row, column)) {
                *slot = value as f32;
            }
        }
        if next != now {
            cx.set(name, InputValue::Matrix(next));
        }
    });
    (tip, write)
}

/// The entries of a vector of weights as bars, each with its word.
pub(crate) fn shares(cx: CellCx, weights: &'static str, words: &[&'static str]) -> AnyView {
    let bars = words.iter().enumerate().map(|(place, &word)| {
        let weight = cx.value(weights, vec![place]);
        let share = move || format!("--share: {:.4}", weight.get().unwrap_or(0.0));
        view! {
            <li class="share" style=share>
                <span class="share-word" data-label="">{word}</span>
                <span class="share-bar"></span>
                {cx.num(weights, &[place], Format::Fixed(3))}
            </li>
        }
    });
    view! { <ul class="shares">{bars.collect_view()}</ul> }.into_any()
}

/// An entry of a matrix input as text, as the reader typed it.
pub(crate) fn input_num(cx: CellCx, name: &'static str, (row, column): Place) -> AnyView {
    let matrix = cx.matrix(name);
    let at = move |m: &Array2<f32>| m.get((row, column)).map(|&x| f64::from(x));
    let value = Signal::derive(move || matrix.with(at));
    let from = format!("input:{name}[{row},{column}]");
    view! { <Num value from format=Format::Typed /> }.into_any()
}

/// The reach of a plane that shows the rows of some inputs: their largest coordinate, rounded up to
/// a whole number, so that a plane does not breathe while an arrow is dragged.
pub(crate) fn reach_of<const N: usize>(cx: CellCx, inputs: [&'static str; N]) -> Signal<f64> {
    let matrices = inputs.map(|name| cx.matrix(name));
    let reach = Memo::new(move |_| {
        let largest = |matrix: &Signal<Array2<f32>>| {
            matrix.with(|m| m.iter().fold(0.0_f32, |most, x| most.max(x.abs())))
        };
        let all = matrices.iter().map(largest).fold(1.0_f32, f32::max);
        f64::from(all).ceil()
    });
    reach.into()
}

/// An arrow whose tip is two entries of an input's row, to be dragged.
pub(crate) fn input_arrow(
    cx: CellCx,
    input: &'static str,
    (row, columns): (usize, [usize; 2]),
    name: &str,
    concept: Concept,
) -> Mark {
    let (tip, write) = input_tip(cx, input, move || row, columns);
    Mark::arrow(name, concept, tip).draggable(write)
}

/// A clock face whose rim is at `reach`. The numbers belong beside it; the picture is only their
/// shape.
pub(crate) fn dial(label: String, reach: Signal<f64>, hands: Vec<Mark>) -> AnyView {
    view! { <Plane label reach marks=hands is_small=true /> }.into_any()
}

/// A button that moves number inputs by the same step, and not beyond the limits of any of them.
pub(crate) fn step_button(
    cx: CellCx,
    names: &'static [&'static str],
    step: f64,
    words: &'static str,
) -> AnyView {
    let targets = move || -> Option<Vec<(&'static str, f64)>> {
        names
            .iter()
            .map(|&name| {
                let Some(InputKind::Number { min, max, .. }) = cx.input_spec(name).map(|s| s.kind)
                else {
                    return None;
                };
                let to = cx.number(name).get() + step;
                (min <= to && to <= max).then_some((name, to))
            })
            .collect()
    };
    let targets = Memo::new(move |_| targets());
    view! {
        <button
            type="button"
            class="button"
            aria-disabled=move || targets.get().is_none().then_some("true")
            on:click=move |_| {
                let moves = targets.get_untracked().into_iter().flatten();
                let moves: Vec<_> = moves.map(|(name, to)| (name, InputValue::Number(to))).collect();
                if !moves.is_empty() {
                    cx.set_all(moves);
                }
            }
        >
            {set(words)}
        </button>
    }
    .into_any()
}

/// The note under numbers that come from random weights, with the seed.
pub(crate) fn untrained(cx: CellCx) -> AnyView {
    let seed = cx.number("seed");
    let value = Signal::derive(move || Some(seed.get()));
    view! {
        <p class="cell-note">
            "untrained: random parameters, seed "
            <Num value from="input:seed" format=Format::Count />
        </p>
    }
    .into_any()
}

/// The probability of one of two classes at each point of the plane, with some points marked.
pub(crate) fn probability_map(
    cx: CellCx,
    tensor: &'static str,
    label: &'static str,
    marked: Vec<Place>,
) -> AnyView {
    view! {
        <div class="small-map">
            <HeatMap
                grid=cx.grid_with(tensor, Signal::stored(Vec::new()), "down", "across")
                label
                domain=Domain::Fixed(0.0, 1.0)
                concept=Concept::Output
                format=Format::Fixed(2)
                mark=Signal::stored(marked)
                picture=true
            />
        </div>
    }
    .into_any()
}

/// The command that makes the log of a cell's runs again, or one for each of its logs.
pub(crate) fn command_of_runs(cx: CellCx) -> AnyView {
    command_named(cx, "command")
}

/// The same by the name of the words that hold the commands.
pub(crate) fn command_named(cx: CellCx, words: &'static str) -> AnyView {
    let commands = cx.words(words);
    let command = move |(n, command): (usize, String)| {
        let comma = if n == 0 { "" } else { ", " };
        view! { {comma} <code data-from=format!("{words}[{n}]")>{command}</code> }
    };
    let all = move || {
        let all = commands.get().into_iter().enumerate();
        all.map(command).collect_view()
    };
    view! { <p>"Logged runs; made by: " {all}</p> }.into_any()
}

#[cfg(test)]
mod tests {
    use super::{later_pairs, spread, wave_name};

    #[test]
    fn indices_are_spread_from_end_to_end() {
        assert_eq!(spread(2, 6), [0, 1]);
        assert_eq!(spread(32, 6), [0, 6, 12, 18, 24, 31]);
        assert!(spread(0, 6).is_empty());
    }

    #[test]
    fn no_token_may_look_at_a_later_one() {
        assert_eq!(later_pairs(3), [(0, 1), (0, 2), (1, 2)]);
        assert!(later_pairs(0).is_empty());
    }

    #[test]
    fn dimensions_are_named_by_their_pair() {
        let names: Vec<String> = (0..4).map(wave_name).collect();
        assert_eq!(names, ["sin 0", "cos 0", "sin 1", "cos 1"]);
    }
}
