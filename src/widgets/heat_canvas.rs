//! A heat map of hundreds of cells: one canvas with a cursor, and the selected row and column as
//! tables. In the served file a picture stands in its place.

use std::ops::Range;

use leptos::either::Either;
use leptos::html::Canvas;
use leptos::prelude::*;
use leptos::web_sys::{self, HtmlCanvasElement};

use super::events::share_within;
use super::heat_map::{Heat, Lines};
use super::heat_served::markup;
use super::markup::in_markup;
use super::{Grid, Place};
use crate::browser::canvas::{self, fit, picture};
use crate::display::num::number_span;

/// Height of the map in CSS pixels per row and its limits; one that is about as wide as high has
/// square cells.
const ROW_HEIGHT: f64 = 8.0;
const SMALLEST: f64 = 160.0;
const LARGEST: f64 = 420.0;

/// The largest side of a square cell in CSS pixels.
const SQUARE: f64 = 12.0;

/// Width of the bar at the side of a marked row, in pixels.
const BAR: f64 = 4.0;

/// The canvas with its cursor, and tables unless it is a picture.
pub(crate) fn heat_canvas(heat: Heat, label: String, is_picture: bool) -> impl IntoView {
    let canvas = NodeRef::<Canvas>::new();
    let size = canvas::size_of(canvas);
    let shape = Memo::new(move |_| {
        heat.grid
            .with(|g| g.as_ref().map_or((0, 0), |g| (g.rows, g.cols)))
    });
    Effect::new(move |_| {
        size.track();
        let Some(canvas) = canvas.get() else { return };
        heat.grid.with(|grid| {
            if let Some(grid) = grid {
                draw(&canvas, grid, heat);
            }
        });
    });
    let under = move |event: &web_sys::MouseEvent| {
        place_under(&canvas.get_untracked()?, event, shape.get_untracked())
    };
    let on_key = move |event: leptos::ev::KeyboardEvent| {
        let at = heat.selected.get_untracked().unwrap_or_default();
        if let Some(next) = heat.key(&event, at, shape.get_untracked()) {
            heat.point(next);
        }
    };
    let style = Signal::derive(move || size_in_css(shape.get(), is_picture));
    let surface = match in_markup(|| markup(heat)) {
        Some(svg) => {
            Either::Left(view! { <div class="heat-served" style=style inner_html=svg></div> })
        }
        None => Either::Right(view! {
            <canvas
                node_ref=canvas
                aria-hidden="true"
                style=style
                on:pointermove=move |event| {
                    if let Some(place) = under(&event) {
                        heat.point(place);
                    }
                }
                on:pointerleave=move |_| heat.leave()
                on:click=move |event| {
                    if let Some(place) = under(&event) {
                        heat.press(place);
                    }
                }
            ></canvas>
        }),
    };
    let name = format!("{label}; arrow keys move the cursor");
    view! {
        <div
            class="heat-canvas"
            role="group"
            tabindex="0"
            aria-label=name
            on:keydown=on_key
            on:focus=move |_| {
                if heat.selected.get_untracked().is_none() {
                    heat.point((0, 0));
                }
            }
            on:blur=move |_| heat.leave()
        >
            {surface}
        </div>
        <p class="vh" aria-live="polite" data-label="">
            {move || spoken(heat)}
        </p>
        {(!is_picture).then(|| view! { <LineTables heat label /> })}
    }
}

/// The size of a map of `rows` x `cols`, in CSS.
fn size_in_css((rows, cols): Place, is_picture: bool) -> String {
    if is_picture {
        return format!("aspect-ratio:{cols}/{rows}");
    }
    if cols <= 2 * rows && rows <= 2 * cols {
        let highest = (rows as f64 * SQUARE).min(LARGEST);
        let widest = highest * cols as f64 / rows.max(1) as f64;
        return format!("aspect-ratio:{cols}/{rows};max-width:{widest:.0}px");
    }
    let height = (rows as f64 * ROW_HEIGHT).clamp(SMALLEST, LARGEST);
    format!("height:{height}px")
}

