//! A cell's inputs and results as signals, for its view.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use cells::format::Format;
use cells::{
    CellError, CellSpec, Computation, Drawing, InputSpec, InputValue, Inputs, Picture, WorkerKind,
};
use leptos::prelude::*;
use ndarray::Array2;
use worker::cell_protocol::Lacking;

use crate::client::{self, Computes, Listener};
use crate::plot::Chart;
use crate::state::PageState;
use crate::widgets::{ClearDrafts, Grid, Hatched, HatchedMap, Num};

/// The latest outcome of a cell.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outcome {
    /// The last result that could be computed.
    pub(crate) computation: Option<Arc<Computation>>,
    /// Whether that is only the part that files that have arrived give.
    pub(crate) is_part: bool,
    /// Reason that the present inputs give none.
    pub(crate) error: Option<CellError>,
    /// Progress of the next result, while it is on its way.
    pub(crate) busy: Option<Busy>,
    /// Milliseconds that the last computation took here.
    pub(crate) elapsed_ms: f64,
}

impl Outcome {
    /// The last result that could be computed, where it is whole.
    pub(crate) fn whole(&self) -> Option<&Arc<Computation>> {
        self.computation.as_ref().filter(|_| !self.is_part)
    }
}

/// What a cell waits for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Busy {
    /// Files, such as the weights of models.
    Fetching(Vec<Lacking>),
    /// The computation, of which this share is done.
    Working(f32),
}

/// The input of cells that train: how many steps were made.
pub(crate) const STEPS: &str = "steps";

/// A chart that a cell can export.
type Charts = Vec<(String, Signal<Option<Chart>>)>;

/// Handle on one cell of the page. Copies refer to the same cell.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CellCx {
    /// Id of the section.
    pub(crate) id: StoredValue<String>,
    /// Title as the reader sees it.
    pub(crate) title: StoredValue<String>,
    /// Description of the cell.
    pub(crate) spec: &'static CellSpec,
    /// The page's inputs.
    pub(crate) page: PageState,
    /// The latest outcome.
    pub(crate) outcome: RwSignal<Outcome>,
    /// The last result that could be computed. Progress of the next one does not disturb what shows
    /// it.
    result: Memo<Option<Arc<Computation>>>,
    schema: StoredValue<Vec<InputSpec>>,
    keys: StoredValue<BTreeMap<String, String>>,
    charts: StoredValue<Charts>,
    hatched: StoredValue<Vec<HatchedMap>>,
    job: StoredValue<u64>,
    /// What computes the cell in place of the workers for cells.
    by: Option<StoredValue<Rc<dyn Computes>, LocalStorage>>,
    /// Number of times that the reader has reset this cell.
    resets: RwSignal<u64>,
    /// Number of times that the reader has asked to compute the same inputs again.
    retries: RwSignal<u64>,
    begun: RwSignal<bool>,
    /// Whether the reader sees a part of this cell; only cells that train are told.
    pub(crate) in_window: RwSignal<bool>,
    /// Whether it trains by itself at present, so nobody waits for it.
    pub(crate) plays_unasked: RwSignal<bool>,
}

impl CellCx {
    /// A cell whose inputs are declared in `page` under `keys` (name of the input to key of the
    /// page).
    pub(crate) fn new(
        id: String,
        title: String,
        spec: &'static CellSpec,
        page: PageState,
        keys: BTreeMap<String, String>,
    ) -> Self {
        let outcome = RwSignal::new(Outcome::default());
        let result = Memo::new_with_compare(
            move |_| outcome.with(|o| o.computation.clone()),
            |before, after| match (
                before.and_then(Option::as_ref),
                after.and_then(Option::as_ref),
            ) {
                (Some(before), Some(after)) => !Arc::ptr_eq(before, after),
                (None, None) => false,
                _ => true,
            },
        );
        Self {
            id: StoredValue::new(id),
            title: StoredValue::new(title),
            spec,
            page,
            outcome,
            result,
            schema: StoredValue::new((spec.inputs)()),
            keys: StoredValue::new(keys),
            charts: StoredValue::new(Vec::new()),
            hatched: StoredValue::new(Vec::new()),
            job: StoredValue::new(0),
            by: None,
            resets: RwSignal::new(0),
            retries: RwSignal::new(0),
            begun: RwSignal::new(false),
            in_window: RwSignal::new(false),
            plays_unasked: RwSignal::new(false),
        }
    }

