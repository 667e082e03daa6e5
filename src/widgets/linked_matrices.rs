//! Three linked matrices, left · right = product: each cell of the product shows the row and the
//! column it came from, and its sum written out.

use cells::format::Format;
use leptos::prelude::*;

use super::{Concept, Domain, Grid, HeatMap, Num, Palette, Place, Selected};
use crate::display::num::number_span;

/// Terms that a written-out sum prints; a longer sum ends in an ellipsis.
const TERMS: usize = 16;

/// The three grids and how the right one is read.
#[derive(Clone, Copy)]
struct Product {
    left: Signal<Option<Grid>>,
    right: Signal<Option<Grid>>,
    product: Signal<Option<Grid>>,
    transposed: bool,
    format: Format,
}

impl Product {
    fn value(grid: Signal<Option<Grid>>, (i, j): Place) -> Option<f64> {
        grid.with(|g| g.as_ref()?.at(i, j))
    }

    fn from(grid: Signal<Option<Grid>>, (i, j): Place) -> String {
        grid.with(|g| g.as_ref().map(|g| g.from(i, j)).unwrap_or_default())
    }

    /// Rows and columns of the product.
    fn shape(self) -> Place {
        self.product
            .with(|g| g.as_ref().map_or((0, 0), |g| (g.rows, g.cols)))
    }

    /// Number of terms of each sum.
    fn inner(self) -> usize {
        self.left.with(|g| g.as_ref().map_or(0, |g| g.cols))
    }

    /// Position in the right matrix of term `k` of column `j`.
    fn right_place(self, k: usize, j: usize) -> Place {
        if self.transposed { (j, k) } else { (k, j) }
    }
}

/// A matrix product, cell by cell.
#[component]
pub fn LinkedProduct(
    /// Left factor.
    #[prop(into)]
    left: Signal<Option<Grid>>,
    /// Right factor.
    #[prop(into)]
    right: Signal<Option<Grid>>,
    /// The product.
    #[prop(into)]
    product: Signal<Option<Grid>>,
    /// Names of left factor, right factor and product.
    #[prop(into)]
    left_label: String,
    /// Name of the right factor.
    #[prop(into)]
    right_label: String,
    /// Name of the product.
    #[prop(into)]
    product_label: String,
    /// Accent colours in the same order.
    #[prop(default = (Concept::Plain, Concept::Plain, Concept::Plain))]
    concepts: (Concept, Concept, Concept),
    /// The product is left · rightᵀ: its columns are rows of the right factor.
    #[prop(optional)]
    transposed: bool,
    /// Factor after the sum, where the product is scaled.
    #[prop(optional, into)]
    scale: Option<Signal<Option<f64>>>,
    /// Origin of that factor.
    #[prop(into, default = "scale".to_owned())]
    scale_from: String,
    /// The product's cell in view; shared with other widgets to link them.
    #[prop(optional, into)]
    selected: Option<Selected<Place>>,
    /// Format of the values.
    #[prop(default = Format::Fixed(2))]
    format: Format,
    /// Do not draw the factors, for a page that shows them already (as editable matrices, say).
    #[prop(optional)]
    product_only: bool,
) -> impl IntoView {
    let all = Product {
        left,
        right,
        product,
        transposed,
        format,
    };
    let selected = selected.unwrap_or_else(|| RwSignal::new(Some((0, 0))).into());
    let left_mark = Signal::derive(move || {
        let Some((i, _)) = selected.get() else {
            return Vec::new();
        };
        (0..all.inner()).map(|k| (i, k)).collect::<Vec<Place>>()
    });
    let right_mark = Signal::derive(move || {
        let Some((_, j)) = selected.get() else {
            return Vec::new();
        };
        (0..all.inner())
            .map(|k| all.right_place(k, j))
            .collect::<Vec<Place>>()
    });
    let factors = (!product_only).then(|| {
        view! {
            {plain(left, left_label, concepts.0, left_mark, format)}
            <span class="operator" aria-hidden="true">
                "\u{b7}"
            </span>
            {plain(right, right_label, concepts.1, right_mark, format)}
            <span class="operator" aria-hidden="true">
                "="
            </span>
        }
    });
    view! {
        <div class="linked">
            <div class="linked-row">
                {factors}
                <HeatMap
                    grid=product
                    label=product_label
                    palette=Palette::Diverging
                    domain=Domain::Symmetric
                    concept=concepts.2
                    format
                    selected
                    no_legend=true
                    no_readout=true
                />
            </div>
            <Stepper all selected />
            <WrittenSum all selected scale scale_from />
        </div>
    }
}

