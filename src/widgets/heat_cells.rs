//! The cells of a heat table: written as markup in one go, then changed where a value, the cursor
//! or a mark changes.

use std::cell::OnceCell;
use std::fmt::Write;
use std::rc::Rc;

use cells::format::number;
use cells::symbols::{html, push_escaped};
use leptos::html::Table;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Element, Node, NodeList};

use super::events::place_text;
use super::heat_map::{Frame, Heat, Lines};
use super::{Grid, Place};
use crate::display::grid::{named, origin};
use crate::display::num::NOTHING;

/// Text and colour of a cell.
#[derive(Clone, PartialEq)]
pub(super) struct Look {
    /// The value as text.
    text: String,
    /// How much of its colour the cell gets, in hundredths; none where there is no finite value.
    share: Option<i8>,
    /// Class of what has no colour, hatched.
    hatch: Option<&'static str>,
    /// True where there is a value, which then has an origin.
    known: bool,
}

const MASKED: &str = "is-masked";
const NOT_A_NUMBER: &str = "is-nan";

impl Look {
    fn of(value: Option<f64>, heat: Heat, ends: (f64, f64), is_hidden: bool) -> Self {
        Self {
            text: value.map_or_else(|| NOTHING.to_owned(), |v| number(v, heat.format)),
            share: value
                .filter(|v| v.is_finite())
                .map(|v| (100.0 * heat.palette.share(v, ends)).round() as i8),
            hatch: match value {
                Some(v) if is_hidden || heat.palette.hides(v) => Some(MASKED),
                Some(v) if !v.is_finite() => Some(NOT_A_NUMBER),
                _ => None,
            },
            known: value.is_some(),
        }
    }

    /// The custom property from which the style sheet makes background and ink.
    fn style(&self) -> Option<String> {
        self.share
            .map(|share| format!("--share:{}", f32::from(share) / 100.0))
    }

    /// Of all cells of the grid, row by row.
    fn all(heat: Heat, cells: usize) -> Vec<Self> {
        let ends = heat.ends.get();
        heat.grid.with(|grid| {
            let value = |n: usize| grid.as_ref()?.values.get(n).copied();
            let cols = grid.as_ref().map_or(1, |g| g.cols).max(1);
            heat.hidden.with(|hidden| {
                (0..cells)
                    .map(|n| Self::of(value(n), heat, ends, hidden.contains(&(n / cols, n % cols))))
                    .collect()
            })
        })
    }
}

/// Headings of rows and columns.
#[derive(Clone, PartialEq)]
pub(super) struct Names {
    pub(super) rows: Heads,
    pub(super) cols: Heads,
}

/// The names of all rows, or of all columns.
#[derive(Clone, PartialEq)]
pub(super) struct Heads {
    /// Plain numbers, for assistive technology.
    pub(super) bare: bool,
    /// With symbols between dollar signs.
    pub(super) symbols: bool,
    pub(super) names: Vec<String>,
}

impl Heads {
    fn of(labels: &[String], count: usize, word: &str, symbols: bool) -> Self {
        Self {
            bare: labels.is_empty(),
            symbols,
            names: (0..count).map(|n| named(labels, n, word)).collect(),
        }
    }

    /// A name as markup.
    pub(super) fn html(&self, name: &str) -> String {
        if self.symbols {
            html(name)
        } else {
            escaped(name)
        }
    }

    /// Writes what has changed.
    fn show(&self, before: &Self, elements: &[Element]) {
        for (n, head) in elements.iter().enumerate() {
            let Some(span) = head.first_element_child() else {
                continue;
            };
            if self.bare != before.bare {
                set_class(head, "is-bare", self.bare);
                set_class(&span, "vh", self.bare);
            }
            if self.names.get(n) != before.names.get(n) {
                span.set_inner_html(
                    &self
                        .names
                        .get(n)
                        .map_or_else(String::new, |name| self.html(name)),
                );
            }
        }
    }
}

impl Names {
    /// The names that the grid gives now.
    pub(super) fn of(heat: Heat, frame: &Frame) -> Self {
        heat.grid.with(|grid| {
            let labels =
                |pick: fn(&Grid) -> &Vec<String>| grid.as_ref().map_or(&[][..], |g| pick(g));
            let symbols = grid.as_ref().is_some_and(|g| g.symbols);
            Self {
                rows: Heads::of(labels(|g| &g.row_labels), frame.rows, "row", symbols),
                cols: Heads::of(labels(|g| &g.col_labels), frame.cols, "column", false),
            }
        })
    }
}

