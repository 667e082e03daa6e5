//! Heat maps: a matrix as colours, readable with eyes, ears and keys.

use cells::format::Format;
use cells::symbols::spoken;
use leptos::either::EitherOf3;
use leptos::prelude::*;

use super::cursor::moved;
use super::heat_canvas::heat_canvas;
use super::heat_density::Numbers;
use super::heat_legend::{legend, mask_legend};
use super::heat_table::heat_table;
use super::{Concept, Domain, Grid, Num, Palette, Place, Selected, set};
use crate::display::NUMBER_CELLS;

/// Up to this many cells, and columns, a heat map is a table of elements; above, one canvas: a
/// browser lays out a thousand elements in one long task.
const TABLE_CELLS: usize = 400;
const TABLE_COLS: usize = 128;

/// Of a grid what decides the markup: all but its values and names.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Frame {
    pub(crate) source: String,
    pub(crate) prefix: Vec<usize>,
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) vector: bool,
}

impl Frame {
    fn of(grid: &Grid) -> Self {
        Self {
            source: grid.source.clone(),
            prefix: grid.prefix.clone(),
            rows: grid.rows,
            cols: grid.cols,
            vector: grid.vector,
        }
    }

    fn fits_table(&self) -> bool {
        self.cols <= TABLE_COLS && self.rows * self.cols <= TABLE_CELLS
    }
}

/// The maps of a cell in which something is hatched, each with its palette and the pairs that may not
/// look at each other: where a cell provides this in its context, its saved maps are hatched too.
#[derive(Debug, Clone, Copy)]
pub struct Hatched(pub StoredValue<Vec<HatchedMap>>);

/// A map, its palette, and what it hides.
pub type HatchedMap = (Signal<Option<Grid>>, Palette, Signal<Vec<Place>>);

impl Hatched {
    /// The palette and the hidden pairs of the map of a tensor.
    pub(crate) fn of(self, tensor: &str) -> Option<(Palette, Vec<Place>)> {
        self.0.with_value(|maps| {
            let is_of = |grid: &Grid| grid.source == tensor && grid.prefix.is_empty();
            let found = maps.iter().find(|(grid, ..)| {
                let known = grid.try_with_untracked(|grid| grid.as_ref().is_some_and(is_of));
                known == Some(true)
            });
            let (_, palette, hidden) = found?;
            Some((*palette, hidden.try_get_untracked()?))
        })
    }
}

/// Marked cells as whole rows, whole columns, and the rest.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Lines {
    pub(super) rows: Vec<usize>,
    pub(super) cols: Vec<usize>,
    pub(super) rest: Vec<Place>,
}

impl Lines {
    /// The lines among the marked places of a map of `rows` x `cols`. One place alone is no line.
    pub(super) fn of(places: &[Place], (rows, cols): Place) -> Self {
        let whole = |line: &dyn Fn(usize) -> Place, length: usize| {
            length > 1 && (0..length).all(|n| places.contains(&line(n)))
        };
        let whole_rows: Vec<usize> = (0..rows).filter(|&i| whole(&|j| (i, j), cols)).collect();
        let whole_cols: Vec<usize> = (0..cols).filter(|&j| whole(&|i| (i, j), rows)).collect();
        let is_in_line = |(i, j): &Place| whole_rows.contains(i) || whole_cols.contains(j);
        let rest = places.iter().filter(|place| !is_in_line(place));
        Self {
            rest: rest.copied().collect(),
            rows: whole_rows,
            cols: whole_cols,
        }
    }
}

/// State that table and canvas share.
#[derive(Clone, Copy)]
pub(crate) struct Heat {
    pub(crate) grid: Signal<Option<Grid>>,
    pub(crate) palette: Palette,
    pub(crate) concept: Concept,
    pub(crate) ends: Signal<(f64, f64)>,
    pub(crate) format: Format,
    pub(crate) selected: Selected<Place>,
    pub(crate) mark: Signal<Vec<Place>>,
    pub(crate) hidden: Signal<Vec<Place>>,
    pub(crate) on_press: Option<Callback<Place>>,
}

impl Heat {
    /// The value at a place.
    pub(crate) fn at(self, (row, col): Place) -> Option<f64> {
        self.grid.with(|g| g.as_ref()?.at(row, col))
    }