/// The cell of a grid of `rows` x `cols` under a pointer.
fn place_under(
    canvas: &HtmlCanvasElement,
    event: &web_sys::MouseEvent,
    (rows, cols): Place,
) -> Option<Place> {
    let (x, y) = share_within(canvas, event)?;
    let index =
        |share: f64, n: usize| ((share * n as f64).max(0.0) as usize).min(n.saturating_sub(1));
    Some((index(y, rows), index(x, cols)))
}

/// Text for assistive technology when the cursor moves.
fn spoken(heat: Heat) -> Option<String> {
    let (row, col) = heat.selected.get()?;
    heat.grid.with(|g| {
        let g = g.as_ref()?;
        let value = cells::format::number(g.at(row, col)?, heat.format);
        Some(format!("{}, {}: {value}", g.row_name(row), g.col_name(col)))
    })
}

/// One pixel a cell, enlarged without smoothing; then the outlines.
fn draw(canvas: &HtmlCanvasElement, grid: &Grid, heat: Heat) {
    let Some((ctx, width, height)) = fit(canvas) else {
        return;
    };
    let ends = heat.ends.get();
    let theme = crate::display::theme::current();
    let mut rgba = Vec::with_capacity(4 * grid.values.len());
    let hidden = heat.hidden.with(|places| cells_of(grid, places));
    for (&value, is_hidden) in grid.values.iter().zip(hidden) {
        if value.is_finite() && !is_hidden && !heat.palette.hides(value) {
            let share = heat.palette.share(value, ends);
            rgba.extend(heat.palette.colour(share, heat.concept, &theme));
            rgba.push(255);
        } else {
            // See-through: the hatching behind the canvas shows where there is no value, or where none
            // may look.
            rgba.extend([0, 0, 0, 0]);
        }
    }
    ctx.clear_rect(0.0, 0.0, width, height);
    if let Some(small) = picture(&rgba, grid.cols, grid.rows) {
        ctx.set_image_smoothing_enabled(false);
        ctx.draw_image_with_html_canvas_element_and_dw_and_dh(&small, 0.0, 0.0, width, height)
            .ok();
    }
    let (cell_w, cell_h) = (width / grid.cols as f64, height / grid.rows as f64);
    let outline = |place: Place, wide: f64| {
        let (x, y) = (place.1 as f64 * cell_w, place.0 as f64 * cell_h);
        for (colour, extra) in [("#000", wide + 2.0), ("#fff", wide)] {
            ctx.set_stroke_style_str(colour);
            ctx.set_line_width(extra);
            ctx.stroke_rect(x, y, cell_w.max(3.0), cell_h.max(3.0));
        }
    };
    let lines = heat
        .mark
        .with(|places| Lines::of(places, (grid.rows, grid.cols)));
    let bar = |x: f64, y: f64, w: f64, h: f64| {
        for (colour, around) in [("#fff", 1.0), ("#000", 0.0)] {
            ctx.set_fill_style_str(colour);
            ctx.fill_rect(x - around, y - around, w + 2.0 * around, h + 2.0 * around);
        }
    };
    for &row in &lines.rows {
        bar(0.0, row as f64 * cell_h, BAR, cell_h);
    }
    for &col in &lines.cols {
        bar(col as f64 * cell_w, 0.0, cell_w, BAR);
    }
    lines.rest.iter().for_each(|&place| outline(place, 1.0));
    if let Some(place) = heat.selected.get() {
        outline(place, 2.0);
    }
}

/// For each cell of the grid, whether it is one of these places. A causal mask over 256 tokens hides
/// 32,640 of them, too many to look up one after the other for each cell.
fn cells_of(grid: &Grid, places: &[Place]) -> Vec<bool> {
    let mut cells = vec![false; grid.values.len()];
    for &(row, col) in places {
        if let Some(cell) = cells.get_mut(row * grid.cols + col) {
            *cell = true;
        }
    }
    cells
}

/// The most numbers of a row or column in a table.
const PART: usize = 128;

/// The part of a row or column of `length` cells that holds `at`.
fn part(at: usize, length: usize) -> Range<usize> {
    let start = at.min(length.saturating_sub(1)) / PART * PART;
    start..(start + PART).min(length)
}

