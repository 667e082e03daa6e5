//! A heat map of up to a thousand cells: a real table with a cursor.

use leptos::html::Table;
use leptos::prelude::*;

use super::Place;
use super::events::{focus_place, place_of, place_text};
use super::grid::{named, origin};
use super::heat_map::{Frame, Heat};
use super::num::number_span;
use super::palette::{hex, ink_on};

/// The table. One listener for each kind of event stands on the table, not on its cells.
pub(crate) fn heat_table(
    heat: Heat,
    frame: &Frame,
    label: String,
    numbers: bool,
) -> impl IntoView + use<> {
    let table = NodeRef::<Table>::new();
    let cursor = RwSignal::new((0_usize, 0_usize));
    let (rows, cols) = (frame.rows, frame.cols);
    let on_key = move |event: leptos::ev::KeyboardEvent| {
        let next = heat.key(&event, cursor.get_untracked(), (rows, cols));
        if let (Some(place), Some(table)) = (next, table.get_untracked()) {
            focus_place(&table, place);
        }
    };
    let point = move |event: &leptos::web_sys::Event| {
        let place = place_of(event);
        if let Some(place) = place {
            heat.point(place);
        }
        place
    };
    let body = (0..rows)
        .map(|i| table_row(heat, frame, i, cursor, numbers))
        .collect_view();
    view! {
        <div class="scroll">
            <table
                node_ref=table
                role="grid"
                class="heat-table"
                class:with-numbers=numbers
                class:is-pressable=heat.on_press.is_some()
                on:keydown=on_key
                on:pointerover=move |event| {
                    point(&event);
                }
                on:focusin=move |event| {
                    if let Some(place) = point(&event) {
                        cursor.set(place);
                    }
                }
                on:click=move |event| {
                    if let Some(place) = point(&event) {
                        heat.press(place);
                    }
                }
            >
                <caption class="vh">{label}</caption>
                <thead>{table_head(heat, frame)}</thead>
                <tbody>{body}</tbody>
            </table>
        </div>
    }
}

fn table_head(heat: Heat, frame: &Frame) -> impl IntoView + use<> {
    let heads = (0..frame.cols)
        .map(|j| {
            view! {
                <th
                    scope="col"
                    data-label=""
                    class:is-current=move || heat.selected.get().is_some_and(|p| p.1 == j)
                >
                    <span class:vh=frame
                        .col_labels
                        .is_empty()>{named(&frame.col_labels, j, "column")}</span>
                </th>
            }
        })
        .collect_view();
    view! {
        <tr>
            <td></td>
            {heads}
        </tr>
    }
}

fn table_row(
    heat: Heat,
    frame: &Frame,
    i: usize,
    cursor: RwSignal<Place>,
    numbers: bool,
) -> impl IntoView + use<> {
    let cells = (0..frame.cols)
        .map(|j| {
            let place = (i, j);
            let from = origin(&frame.source, &frame.prefix, frame.vector, i, j);
            view! {
                <td
                    data-at=place_text(place)
                    tabindex=move || if cursor.get() == place { "0" } else { "-1" }
                    class=move || cell_class(heat, place)
                    style=move || cell_style(heat, place)
                >
                    <span class:vh=!numbers>
                        {number_span(move || heat.at(place), move || from.clone(), heat.format)}
                    </span>
                </td>
            }
        })
        .collect_view();
    view! {
        <tr>
            <th
                scope="row"
                data-label=""
                class:is-current=move || heat.selected.get().is_some_and(|p| p.0 == i)
            >
                <span class:vh=frame.row_labels.is_empty()>{named(&frame.row_labels, i, "row")}</span>
            </th>
            {cells}
        </tr>
    }
}

/// Classes of a cell: hatching for what has no colour, outlines for what is pointed at or marked.
fn cell_class(heat: Heat, place: Place) -> String {
    let mut class = String::from("heat-cell");
    match heat.at(place) {
        Some(v) if v == f64::NEG_INFINITY => class.push_str(" is-masked"),
        Some(v) if !v.is_finite() => class.push_str(" is-nan"),
        _ => {}
    }
    if heat.selected.get() == Some(place) {
        class.push_str(" is-selected");
    }
    if heat.mark.with(|m| m.contains(&place)) {
        class.push_str(" is-marked");
    }
    class
}

/// Background by value and ink by background; a cell without a finite value has its class only.
fn cell_style(heat: Heat, place: Place) -> Option<String> {
    let value = heat.at(place).filter(|v| v.is_finite())?;
    let colour = heat.palette.of(value, heat.ends.get());
    Some(format!(
        "background:{};color:{}",
        hex(colour),
        ink_on(colour)
    ))
}
