//! The colour scale beside a heat map.

use cells::format::{Format, number};
use leptos::prelude::*;

use super::{Domain, Grid, Num, Palette, Place};
use crate::display::palette;

/// A bar of colours with the value at each end. The style sheet takes the colours from the concept
/// of the surroundings.
pub(crate) fn legend(
    grid: Signal<Option<Grid>>,
    palette: Palette,
    domain: Signal<Domain>,
    format: Format,
) -> impl IntoView {
    let class = move || {
        let ends = grid.with(|g| g.as_ref().map(|g| domain.get().resolve(g)));
        let side = ends.map_or("", palette::side);
        format!("legend {}{side}", palette.classes())
    };
    view! {
        <p class=class>
            {end(grid, domain, format, false)} <span class="legend-bar" aria-hidden="true"></span>
            {end(grid, domain, format, true)}
        </p>
    }
}

/// What plain and hatched cells mean; the plain ones only in a map of the mask itself.
pub(crate) fn mask_legend(whole: bool) -> impl IntoView {
    let swatch = |class: &'static str, words: &'static str| {
        view! {
            <span class="mask-key">
                <span class=format!("mask-swatch {class}") aria-hidden="true"></span>
                {words}
            </span>
        }
    };
    view! {
        <p class="legend">
            {whole.then(|| swatch("", "may look"))} {swatch("is-masked", "may not look")}
        </p>
    }
}

/// One end of the scale: an element of the tensor where the scale ends at one, else a label of the
/// axis.
fn end(
    grid: Signal<Option<Grid>>,
    domain: Signal<Domain>,
    format: Format,
    high: bool,
) -> impl IntoView {
    move || match domain.get() {
        Domain::Auto => {
            let place = move || -> Option<Place> {
                let (low_at, high_at) = grid.with(|g| g.as_ref()?.ends())?;
                Some(if high { high_at } else { low_at })
            };
            let value = Signal::derive(move || {
                let (i, j) = place()?;
                grid.with(|g| g.as_ref()?.at(i, j))
            });
            let from = Signal::derive(move || {
                let (i, j) = place().unwrap_or_default();
                grid.with(|g| g.as_ref().map(|g| g.from(i, j)).unwrap_or_default())
            });
            view! { <Num value from format /> }.into_any()
        }
        scale => {
            let text = grid.with(|g| {
                let (low, top) = g.as_ref().map(|g| scale.resolve(g))?;
                Some(number(if high { top } else { low }, format))
            });
            view! { <span data-label="">{text}</span> }.into_any()
        }
    }
}