/// A factor: a heat map of its own, marked from the product's selection.
fn plain(
    grid: Signal<Option<Grid>>,
    label: String,
    concept: Concept,
    mark: Signal<Vec<Place>>,
    format: Format,
) -> impl IntoView {
    view! {
        <HeatMap
            grid
            label
            palette=Palette::Diverging
            domain=Domain::Symmetric
            concept
            mark
            format
            no_legend=true
            no_readout=true
        />
    }
}

/// The place `steps` cells on, row by row, `None` past either end.
fn walked((i, j): Place, steps: isize, (rows, cols): Place) -> Option<Place> {
    let at = (i * cols + j).checked_add_signed(steps)?;
    (cols > 0 && at < rows * cols).then(|| (at / cols, at % cols))
}

/// Buttons that walk through the product row by row.
#[component]
fn Stepper(all: Product, selected: Selected<Place>) -> impl IntoView {
    let target = move |steps: isize| match selected.get() {
        Some(place) => walked(place, steps, all.shape()),
        None => Some((0, 0)),
    };
    let go = move |steps: isize| {
        if let Some(place) = target(steps) {
            selected.choose(Some(place));
        }
    };
    let name = move || {
        let (i, j) = selected.get()?;
        all.product.with(|g| {
            g.as_ref()
                .map(|g| format!("{}, {}", g.row_name(i), g.col_name(j)))
        })
    };
    view! {
        <div class="stepper" role="group" aria-label="Walk through the product">
            <button
                type="button"
                class="button"
                aria-disabled=move || target(-1).is_none().then_some("true")
                on:click=move |_| go(-1)
            >
                "\u{2190} Step back"
            </button>
            <span class="stepper-place" aria-live="polite" data-label="">
                {name}
            </span>
            <button
                type="button"
                class="button"
                aria-disabled=move || target(1).is_none().then_some("true")
                on:click=move |_| go(1)
            >
                "Step forward \u{2192}"
            </button>
        </div>
    }
}

/// The sum for the selected cell, term by term.
#[component]
fn WrittenSum(
    all: Product,
    selected: Selected<Place>,
    scale: Option<Signal<Option<f64>>>,
    scale_from: String,
) -> impl IntoView {
    let terms = move || {
        let (i, j) = selected.get()?;
        let inner = all.inner();
        let list = (0..inner.min(TERMS))
            .map(|k| term(all, (i, k), all.right_place(k, j), k > 0))
            .collect_view();
        let rest = (inner > TERMS).then_some(" + \u{2026}");
        Some(view! { {list} {rest} })
    };
    let place = move || selected.get().unwrap_or_default();
    let result =
        Signal::derive(move || selected.get().and_then(|p| Product::value(all.product, p)));
    let from = Signal::derive(move || Product::from(all.product, place()));
    let opening = scale.is_some().then_some("(");
    let closing = scale.map(|scale| {
        view! {
            ") \u{d7} "
            <Num value=scale from=scale_from format=Format::Fixed(4) />
        }
    });
    view! {
        <p class="sum" aria-live="off">
            {opening} {terms} {closing}
            <span class="result">
                "= " <strong>
                    <Num value=result from format=all.format />
                </strong>
            </span>
        </p>
    }
}

fn term(all: Product, left: Place, right: Place, plus: bool) -> impl IntoView {
    let factor = move |grid: Signal<Option<Grid>>, place: Place| {
        number_span(
            move || Product::value(grid, place),
            move || Product::from(grid, place),
            all.format,
        )
    };
    view! {
        <span class="term">
            {plus.then_some(" + ")} {factor(all.left, left)} " \u{d7} " {factor(all.right, right)}
        </span>
    }
}

#[cfg(test)]
mod tests {
    use super::walked;

    #[test]
    fn walks_every_cell_once_and_stops_at_the_ends() {
        let shape = (2, 3);
        let mut place = Some((0, 0));
        let mut seen = Vec::new();
        while let Some(at) = place {
            seen.push(at);
            place = walked(at, 1, shape);
        }
        assert_eq!(seen, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]);
        assert_eq!(walked((1, 0), -1, shape), Some((0, 2)));
        assert_eq!(walked((0, 0), -1, shape), None);
        assert_eq!(walked((0, 0), 1, (0, 0)), None);
    }
}