/// `, columns 1 to 128 of 3072`; nothing where the part is all.
fn part_name(cells: &str, at: usize, length: usize) -> String {
    if length <= PART {
        return String::new();
    }
    let part = part(at, length);
    format!(", {cells} {} to {} of {length}", part.start + 1, part.end)
}

/// A row or column by name, with the name and place of each of its cells.
type Line = (String, Vec<(String, Place)>);

/// The selected row and column as tables of numbers, of long ones the part around the cursor.
#[component]
fn LineTables(heat: Heat, label: String) -> impl IntoView {
    // Memos: a table is built again only when its own row or column changes, not with every value
    // or move.
    let row = Memo::new(move |_| {
        let (row, col) = heat.selected.get().unwrap_or_default();
        heat.grid.with(|g| {
            let g = g.as_ref()?;
            let places = part(col, g.cols).map(|j| (g.col_name(j), (row, j)));
            let name = line_name(g.row_name(row), &g.col_name(col), "row")
                + &part_name("columns", col, g.cols);
            Some((name, places.collect::<Vec<_>>()))
        })
    });
    let col = Memo::new(move |_| {
        let (row, col) = heat.selected.get().unwrap_or_default();
        heat.grid.with(|g| {
            // Of a single row it would repeat the line above it.
            let g = g.as_ref().filter(|g| g.rows > 1)?;
            let places = part(row, g.rows).map(|i| (g.row_name(i), (i, col)));
            let name = line_name(g.col_name(col), &g.row_name(row), "column")
                + &part_name("rows", row, g.rows);
            Some((name, places.collect::<Vec<_>>()))
        })
    });
    let label = StoredValue::new(label);
    let table = move |list: Memo<Option<Line>>| {
        move || {
            let (name, places) = list.get()?;
            let name = format!("{}, {name}", label.get_value());
            Some(line(heat, name, places))
        }
    };
    view! { <div class="heat-lines">{table(row)} {table(col)}</div> }
}

/// The name of a row or column, told apart from the other one where both are called the same.
fn line_name(name: String, other: &str, kind: &str) -> String {
    if name == other {
        format!("{kind} of {name}")
    } else {
        name
    }
}

fn line(heat: Heat, name: String, places: Vec<(String, Place)>) -> impl IntoView {
    let heads = places
        .iter()
        .map(|(name, _)| view! { <th scope="col">{name.clone()}</th> })
        .collect_view();
    let numbers = places
        .into_iter()
        .map(|(_, place)| {
            let from = move || {
                heat.grid.with(|g| {
                    g.as_ref()
                        .map(|g| g.from(place.0, place.1))
                        .unwrap_or_default()
                })
            };
            view! { <td>{number_span(move || heat.at(place), from, heat.format)}</td> }
        })
        .collect_view();
    let caption = name.clone();
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label=name>
            <table class="line-table">
                <caption data-label="">{caption}</caption>
                <thead>
                    <tr data-label="">{heads}</tr>
                </thead>
                <tbody>
                    <tr>{numbers}</tr>
                </tbody>
            </table>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::{part, part_name, size_in_css};

    #[test]
    fn maps_that_are_about_as_wide_as_high_have_square_cells() {
        assert_eq!(
            size_in_css((24, 24), false),
            "aspect-ratio:24/24;max-width:288px"
        );
        assert_eq!(
            size_in_css((30, 15), false),
            "aspect-ratio:15/30;max-width:180px"
        );
        assert_eq!(size_in_css((4, 128), false), "height:160px");
        assert_eq!(size_in_css((200, 64), false), "height:420px");
        assert_eq!(size_in_css((28, 30), true), "aspect-ratio:30/28");
    }

    #[test]
    fn a_long_row_is_shown_in_parts() {
        assert_eq!(part(3, 40), 0..40);
        assert_eq!(part(127, 300), 0..128);
        assert_eq!(part(128, 300), 128..256);
        assert_eq!(part(299, 300), 256..300);
        assert_eq!(part(400, 300), 256..300);
        assert_eq!(part(0, 0), 0..0);
        assert_eq!(part_name("rows", 5, 128), "");
        assert_eq!(part_name("rows", 130, 300), ", rows 129 to 256 of 300");
    }
}
