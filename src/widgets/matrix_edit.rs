//! A matrix that the reader edits cell by cell.

use std::collections::BTreeMap;

use cells::format::{Format, number};
use cells::symbols::spoken;
use leptos::html::Table;
use leptos::prelude::*;
use leptos::web_sys::HtmlInputElement;
use ndarray::Array2;

use super::entry::{on_reset, same};
use super::events::{focus_place, place_of, place_text, typed};
use super::markup::in_markup;
use super::matrix_block::parse_block;
use super::{Concept, Limits, Place, ids, parse_number, set};
use crate::display::grid::{named, origin};
use crate::display::num::number_span;

/// Text of the cells that are being typed into or that hold no number.
type Drafts = BTreeMap<Place, String>;

/// State that the parts of one editable matrix share.
#[derive(Clone, Copy)]
struct Edit {
    matrix: Signal<Array2<f32>>,
    drafts: RwSignal<Drafts>,
    on_change: Callback<Array2<f32>>,
    selected: RwSignal<Option<Place>>,
    mark: Signal<Vec<Place>>,
    source: StoredValue<String>,
    rows: Signal<Vec<String>>,
    cols: Signal<Vec<String>>,
    label: StoredValue<String>,
    /// The box typed into last, and its value before that.
    before_typing: StoredValue<Option<(Place, f32)>>,
}

impl Edit {
    fn at(self, place: Place) -> Option<f32> {
        self.matrix.with(|m| m.get(place).copied())
    }

    /// Text in the box of a cell: the text being typed, else the value.
    fn text(self, place: Place) -> String {
        let draft = self.drafts.with(|d| d.get(&place).cloned());
        let value = || self.at(place).map(|x| number(f64::from(x), Format::Typed));
        draft.or_else(value).unwrap_or_default()
    }

    /// True while the box of a cell holds something that is no number.
    fn is_wrong(self, place: Place) -> bool {
        self.drafts.with(|d| {
            d.get(&place)
                .is_some_and(|t| parse_number(t, Limits::ENTRY).is_err())
        })
    }

    /// Takes the number that is typed. Text that is refused brings back the value from before the
    /// typing.
    fn type_into(self, place: Place, text: String) {
        let number = parse_number(&text, Limits::ENTRY);
        if self.drafts.with_untracked(|d| !d.contains_key(&place)) {
            let value = self.matrix.with_untracked(|m| m.get(place).copied());
            self.before_typing
                .set_value(value.map(|value| (place, value)));
        }
        self.drafts.update(|d| {
            d.insert(place, text);
        });
        let before = || self.before(place);
        if let Some(x) = number.ok().map(|x| x as f32).or_else(before) {
            self.put(place, &[vec![x]]);
        }
    }

    /// The value of a box before what is typed in it now.
    fn before(self, place: Place) -> Option<f32> {
        let before = self.before_typing.get_value();
        before.and_then(|(at, value)| (at == place).then_some(value))
    }

    /// Writes a block of numbers from `place` on; what does not fit is left out.
    fn put(self, (row, col): Place, block: &[Vec<f32>]) {
        let mut next = self.matrix.get_untracked();
        for (i, line) in block.iter().enumerate() {
            for (j, &x) in line.iter().enumerate() {
                if let Some(slot) = next.get_mut((row + i, col + j)) {
                    *slot = x;
                }
            }
        }
        self.on_change.run(next);
    }

    fn leave(self, place: Place) {
        if !self.is_wrong(place) {
            self.drafts.update(|d| {
                d.remove(&place);
            });
        }
    }

    /// `row 1, column 2`, or the labels.
    fn place_name(self, (i, j): Place) -> String {
        let row = self.rows.with(|r| named(r, i, "row"));
        let col = self.cols.with(|c| named(c, j, "column"));
        format!("{row}, {col}")
    }
}