    /// Shows the place that a pointer or the cursor came to.
    pub(crate) fn point(self, place: Place) {
        self.selected.point(Some(place));
    }

    /// The pointer or the cursor has left the map.
    pub(crate) fn leave(self) {
        self.selected.point(None);
    }

    /// A cell was pressed: it is selected, unless pressing means something else to the caller.
    pub(crate) fn press(self, place: Place) {
        match self.on_press {
            Some(callback) => callback.run(place),
            None => self.selected.choose(Some(place)),
        }
    }

    /// Handles a key with the cursor at `at`: Enter and Space press, others move. Returns the new
    /// position.
    pub(crate) fn key(
        self,
        event: &leptos::ev::KeyboardEvent,
        at: Place,
        (rows, cols): Place,
    ) -> Option<Place> {
        let key = event.key();
        if key == "Enter" || key == " " {
            event.prevent_default();
            self.press(at);
            return None;
        }
        let next = moved(&key, event.ctrl_key(), at, rows, cols)?;
        event.prevent_default();
        Some(next)
    }
}

/// A matrix as colours, with its scale, a readout of the cell under pointer or cursor, and keys to
/// walk it.
#[component]
pub fn HeatMap(
    /// The matrix.
    #[prop(into)]
    grid: Signal<Option<Grid>>,
    /// Name of the matrix: its accessible name and caption.
    #[prop(into)]
    label: String,
    /// Colour map.
    #[prop(default = Palette::Sequential)]
    palette: Palette,
    /// Values at the ends of the colour map.
    #[prop(into, default = Signal::stored(Domain::Auto))]
    domain: Signal<Domain>,
    /// Format of the values.
    #[prop(default = Format::Fixed(3))]
    format: Format,
    /// Accent colour.
    #[prop(default = Concept::Plain)]
    concept: Concept,
    /// Print the values in the cells where they fit; by default where there are few. The legend
    /// has a button with which the reader asks for them.
    #[prop(optional)]
    numbers: Option<bool>,
    /// The cell that is pointed at or selected; shared with other widgets to link them.
    #[prop(optional, into)]
    selected: Option<Selected<Place>>,
    /// Called when a cell is pressed, which then does not select it.
    #[prop(optional, into)]
    on_press: Option<Callback<Place>>,
    /// Cells to mark: at the head of a row or column where all of it is meant, else one by one.
    #[prop(optional, into)]
    mark: Option<Signal<Vec<Place>>>,
    /// Cells of pairs that may not look at each other, to be hatched.
    #[prop(optional, into)]
    hidden: Option<Signal<Vec<Place>>>,
    /// The matrix is a picture: a canvas with square cells, and no tables of its rows and columns.
    #[prop(optional)]
    picture: bool,
    /// Leave out the colour scale.
    #[prop(optional)]
    no_legend: bool,
    /// Leave out the readout line.
    #[prop(optional)]
    no_readout: bool,
) -> impl IntoView {
    if let Some(Hatched(maps)) = use_context::<Hatched>()
        && (hidden.is_some() || palette == Palette::Mask)
    {
        let hidden = hidden.unwrap_or_else(|| Signal::stored(Vec::new()));
        maps.update_value(|maps| maps.push((grid, palette, hidden)));
    }
    let ends = Memo::new(move |_| {
        grid.with(|g| g.as_ref().map_or((0.0, 0.0), |g| domain.get().resolve(g)))
    });
    let heat = Heat {
        grid,
        palette,
        concept,
        ends: ends.into(),
        format,
        selected: selected.unwrap_or_else(|| RwSignal::new(None).into()),
        mark: mark.unwrap_or_else(|| Signal::stored(Vec::new())),
        hidden: hidden.unwrap_or_else(|| Signal::stored(Vec::new())),
        on_press,
    };
    let frame = Memo::new(move |_| grid.with(|g| g.as_ref().map(Frame::of)));
    let caption = spoken(&label);
    let few = move |frame: &Frame| numbers.unwrap_or(frame.rows * frame.cols <= NUMBER_CELLS);
    let asked = RwSignal::new(false);
    let shown = Memo::new(move |_| match frame.with(|f| f.as_ref().map(few)) {
        _ if asked.get() => Numbers::Always,
        Some(true) => Numbers::WhereTheyFit,
        _ => Numbers::Never,
    });
    let many = Memo::new(move |_| {
        frame.with(|f| {
            f.as_ref()
                .is_some_and(|f| !picture && f.fits_table() && !few(f))
        })
    });
    let ask = move || {
        many.get().then(|| {
            view! {
                <button
                    type="button"
                    class="button quiet"
                    aria-pressed=move || asked.get().to_string()
                    on:click=move |_| asked.update(|asked| *asked = !*asked)
                >
                    "Numbers"
                </button>
            }
        })
    };
    let hides = hidden.is_some() || palette == Palette::Mask;
    let key = move || match palette {
        Palette::Mask => Some(mask_legend(true).into_any()),
        _ => heat
            .hidden
            .with(|h| !h.is_empty())
            .then(|| mask_legend(false).into_any()),
    };
    let body = move || match frame.get() {
        None => EitherOf3::A(view! { <p class="heat-empty">"Nothing to show yet."</p> }),
        Some(frame) if !picture && frame.fits_table() => {
            EitherOf3::B(heat_table(heat, &frame, caption.clone(), shown))
        }
        Some(_) => EitherOf3::C(heat_canvas(heat, caption.clone(), picture)),
    };
    view! {
        <figure class=format!("heat {} {}", palette.classes(), concept.class()) class:may-hide=hides>
            <figcaption class="heat-title" aria-hidden="true" data-label="">
                {set(&label)}
            </figcaption>
            {body}
            {(!no_readout).then(|| view! { <Readout heat /> })}
            {hides.then_some(key)}
            {(!no_legend && palette != Palette::Mask)
                .then(|| {
                    view! { <div class="heat-foot">{legend(grid, palette, domain, format)} {ask}</div> }
                })}
        </figure>
    }
}