    /// The same cell, computed by something else than the workers for cells.
    pub(crate) fn computed_by(self, by: Rc<dyn Computes>) -> Self {
        Self {
            by: Some(StoredValue::new_local(by)),
            ..self
        }
    }

    /// Asks what computes this cell for a result; `listener` is called with each answer. Returns the
    /// id of the request.
    pub(crate) fn ask(self, kind: WorkerKind, inputs: Inputs, listener: Listener) -> u64 {
        match self.by.and_then(|by| by.try_get_value()) {
            Some(by) => by.compute(self.spec.name, inputs, listener),
            None => client::compute(kind, self.spec.name, inputs, listener),
        }
    }

    /// The limits and label of an input.
    pub(crate) fn input_spec(self, name: &str) -> Option<InputSpec> {
        self.schema
            .with_value(|schema| schema.iter().find(|s| s.name == name).cloned())
    }

    /// The accessible name of a part, with the cell's title: unique also where a page has the cell twice.
    pub(crate) fn name_of(self, part: &str) -> String {
        self.title.with_value(|title| format!("{title}: {part}"))
    }

    /// Keys of all inputs of this cell in the page's store.
    pub(crate) fn page_keys(self) -> BTreeSet<String> {
        self.keys
            .with_value(|keys| keys.values().cloned().collect())
    }

    /// Puts the inputs of this cell back to what the lesson gave, and drops what was typed into its
    /// boxes and not taken.
    pub(crate) fn reset(self) {
        self.page.reset(Some(&self.page_keys()));
        self.resets.update(|n| *n += 1);
    }

    /// True while an input differs from the lesson's. Tracks them.
    pub(crate) fn is_edited(self) -> bool {
        self.page.differs(&self.page_keys())
    }

    /// True while its computation receives something else than the lesson gave. Tracks it.
    pub(crate) fn is_computed_otherwise(self) -> bool {
        let keys = self.keys.get_value().into_iter();
        let received = keys.filter(|(name, _)| self.is_computed_from(name));
        self.page.differs(&received.map(|(_, key)| key).collect())
    }

    /// The inputs that the lesson gave.
    pub(crate) fn initial_inputs(self) -> Inputs {
        let keys = self.keys.get_value();
        Inputs(
            keys.into_iter()
                .filter_map(|(name, key)| Some((name, self.page.initial(&key)?)))
                .collect(),
        )
    }

    /// The maps in which something is hatched.
    pub(crate) fn hatched(self) -> Hatched {
        Hatched(self.hatched)
    }

    /// Grows whenever this cell, or the whole page, is reset.
    pub(crate) fn clear_drafts(self) -> ClearDrafts {
        ClearDrafts(Signal::derive(move || {
            self.resets.get() + self.page.resets.get()
        }))
    }

    fn key(self, name: &str) -> String {
        self.keys
            .with_value(|keys| keys.get(name).cloned().unwrap_or_default())
    }

    fn signal(self, name: &str) -> Option<RwSignal<InputValue>> {
        self.page.value(&self.key(name))
    }

    /// All inputs that the computation receives, with their present values; tracks each of them.
    pub(crate) fn inputs(self) -> Inputs {
        self.inputs_where(|name| self.is_computed_from(name))
    }

    /// All inputs with their present values, those that only the view reads too; tracks each of
    /// them.
    pub(crate) fn all_inputs(self) -> Inputs {
        self.inputs_where(|_| true)
    }

    /// The inputs whose names are asked for, with their present values; tracks each of them.
    fn inputs_where(self, is_asked: impl Fn(&str) -> bool) -> Inputs {
        let keys = self.keys.get_value();
        let asked = keys.into_iter().filter(|(name, _)| is_asked(name));
        Inputs(
            asked
                .filter_map(|(name, key)| Some((name, self.page.value(&key)?.get())))
                .collect(),
        )
    }

    /// Changes an input as an edit of the reader.
    pub(crate) fn set(self, name: &str, value: InputValue) {
        self.set_all(vec![(name, value)]);
    }

    fn is_computed_from(self, name: &str) -> bool {
        self.input_spec(name)
            .is_some_and(|spec| spec.kind.is_computed_from())
    }