/// A table of number boxes.
#[component]
pub fn MatrixEdit(
    /// The matrix in use.
    #[prop(into)]
    matrix: Signal<Array2<f32>>,
    /// Gets the matrix after each edit.
    #[prop(into)]
    on_change: Callback<Array2<f32>>,
    /// Label of the matrix.
    #[prop(into)]
    label: String,
    /// Origin of the values (`input:NAME`).
    #[prop(into)]
    source: String,
    /// Names of the rows; none for plain numbering.
    #[prop(into, default = Signal::stored(Vec::new()))]
    row_labels: Signal<Vec<String>>,
    /// Names of the columns; none for plain numbering.
    #[prop(into, default = Signal::stored(Vec::new()))]
    col_labels: Signal<Vec<String>>,
    /// Accent colour.
    #[prop(default = Concept::Plain)]
    concept: Concept,
    /// The cell last pointed at or typed into; shared with other widgets to link them.
    #[prop(optional)]
    selected: Option<RwSignal<Option<Place>>>,
    /// Cells to outline.
    #[prop(optional, into)]
    mark: Option<Signal<Vec<Place>>>,
) -> impl IntoView {
    let edit = Edit {
        matrix,
        drafts: RwSignal::new(Drafts::new()),
        on_change,
        selected: selected.unwrap_or_else(|| RwSignal::new(None)),
        mark: mark.unwrap_or_else(|| Signal::stored(Vec::new())),
        source: StoredValue::new(source),
        rows: row_labels,
        cols: col_labels,
        label: StoredValue::new(spoken(&label)),
        before_typing: StoredValue::new(None),
    };
    forget_stale_drafts(edit);
    let note = ids::fresh("matrix");
    let shape = Memo::new(move |_| matrix.with(Array2::dim));
    let described = note.clone();
    view! {
        <div class=format!("matrix-edit {}", concept.class())>
            {move || view! { <EditTable edit shape=shape.get() label=label.clone() note=described.clone() /> }}
            <Problems edit note />
        </div>
    }
}

/// A value that changed from outside (undo, reset, a share link) takes the place of what was typed.
fn forget_stale_drafts(edit: Edit) {
    Effect::new(move |before: Option<Array2<f32>>| {
        let now = edit.matrix.get();
        let stale: Vec<Place> = edit.drafts.with_untracked(|drafts| {
            let is_stale = |place: &Place, text: &str| match (
                now.get(*place),
                parse_number(text, Limits::ENTRY),
            ) {
                (None, _) => true,
                (Some(&value), Ok(x)) => !same(x, f64::from(value)),
                // The text itself brought back the value from before it.
                (value, Err(_)) if value.copied() == edit.before(*place) => false,
                (value, Err(_)) => before.as_ref().is_some_and(|b| b.get(*place) != value),
            };
            drafts
                .iter()
                .filter(|(p, t)| is_stale(p, t))
                .map(|(p, _)| *p)
                .collect()
        });
        if !stale.is_empty() {
            edit.drafts
                .update(|d| d.retain(|place, _| !stale.contains(place)));
        }
        now
    });
    on_reset(move || edit.drafts.set(Drafts::new()));
}

/// The table itself, for a matrix of `shape`.
#[component]
fn EditTable(edit: Edit, shape: Place, label: String, note: String) -> impl IntoView {
    let table = NodeRef::<Table>::new();
    let (rows, cols) = shape;
    let on_key = move |event: leptos::ev::KeyboardEvent| {
        let Some(place) = place_of(&event) else {
            return;
        };
        if let Some(next) = next_box(&event, place, shape)
            && let Some(table) = table.get_untracked()
            && focus_place(&table, next)
        {
            event.prevent_default();
        }
    };
    let on_paste = move |event: leptos::ev::ClipboardEvent| {
        let text = event
            .clipboard_data()
            .and_then(|data| data.get_data("text").ok())
            .unwrap_or_default();
        if let (Some(place), Some(block)) = (place_of(&event), parse_block(&text)) {
            event.prevent_default();
            edit.drafts
                .update(|d| d.retain(|&(i, j), _| i < place.0 || j < place.1));
            edit.put(place, &block);
        }
    };
    let point = move |place: Option<Place>| {
        if place.is_some() && edit.selected.get_untracked() != place {
            edit.selected.set(place);
        }
    };
    let heads = (0..cols)
        .map(|j| view! {
            <th scope="col" data-label="">
                <span class:vh=move || edit.cols.with(Vec::is_empty)>{move || edit.cols.with(|c| named(c, j, "column"))}</span>
            </th>
        })
        .collect_view();
    view! {
        <div class="scroll">
            <table
                node_ref=table
                class="edit-table"
                on:keydown=on_key
                on:paste=on_paste
                on:pointerover=move |event| point(place_of(&event))
                on:focusin=move |event| point(place_of(&event))
                on:input=move |event| {
                    if let Some(place) = place_of(&event) {
                        edit.type_into(place, typed(&event));
                    }
                }
                on:focusout=move |event| {
                    if let Some(place) = place_of(&event) {
                        edit.leave(place);
                    }
                }
            >
                <caption data-label="">{set(&label)}</caption>
                <thead>
                    <tr>
                        <td></td>
                        {heads}
                    </tr>
                </thead>
                <tbody>{(0..rows).map(|i| edit_row(edit, i, cols, &note)).collect_view()}</tbody>
            </table>
        </div>
    }
}

