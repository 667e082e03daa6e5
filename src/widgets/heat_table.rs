//! Heat maps of at most a few hundred cells are real tables, with a cursor for the keyboard.

use leptos::html::{Div, Table};
use leptos::prelude::*;
use leptos::web_sys;

use super::events::{focus_place, place_of};
use super::heat_cells::{
    Elements, Heads, Names, keep_drawn, keep_marked, keep_named, longest_number, rows_markup,
};
use super::heat_density::{Density, Measures, Numbers};
use super::heat_map::{Frame, Heat};
use crate::browser::resize::on_resize;

/// The table. One listener for each kind of event is on the table, not on its cells, and one effect
/// draws all of them: an edit changes every number of a map, and a thousand effects would be a long
/// task.
pub(crate) fn heat_table(
    heat: Heat,
    frame: &Frame,
    label: String,
    numbers: Memo<Numbers>,
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
    let point = move |event: &web_sys::Event| {
        let place = place_of(event);
        if let Some(place) = place {
            heat.point(place);
        }
        place
    };
    let elements = Elements::default();
    let names = untrack(|| Names::of(heat, frame));
    let (looks, markup) = rows_markup(heat, frame, &names.rows);
    let scroll = NodeRef::<Div>::new();
    let density = density(heat, frame, scroll, numbers);
    let pressable = if heat.on_press.is_some() {
        " is-pressable"
    } else {
        ""
    };
    let heads = table_head(&names.cols);
    keep_drawn(heat, table, elements.clone(), frame, looks);
    keep_named(heat, table, elements.clone(), frame, names);
    keep_marked(heat, table, elements, cursor, (rows, cols));
    view! {
        <div class="scroll" node_ref=scroll>
            <table
                node_ref=table
                role="grid"
                class=move || format!("{}{pressable}", density.get().markup().0)
                style=move || density.get().markup().1
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
                <caption class="vh" data-label="">{label}</caption>
                <thead>{heads}</thead>
                <tbody inner_html=markup></tbody>
            </table>
        </div>
    }
}

/// The element whose width does not depend on the map: the row that the map is an item of, and that
/// breaks into lines, else the map's own box.
fn width_giver(scroll: &web_sys::Element) -> web_sys::Element {
    let figure = scroll.closest(".heat").ok().flatten();
    let row = figure.and_then(|figure| figure.parent_element());
    row.filter(|row| row.matches(".row, .linked-row").unwrap_or(false))
        .unwrap_or_else(|| scroll.clone())
}

/// The form of the cells that fits into the room that the table has.
fn density(
    heat: Heat,
    frame: &Frame,
    scroll: NodeRef<Div>,
    numbers: Memo<Numbers>,
) -> Memo<Density> {
    let widths = RwSignal::new((0.0, 0.0));
    Effect::new(move |_| {
        let Some(scroll) = scroll.get() else { return };
        let Ok(Some(corner)) = scroll.query_selector("thead td") else {
            return;
        };
        let observed = [width_giver(&scroll), corner];
        on_resize(&observed.clone(), move || {
            let [room, corner] = &observed;
            let row_names = corner.get_bounding_client_rect().width();
            widths.try_set((f64::from(room.client_width()), row_names));
        });
    });
    let frame = frame.clone();
    Memo::new(move |_| {
        let (room, row_names) = widths.get();
        let numbers = numbers.get();
        let names = Names::of(heat, &frame).cols;
        let letters = names.names.iter().map(|name| name.chars().count()).max();
        let measures = Measures {
            room,
            row_names,
            cols: frame.cols,
            digits: if numbers == Numbers::Never {
                0
            } else {
                longest_number(heat)
            },
            letters: if names.bare {
                0
            } else {
                letters.unwrap_or_default()
            },
        };
        Density::of(measures, numbers)
    })
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