    /// Changes several inputs as one edit: one step of undo. In a cell that trains, another task or
    /// rate is another training run, which starts from its first step.
    pub(crate) fn set_all(self, values: Vec<(&str, InputValue)>) {
        let trains = self.input_spec(STEPS).is_some();
        let anew = trains
            && values.iter().all(|(name, _)| *name != STEPS)
            && values.iter().any(|(name, _)| self.is_computed_from(name));
        let anew = anew.then_some((STEPS, InputValue::Number(0.0)));
        let named = values
            .into_iter()
            .chain(anew)
            .map(|(name, value)| (self.key(name), value));
        self.page.set_all(named.collect());
    }

    /// Changes an input as the cell does by itself, which is no edit of the reader.
    pub(crate) fn set_unasked(self, name: &str, value: InputValue) {
        self.page.set_unasked(&self.key(name), value);
    }

    /// Fills in the pixels of a picture input without counting it as an edit.
    pub(crate) fn fill_picture(self, name: &str, picture: Picture) {
        self.page.fill_picture(&self.key(name), picture);
    }

    pub(super) fn read<T: Clone + PartialEq + Send + Sync + 'static>(
        self,
        name: &str,
        pick: impl Fn(&InputValue) -> Option<T> + Send + Sync + 'static,
        absent: T,
    ) -> Signal<T> {
        let signal = self.signal(name);
        Memo::new(move |_| {
            signal
                .and_then(|s| s.with(|v| pick(v)))
                .unwrap_or_else(|| absent.clone())
        })
        .into()
    }

    /// A number input.
    pub(crate) fn number(self, name: &str) -> Signal<f64> {
        self.read(
            name,
            |v| {
                if let InputValue::Number(x) = v {
                    Some(*x)
                } else {
                    None
                }
            },
            0.0,
        )
    }

    /// A text input.
    pub(crate) fn text(self, name: &str) -> Signal<String> {
        self.read(
            name,
            |v| {
                if let InputValue::Text(x) = v {
                    Some(x.clone())
                } else {
                    None
                }
            },
            String::new(),
        )
    }

    /// A matrix input.
    pub(crate) fn matrix(self, name: &str) -> Signal<Array2<f32>> {
        self.read(
            name,
            |v| {
                if let InputValue::Matrix(x) = v {
                    Some(x.clone())
                } else {
                    None
                }
            },
            Array2::zeros((0, 0)),
        )
    }

    /// An on/off input.
    pub(crate) fn toggle(self, name: &str) -> Signal<bool> {
        self.read(
            name,
            |v| {
                if let InputValue::Toggle(x) = v {
                    Some(*x)
                } else {
                    None
                }
            },
            false,
        )
    }

    /// A choice among names.
    pub(crate) fn choice(self, name: &str) -> Signal<String> {
        self.read(
            name,
            |v| {
                if let InputValue::Choice(x) = v {
                    Some(x.clone())
                } else {
                    None
                }
            },
            String::new(),
        )
    }

    /// A permutation input.
    pub(crate) fn order(self, name: &str) -> Signal<Vec<usize>> {
        self.read(
            name,
            |v| {
                if let InputValue::Order(x) = v {
                    Some(x.clone())
                } else {
                    None
                }
            },
            Vec::new(),
        )
    }

    /// A picture input.
    pub(crate) fn picture(self, name: &str) -> Signal<Option<Picture>> {
        self.read(
            name,
            |v| {
                if let InputValue::Picture(x) = v {
                    Some(Some(x.clone()))
                } else {
                    None
                }
            },
            None,
        )
    }

    /// A drawing input.
    pub(crate) fn drawing(self, name: &str) -> Signal<Drawing> {
        self.read(
            name,
            |v| {
                if let InputValue::Drawing(x) = v {
                    Some(x.clone())
                } else {
                    None
                }
            },
            Drawing::default(),
        )
    }

    /// The last result that could be computed.
    pub(crate) fn computed(self) -> Signal<Option<Arc<Computation>>> {
        self.result.into()
    }

    /// One element of a result.
    pub(crate) fn value(self, name: &'static str, index: Vec<usize>) -> Signal<Option<f64>> {
        let result = self.result;
        Signal::derive(move || result.with(|c| c.as_ref()?.at(name, &index)))
    }

    /// One element of a result as text on the page.
    pub(crate) fn num(self, name: &'static str, index: &[usize], format: Format) -> AnyView {
        let from = cells::computation::reference(name, index);
        let value = self.value(name, index.to_vec());
        view! { <Num value=value from=from format=format /> }.into_any()
    }

    /// The element of a result whose index changes, as text on the page.
    pub(crate) fn num_at(
        self,
        name: &'static str,
        index: Signal<Vec<usize>>,
        format: Format,
    ) -> AnyView {
        let result = self.result;
        let value = Signal::derive(move || result.with(|c| c.as_ref()?.at(name, &index.get())));
        let from = Signal::derive(move || cells::computation::reference(name, &index.get()));
        view! { <Num value=value from=from format=format /> }.into_any()
    }

    /// A list of words that belongs to the result.
    pub(crate) fn words(self, name: &'static str) -> Signal<Vec<String>> {
        let result = self.result;
        Memo::new(move |_| {
            result.with(|c| {
                c.as_ref()
                    .map(|c| c.words(name).to_vec())
                    .unwrap_or_default()
            })
        })
        .into()
    }

    /// A matrix or vector of the result, without labels.
    pub(crate) fn grid(self, name: &'static str) -> Signal<Option<Grid>> {
        self.grid_with(name, Signal::stored(Vec::new()), "", "")
    }

    /// A matrix of the result with words of the result as labels of rows and columns (empty: none);
    /// `prefix` picks a slice of a tensor with more axes.
    pub(crate) fn grid_with(
        self,
        name: &'static str,
        prefix: Signal<Vec<usize>>,
        row_words: &'static str,
        col_words: &'static str,
    ) -> Signal<Option<Grid>> {
        let result = self.result;
        Memo::new(move |_| {
            result.with(|c| {
                let computation = c.as_ref()?;
                let mut grid = Grid::from_tensor(computation, name, prefix.get())?;
                grid.row_labels = computation.words(row_words).to_vec();
                grid.col_labels = computation.words(col_words).to_vec();
                Some(grid)
            })
        })
        .into()
    }

    /// Lets the cell compute from now on.
    pub(crate) fn begin(self) {
        if !self.begun.get_untracked() {
            self.begun.set(true);
        }
    }

    /// Whether the cell may compute. Tracks it.
    pub(crate) fn has_begun(self) -> bool {
        self.begun.get()
    }

    /// Whether the cell has begun and there is no outcome yet, or another one is on its way for
    /// which somebody waits.
    pub(crate) fn is_busy(self) -> bool {
        self.begun.get_untracked()
            && !self.plays_unasked.get_untracked()
            && self.outcome.with_untracked(|o| {
                o.busy.is_some() || (o.computation.is_none() && o.error.is_none())
            })
    }

    /// Computes the same inputs again, after a failure that is not theirs.
    pub(crate) fn retry(self) {
        self.retries.update(|retries| *retries += 1);
    }

    /// Tracks [`Self::retry`].
    pub(crate) fn track_retries(self) {
        self.retries.track();
    }

    /// Notes the worker's job that computes this cell and cancels the one before.
    pub(crate) fn replace_job(self, job: u64) {
        let before = self.job.try_update_value(|j| std::mem::replace(j, job));
        if let Some(before) = before.filter(|&b| b != 0 && b != job) {
            match self.by {
                Some(by) => {
                    by.try_with_value(|by| by.cancel(before));
                }
                None => client::cancel(before),
            }
        }
    }

    /// Whether the reader can stop the work: a model of the reader's own may take minutes.
    pub(crate) fn can_be_stopped(self) -> bool {
        self.by.is_some()
    }

    /// Ends the work under way. The same inputs can be computed again by [`Self::retry`].
    pub(crate) fn stop(self) {
        self.replace_job(0);
        self.outcome.update(|o| {
            o.busy = None;
            o.error = Some(CellError::Worker("You stopped the computation.".to_owned()));
        });
    }

    /// Offers a chart for export.
    pub(crate) fn offer_chart(self, name: &str, chart: Signal<Option<Chart>>) {
        self.charts
            .update_value(|charts| charts.push((name.to_owned(), chart)));
    }

    /// The charts on offer.
    pub(crate) fn charts(self) -> Charts {
        self.charts.get_value()
    }
}