fn edit_row(edit: Edit, i: usize, cols: usize, note: &str) -> impl IntoView + use<> {
    let boxes = (0..cols)
        .map(|j| {
            let place = (i, j);
            let note = note.to_owned();
            view! {
                <td
                    class:is-selected=move || edit.selected.get() == Some(place)
                    class:is-marked=move || edit.mark.with(|m| m.contains(&place))
                >
                    <input
                        type="text"
                        class="number"
                        inputmode="decimal"
                        autocomplete="off"
                        spellcheck="false"
                        data-at=place_text(place)
                        aria-label=move || format!("{}, {}", edit.label.get_value(), edit.place_name(place))
                        aria-invalid=move || edit.is_wrong(place).then_some("true")
                        aria-describedby=move || edit.is_wrong(place).then(|| note.clone())
                        value=in_markup(|| edit.text(place))
                        prop:value=move || edit.text(place)
                    />
                </td>
            }
        })
        .collect_view();
    view! {
        <tr>
            <th scope="row" data-label="" class:is-bare=move || edit.rows.with(Vec::is_empty)>
                <span class:vh=move || {
                    edit.rows.with(Vec::is_empty)
                }>{move || edit.rows.with(|r| named(r, i, "row"))}</span>
            </th>
            {boxes}
        </tr>
    }
}

/// The box that a key leads to: up, down and Enter always; left and right only from an end of the
/// text.
fn next_box(
    event: &leptos::ev::KeyboardEvent,
    (i, j): Place,
    (rows, cols): Place,
) -> Option<Place> {
    let input: HtmlInputElement = event_target(event);
    let length = input.value().encode_utf16().count() as u32;
    let (start, end) = (input.selection_start().ok()??, input.selection_end().ok()??);
    let all = length > 0 && start == 0 && end == length;
    match event.key().as_str() {
        "ArrowUp" => i.checked_sub(1).map(|i| (i, j)),
        "ArrowDown" | "Enter" => (i + 1 < rows).then_some((i + 1, j)),
        "ArrowLeft" if start == 0 && (end == 0 || all) => j.checked_sub(1).map(|j| (i, j)),
        "ArrowRight" if end == length && (start == length || all) => {
            (j + 1 < cols).then_some((i, j + 1))
        }
        _ => None,
    }
}

/// One line for each box that holds no number: what is wrong, and the value still in use.
#[component]
fn Problems(edit: Edit, note: String) -> impl IntoView {
    let list = move || {
        let drafts = edit.drafts.get();
        drafts
            .into_iter()
            .filter_map(|(place, text)| {
                let wrong = parse_number(&text, Limits::ENTRY).err()?;
                let value = move || edit.at(place).map(f64::from);
                let from = move || origin(&edit.source.get_value(), &[], false, place.0, place.1);
                let quoted = (!text.trim().is_empty()).then(|| view! { <q>{text.clone()}</q> " " });
                Some(view! {
                    <span class="problem">
                        <span data-label="">{edit.place_name(place)} ": " {quoted} {wrong.words()}</span>
                        "; still using "
                        {number_span(value, from, Format::Typed)}
                    </span>
                })
            })
            .collect_view()
    };
    view! {
        <p class="entry-problem" id=note aria-live="polite">
            {list}
        </p>
    }
}