/// Row, column and value of the selected cell.
#[component]
fn Readout(heat: Heat) -> impl IntoView {
    let place = move || heat.selected.get().filter(|&p| heat.at(p).is_some());
    let names = move || {
        let (row, col) = place()?;
        heat.grid.with(|g| {
            let g = g.as_ref()?;
            let names = [(g.rows > 1).then(|| g.row_name(row)), Some(g.col_name(col))];
            let names = names.into_iter().flatten().collect::<Vec<_>>().join(", ");
            Some((names, g.symbols))
        })
    };
    let value = Signal::derive(move || heat.at(place()?));
    let from = Signal::derive(move || {
        let (row, col) = place().unwrap_or_default();
        heat.grid
            .with(|g| g.as_ref().map(|g| g.from(row, col)).unwrap_or_default())
    });
    view! {
        <p class="heat-readout">
            {move || match names() {
                Some((names, symbols)) => {
                    let names = if symbols {
                        set(&names)
                    } else {
                        view! { <span data-label="">{names}</span> }.into_any()
                    };
                    view! {
                        {names}
                        ": "
                        <Num value from format=heat.format />
                    }
                        .into_any()
                }
                None => view! { <span class="hint">"Point at a cell, or walk with the arrow keys."</span> }.into_any(),
            }}
        </p>
    }
}

#[cfg(test)]
mod tests {
    use super::Lines;

    #[test]
    fn whole_rows_and_columns_are_marked_at_their_heads() {
        let shape = (2, 3);
        let row = [(1, 0), (1, 1), (1, 2)];
        let found = Lines::of(&row, shape);
        assert_eq!(
            (found.rows, found.cols, found.rest),
            (vec![1], vec![], vec![])
        );
        let cross = [(0, 1), (1, 0), (1, 1), (1, 2)];
        let found = Lines::of(&cross, shape);
        assert_eq!(
            (found.rows, found.cols, found.rest),
            (vec![1], vec![1], vec![])
        );
        let part = [(0, 0), (0, 2)];
        let found = Lines::of(&part, shape);
        assert_eq!(
            (found.rows, found.cols, found.rest),
            (vec![], vec![], part.to_vec())
        );
        assert_eq!(Lines::of(&[], (0, 0)), Lines::default());
    }
}