/// Characters of the longest number: the smallest and the largest have the most digits.
pub(super) fn longest_number(heat: Heat) -> usize {
    let range = heat.grid.with(|grid| grid.as_ref().and_then(Grid::range));
    range.map_or(0, |(low, high)| {
        let characters = |value: f64| number(value, heat.format).chars().count();
        characters(low).max(characters(high))
    })
}

/// The looks of all cells as they are now, and all rows as HTML.
pub(super) fn rows_markup(heat: Heat, frame: &Frame, names: &Heads) -> (Vec<Look>, String) {
    let looks = untrack(|| Look::all(heat, frame.rows * frame.cols));
    let format = heat.format.to_string();
    let mut out = String::new();
    for (i, name) in names.names.iter().enumerate() {
        let classes = if names.bare {
            (" class=\"is-bare\"", " class=\"vh\"")
        } else {
            ("", "")
        };
        let name = names.html(name);
        // Writing to a text cannot fail.
        let _ = write!(
            out,
            "<tr><th scope=\"row\" data-label=\"\"{}><span{}>{name}</span></th>",
            classes.0, classes.1
        );
        for j in 0..frame.cols {
            cell_markup(&mut out, &looks[i * frame.cols + j], frame, (i, j), &format);
        }
        out.push_str("</tr>");
    }
    (looks, out)
}

fn cell_markup(html: &mut String, look: &Look, frame: &Frame, (i, j): Place, format: &str) {
    let hatch = look
        .hatch
        .map(|class| format!(" {class}"))
        .unwrap_or_default();
    let style = look
        .style()
        .map(|css| format!(" style=\"{css}\""))
        .unwrap_or_default();
    let from = if look.known {
        format!(" data-from=\"{}\"", escaped(&origin_of(frame, (i, j))))
    } else {
        String::new()
    };
    let _ = write!(
        html,
        "<td data-at=\"{}\" tabindex=\"-1\" class=\"heat-cell{hatch}\"{style}>\
         <span class=\"num\"{from} data-format=\"{format}\">{}</span></td>",
        place_text((i, j)),
        escaped(&look.text)
    );
}

fn origin_of(frame: &Frame, (i, j): Place) -> String {
    origin(&frame.source, &frame.prefix, frame.vector, i, j)
}

/// One cell as elements.
struct Cell {
    td: Element,
    number: Element,
    text: Node,
}

impl Cell {
    fn of(td: Element) -> Option<Self> {
        let number = td.query_selector(".num").ok()??;
        let text: Node = number.first_child()?;
        Some(Self { td, number, text })
    }

    /// Changes what differs. An attribute of one's own page can always be set.
    fn show(&self, before: &Look, now: &Look, origin: impl Fn() -> String) {
        if before.text != now.text {
            self.text.set_node_value(Some(&now.text));
        }
        if before.share != now.share {
            let _ = match now.style() {
                Some(css) => self.td.set_attribute("style", &css),
                None => self.td.remove_attribute("style"),
            };
        }
        if before.hatch != now.hatch {
            for class in [MASKED, NOT_A_NUMBER] {
                set_class(&self.td, class, now.hatch == Some(class));
            }
        }
        if before.known != now.known {
            let _ = if now.known {
                self.number.set_attribute("data-from", &origin())
            } else {
                self.number.remove_attribute("data-from")
            };
        }
    }
}

fn set_class(element: &Element, class: &str, on: bool) {
    let _ = element.class_list().toggle_with_force(class, on);
}

/// The table's elements, found once.
#[derive(Clone, Default)]
pub(super) struct Elements(Rc<OnceCell<Found>>);

struct Found {
    cells: Vec<Cell>,
    row_heads: Vec<Element>,
    col_heads: Vec<Element>,
}

impl Elements {
    fn find(&self, table: &Element) -> &Found {
        self.0.get_or_init(|| Found {
            cells: all(table, "td[data-at]").filter_map(Cell::of).collect(),
            row_heads: all(table, "tbody th").collect(),
            col_heads: all(table, "thead th").collect(),
        })
    }
}

fn all(root: &Element, selector: &str) -> impl Iterator<Item = Element> {
    let list = root.query_selector_all(selector).ok();
    let length = list.as_ref().map_or(0, NodeList::length);
    (0..length).filter_map(move |n| list.as_ref()?.get(n)?.dyn_into().ok())
}

