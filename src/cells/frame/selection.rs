//! Selections of a cell's view as inputs of the page: in links, reset and undone like any other
//! input, and never computed from.

use cells::{InputValue, Selection, selection};
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::widgets::{Place, Selected};

impl CellCx {
    fn selection(self, name: &'static str) -> Signal<Selection> {
        self.read(
            name,
            |value| match value {
                InputValue::Selection(selection) => Some(selection.clone()),
                _ => None,
            },
            Selection::Nothing,
        )
    }

    /// The selected entry of a tensor with `AXES` axes.
    pub(crate) fn selected_entry<const AXES: usize>(
        self,
        name: &'static str,
    ) -> Selected<[usize; AXES]> {
        let selection = self.selection(name);
        let chosen = Memo::new(move |_| match selection.get() {
            Selection::Entry(index) => <[usize; AXES]>::try_from(index).ok(),
            _ => None,
        });
        Selected::new(chosen, move |index: Option<[usize; AXES]>| {
            let selection =
                index.map_or(Selection::Nothing, |index| Selection::Entry(index.to_vec()));
            self.set(name, InputValue::Selection(selection));
        })
    }

    /// The selected place of a matrix.
    pub(crate) fn selected_place(self, name: &'static str) -> Selected<Place> {
        let entry = self.selected_entry::<2>(name);
        entry.map(|[row, col]| Some((row, col)), |(row, col)| Some([row, col]))
    }

    /// The selected one of the tokens of `text`. Where the word is not in the text any more, the
    /// lesson's own word is selected, or else the first.
    pub(crate) fn selected_token(
        self,
        name: &'static str,
        tokens: Signal<Vec<String>>,
        text: Signal<String>,
    ) -> Selected<usize> {
        let chosen = self.selection(name);
        let initial = move || match self.initial_inputs().0.remove(name) {
            Some(InputValue::Selection(selection)) => selection,
            _ => Selection::Nothing,
        };
        let found = move |selection: Selection| match selection {
            Selection::Word(quote) => {
                tokens.with(|tokens| text.with(|text| quote.token(tokens, text)))
            }
            _ => None,
        };
        let first = move || tokens.with(|t| text.with(|text| selection::first_in_text(t, text)));
        let index = Memo::new(move |_| match chosen.get() {
            Selection::Nothing => None,
            word => found(word).or_else(|| found(initial())).or_else(first),
        });
        Selected::new(index, move |index: Option<usize>| {
            let selection = index.map_or(Selection::Nothing, |index| {
                tokens.with_untracked(|tokens| {
                    text.with_untracked(|text| Selection::of_token(index, tokens, text))
                })
            });
            self.set(name, InputValue::Selection(selection));
        })
    }

    /// The selected one of the tokens that a model wrote.
    pub(crate) fn selected_written(
        self,
        name: &'static str,
        tokens: Signal<Vec<String>>,
    ) -> Selected<usize> {
        let text = Signal::derive(move || tokens.with(|tokens| tokens.join(" ")));
        self.selected_token(name, tokens, text)
    }
}

/// The rows of a matrix whose row is selected: pointing at an entry points at its row as well.
pub(crate) fn of_rows(row: Selected<usize>) -> Selected<Place> {
    let col = RwSignal::new(None::<usize>);
    row.map(
        move |row| col.get().map(|col| (row, col)),
        move |(row, at)| {
            col.set(Some(at));
            Some(row)
        },
    )
}
