//! The view of `cyclic-shift`: the picture at each step, and the mask of the chosen patch's window.

use cells::InputValue;
use cells::format::Format;
use cells::lessons::windows::cyclic_shift::{PATCH, STEPS};
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::values;
use crate::cells::parts::pictures::seen;
use crate::widgets::{Concept, Domain, HeatMap, More, PatchGrid, Selected, set};

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    view! {
        {cx.verbatim_choice_box("step")}
        {hint(cx)}
        <div class="cols-2 map-after">
            <div class="cols-2 map-beside">
                {picture(cx)}
                <div class="stack">
                    {cx.verbatim_choice_box("window")} {cx.slider("shift", Format::Count)} {numbers(cx)}
                </div>
            </div>
            {mask(cx)}
        </div>
        <More summary="Another picture">{cx.picture_box("picture")}</More>
    }
    .into_any()
}

/// What happens at a step.
fn said(step: &str) -> &'static str {
    match STEPS
        .iter()
        .position(|&known| known == step)
        .unwrap_or_default()
    {
        1 => {
            "The map is rolled up and to the left by $s$: what leaves at one edge returns at the other."
        }
        2 => {
            "It is cut into windows. The window of the chosen patch is coloured. It may hold patches that only the roll brought there."
        }
        3 => {
            "The mask hides patches that only the roll brought together. Coloured: those that the chosen patch attends to."
        }
        4 => {
            "Rolled back, every patch is where it was. With a shift, the windows of this block lie across the borders of the one before."
        }
        _ => "The map of patches as it is. Click a patch to choose it.",
    }
}

/// The picture at the step. Patches are chosen where they are now.
fn picture(cx: CellCx) -> AnyView {
    let computed = cx.computed();
    let shown = cx.value("shown", Vec::new());
    let here = Signal::derive(move || shown.get().map(|at| at as usize));
    let selected = Selected::new(here, move |at: Option<usize>| {
        let order = computed.with_untracked(|c| c.as_ref().map(|c| values(c, "order")));
        if let Some(&patch) = at.zip(order.as_ref()).and_then(|(at, order)| order.get(at)) {
            cx.set("chosen", InputValue::Number(patch));
        }
    });
    let (lines, offset) = (
        cx.value("lines", Vec::new()),
        cx.value("offset", Vec::new()),
    );
    let windows = Signal::derive(move || {
        let number = |value: Signal<Option<f64>>| value.get().unwrap_or_default() as usize;
        (number(lines), number(offset))
    });
    view! {
        <div class="rebuilt">
            <PatchGrid
                pixels=seen(cx, "picture")
                patch=Signal::stored(PATCH)
                label="The picture at this step, cut into patches"
                selected
                overlay=cx.grid("seen")
                overlay_domain=Signal::stored(Domain::Fixed(0.0, 1.0))
                windows
                counts_from=0
            />
        </div>
    }
    .into_any()
}

/// What the chosen step does.
fn hint(cx: CellCx) -> AnyView {
    let step = cx.choice("step");
    view! { <p class="hint" aria-live="polite">{move || step.with(|step| set(said(step)))}</p> }
        .into_any()
}

fn numbers(cx: CellCx) -> AnyView {
    view! {
        <p class="verdict">
            "Patch " <strong>{cx.num("chosen", &[], Format::Count)}</strong> " attends to "
            <strong>{cx.num("visible", &[], Format::Count)}</strong> " of the "
            {cx.num("area", &[], Format::Count)} " patches in its window, which holds "
            <strong>{cx.num("groups", &[], Format::Count)}</strong> {groups(cx)}
        </p>
    }
    .into_any()
}

fn groups(cx: CellCx) -> AnyView {
    let groups = cx.value("groups", Vec::new());
    let is_one = Memo::new(move |_| groups.get() == Some(1.0));
    view! { {move || if is_one.get() { " group of neighbours." } else { " groups of neighbours." }} }.into_any()
}

/// The mask of the window; the row of the chosen patch is marked.
fn mask(cx: CellCx) -> AnyView {
    let (query, area) = (cx.value("query", Vec::new()), cx.value("area", Vec::new()));
    let mark = Signal::derive(move || {
        let (query, area) = (
            query.get().unwrap_or_default(),
            area.get().unwrap_or_default(),
        );
        (0..area as usize)
            .map(|key| (query as usize, key))
            .collect::<Vec<_>>()
    });
    view! {
        <HeatMap
            grid=cx.grid_with("mask", Signal::stored(Vec::new()), "tokens", "tokens")
            label="The mask of this window, added to its scores"
            domain=Domain::Fixed(-200.0, 0.0)
            format=Format::Count
            concept=Concept::Weight
            numbers=false
            selected=cx.selected_place("pair")
            mark
        />
    }
    .into_any()
}