/// Draws the cells whose value has changed; `shown` is what the markup says.
pub(super) fn keep_drawn(
    heat: Heat,
    table: NodeRef<Table>,
    elements: Elements,
    frame: &Frame,
    mut shown: Vec<Look>,
) {
    let frame = frame.clone();
    Effect::new(move |_| {
        let Some(table) = table.get() else { return };
        let now = Look::all(heat, shown.len());
        let looks = shown.iter().zip(&now);
        for (n, (cell, (before, now))) in elements.find(&table).cells.iter().zip(looks).enumerate()
        {
            if before != now {
                cell.show(before, now, || {
                    origin_of(&frame, (n / frame.cols, n % frame.cols))
                });
            }
        }
        shown = now;
    });
}

/// Writes the names of rows and columns that have changed; `shown` is what the markup says.
pub(super) fn keep_named(
    heat: Heat,
    table: NodeRef<Table>,
    elements: Elements,
    frame: &Frame,
    mut shown: Names,
) {
    let frame = frame.clone();
    Effect::new(move |_| {
        let Some(table) = table.get() else { return };
        let now = Names::of(heat, &frame);
        let found = elements.find(&table);
        now.rows.show(&shown.rows, &found.row_heads);
        now.cols.show(&shown.cols, &found.col_heads);
        shown = now;
    });
}

/// Cells that are pointed at, that the Tab key reaches, and that are outlined.
#[derive(Clone, Default, PartialEq)]
struct Marks {
    selected: Option<Place>,
    cursor: Option<Place>,
    rows: Vec<usize>,
    cols: Vec<usize>,
    outlined: Vec<Place>,
}

/// Shows the selected cell with its row and column, the marks, and the one cell that the Tab key
/// leads to.
pub(super) fn keep_marked(
    heat: Heat,
    table: NodeRef<Table>,
    elements: Elements,
    cursor: RwSignal<Place>,
    (rows, cols): Place,
) {
    let mut shown = Marks::default();
    Effect::new(move |_| {
        let Some(table) = table.get() else { return };
        let lines = heat.mark.with(|places| Lines::of(places, (rows, cols)));
        let now = Marks {
            selected: heat.selected.get(),
            cursor: Some(cursor.get()),
            rows: lines.rows,
            cols: lines.cols,
            outlined: lines.rest,
        };
        elements.find(&table).mark(&shown, &now, cols);
        shown = now;
    });
}

impl Found {
    fn cell(&self, (i, j): Place, cols: usize) -> Option<&Element> {
        let inside = j < cols;
        inside
            .then(|| self.cells.get(i * cols + j))?
            .map(|cell| &cell.td)
    }

    fn mark(&self, before: &Marks, now: &Marks, cols: usize) {
        for (marks, other, on) in [(before, now, false), (now, before, true)] {
            let classed = |place: Place, class: &str| {
                if let Some(td) = self.cell(place, cols) {
                    set_class(td, class, on);
                }
            };
            if let Some((i, j)) = marks.selected.filter(|_| marks.selected != other.selected) {
                classed((i, j), "is-selected");
                for head in [self.row_heads.get(i), self.col_heads.get(j)]
                    .into_iter()
                    .flatten()
                {
                    set_class(head, "is-current", on);
                }
            }
            for (heads, lines, others) in [
                (&self.row_heads, &marks.rows, &other.rows),
                (&self.col_heads, &marks.cols, &other.cols),
            ] {
                let changed = lines.iter().filter(|line| !others.contains(line));
                changed
                    .filter_map(|&line| heads.get(line))
                    .for_each(|head| set_class(head, "is-marked", on));
            }
            let outlined = marks
                .outlined
                .iter()
                .filter(|place| !other.outlined.contains(place));
            outlined.for_each(|&place| classed(place, "is-marked"));
            let cursor = marks.cursor.filter(|_| marks.cursor != other.cursor);
            if let Some(td) = cursor.and_then(|place| self.cell(place, cols)) {
                let _ = td.set_attribute("tabindex", if on { "0" } else { "-1" });
            }
        }
    }
}

/// Text as HTML.
fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    push_escaped(&mut html, text);
    html
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_name_of_the_readers_own_is_no_markup() {
        assert_eq!(
            super::escaped("<b class=\"x\">&'</b>"),
            "&lt;b class=&quot;x&quot;&gt;&amp;&#39;&lt;/b&gt;"
        );
    }
}
