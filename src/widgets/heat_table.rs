//! A heat map of up to a thousand cells: a real table with a cursor.

use leptos::html::Table;
use leptos::prelude::*;

use super::events::{focus_place, place_of};
use super::heat_cells::{Elements, Heads, Names, keep_drawn, keep_marked, keep_named, rows_markup};
use super::heat_map::{Frame, Heat};

/// The table. One listener for each kind of event is on the table, not on its cells, and one effect
/// draws all of them: an edit changes every number of a map, and a thousand effects would be a long
/// task.
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
    let elements = Elements::default();
    let names = untrack(|| Names::of(heat, frame));
    let (looks, markup) = rows_markup(heat, frame, &names.rows, numbers);
    let heads = table_head(&names.cols);
    keep_drawn(heat, table, elements.clone(), frame, looks);
    keep_named(heat, table, elements.clone(), frame, names);
    keep_marked(heat, table, elements, cursor, cols);
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
                on:pointerleave=move |_| heat.leave()
                on:focusout=move |_| heat.leave()
                on:click=move |event| {
                    if let Some(place) = place_of(&event) {
                        heat.press(place);
                    }
                }
            >
                <caption class="vh">{label}</caption>
                <thead>{heads}</thead>
                <tbody inner_html=markup></tbody>
            </table>
        </div>
    }
}

fn table_head(heads: &Heads) -> impl IntoView + use<> {
    let bare = heads.bare;
    let heads = heads
        .names
        .iter()
        .map(|name| {
            let name = name.clone();
            view! {
                <th scope="col" data-label="" class:is-bare=bare>
                    <span class:vh=bare>{name}</span>
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
