//! The inputs of a page: shared by name, undoable, and written to the address bar.

use std::collections::{BTreeMap, BTreeSet};

use cells::state::{State, StateError};
use cells::{InputSpec, InputValue, Picture};
use leptos::prelude::*;
use serde_json::Value;

use crate::browser::{address, clock};
use crate::chunk::chunk;
use crate::route::Fragment;

/// Edits of the same input closer together than this count as one step of undo.
const ONE_STEP_MS: f64 = 700.0;

/// Time between two writes to the address bar.
const WRITE_EVERY_MS: u32 = 260;

/// Most steps that can be undone.
const LONGEST_HISTORY: usize = 200;

/// Writes and reads the part of an address that holds edits.
struct Packing {
    encode: fn(&BTreeMap<String, Value>) -> Result<String, StateError>,
    decode: fn(&str) -> Result<State, StateError>,
}

chunk! {
    /// Fetches what packs edits into an address when a page has the first.
    address: fn packing() -> Packing = Packing {
        encode: cells::state::encode,
        decode: cells::state::decode,
    };
}

/// The edits that an address holds; `None` where it holds none.
///
/// # Errors
/// Why they cannot be read, as a sentence without its full stop.
pub(crate) async fn read(state: &str) -> Result<Option<State>, String> {
    if state.is_empty() {
        return Ok(None);
    }
    let packing = packing().await.map_err(|_| {
        "what reads the edits of this link could not be fetched, so the page shows its own values"
            .to_owned()
    })?;
    let state = (packing.decode)(state);
    state.map(Some).map_err(|error| error.to_string())
}

/// One input of the page.
#[derive(Debug, Clone)]
struct Slot {
    spec: InputSpec,
    initial: InputValue,
    value: RwSignal<InputValue>,
}

/// One step of undo: inputs with their values before and after.
#[derive(Debug, Clone)]
struct Step {
    changes: Vec<(String, InputValue, InputValue)>,
    at_ms: f64,
}

#[derive(Debug, Default)]
struct Inner {
    slots: BTreeMap<String, Slot>,
    past: Vec<Step>,
    future: Vec<Step>,
    write_pending: bool,
    /// The inputs are in no address.
    is_apart: bool,
    /// Inputs that a cell has changed by itself: to the reader they are as the lesson gave
    /// them.
    unasked: BTreeSet<String>,
}

/// A link to the present edits, and what it cannot hold.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct LinkReport {
    /// The address with all edits that fit.
    pub(crate) url: String,
    /// A picture of the reader's own is among the edits, and stays on this device.
    pub(crate) leaves_picture_out: bool,
    /// Reason that the edits do not fit at all.
    pub(crate) too_long: Option<String>,
}

/// The inputs of the open page. Copies share one store, which lives as long as the page does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageState {
    inner: StoredValue<Inner>,
    /// Number of steps that can be undone and redone.
    pub(crate) history: RwSignal<(usize, usize)>,
    /// A line for the reader: what a link could not restore, what was undone.
    pub(crate) notice: RwSignal<Option<String>>,
    /// Number of times that the reader has reset the whole page.
    pub(crate) resets: RwSignal<u64>,
}

impl PageState {
    /// An empty store, owned by the current owner.
    pub(crate) fn new() -> Self {
        Self {
            inner: StoredValue::new(Inner::default()),
            history: RwSignal::new((0, 0)),
            notice: RwSignal::new(None),
            resets: RwSignal::new(0),
        }
    }

    /// An empty store whose inputs are not written to the address.
    pub(crate) fn apart() -> Self {
        let page = Self::new();
        page.inner.update_value(|inner| inner.is_apart = true);
        page
    }

    /// Makes an input known, or finds the one of that key that another cell declared.
    pub(crate) fn declare(self, key: &str, spec: &InputSpec, initial: InputValue) {
        self.inner.update_value(|inner| {
            inner.slots.entry(key.to_owned()).or_insert_with(|| Slot {
                spec: spec.clone(),
                value: RwSignal::new(initial.clone()),
                initial,
            });
        });
    }

    /// The signal of an input.
    pub(crate) fn value(self, key: &str) -> Option<RwSignal<InputValue>> {
        self.inner
            .with_value(|inner| inner.slots.get(key).map(|slot| slot.value))
    }

    /// Value that the lesson gave for an input.
    pub(crate) fn initial(self, key: &str) -> Option<InputValue> {
        self.inner
            .with_value(|inner| inner.slots.get(key).map(|slot| slot.initial.clone()))
    }

    /// Changes inputs as one edit of the reader: undoable, and written to the address.
    pub(crate) fn set_all(self, values: Vec<(String, InputValue)>) {
        self.apply(values, true);
    }

    /// Fills in the pixels of a picture without counting it as an edit.
    pub(crate) fn fill_picture(self, key: &str, picture: Picture) {
        if let Some(signal) = self.value(key) {
            signal.set(InputValue::Picture(picture));
        }
    }

    /// Changes an input as a cell does by itself: not an edit, so neither in links nor in
    /// the history until the reader changes the input.
    pub(crate) fn set_unasked(self, key: &str, value: InputValue) {
        if let Some(signal) = self.value(key) {
            self.inner.update_value(|inner| {
                inner.unasked.insert(key.to_owned());
            });
            signal.set(value);
        }
    }

    fn apply(self, values: Vec<(String, InputValue)>, merge: bool) {
        let mut changes = Vec::new();
        for (key, after) in values {
            let Some(slot) = self
                .inner
                .with_value(|inner| inner.slots.get(&key).cloned())
            else {
                continue;
            };
            let unasked = self.take_unasked(&key);
            let shown = slot.value.get_untracked();
            if unasked || shown != after {
                slot.value.set(after.clone());
            }
            let before = if unasked { slot.initial } else { shown };
            if before != after {
                changes.push((key, before, after));
            }
        }
        if changes.is_empty() {
            return;
        }
        let now = clock::now_ms();
        self.inner.update_value(|inner| {
            inner.future.clear();
            inner.push(
                Step {
                    changes,
                    at_ms: now,
                },
                merge,
            );
        });
        self.edited();
    }

    /// Makes an input the reader's own; whether a cell had changed it by itself.
    fn take_unasked(self, key: &str) -> bool {
        let taken = self
            .inner
            .try_update_value(|inner| inner.unasked.remove(key));
        taken == Some(true)
    }

    /// After any change: counts for the undo buttons, and the address.
    fn edited(self) {
        let counts = self.inner.with_value(|i| (i.past.len(), i.future.len()));
        self.history.set(counts);
        self.write_soon();
    }

    /// Takes back the last step; whether there was one.
    pub(crate) fn undo(self) -> bool {
        self.travel(|inner| {
            let step = inner.past.pop()?;
            let values = step
                .changes
                .iter()
                .map(|(k, before, _)| (k.clone(), before.clone()))
                .collect();
            inner.future.push(step);
            Some(values)
        })
    }

    /// Does the last undone step again; whether there was one.
    pub(crate) fn redo(self) -> bool {
        self.travel(|inner| {
            let step = inner.future.pop()?;
            let values = step
                .changes
                .iter()
                .map(|(k, _, after)| (k.clone(), after.clone()))
                .collect();
            inner.past.push(step);
            Some(values)
        })
    }

    fn travel(self, take: impl FnOnce(&mut Inner) -> Option<Vec<(String, InputValue)>>) -> bool {
        let values = self.inner.try_update_value(take).flatten();
        let moved = values.is_some();
        for (key, value) in values.into_iter().flatten() {
            self.take_unasked(&key);
            if let Some(signal) = self.value(&key) {
                signal.set(value);
            }
        }
        if moved {
            self.edited();
        }
        moved
    }

    /// Puts inputs back to what the lesson gave: those of `keys`, or all.
    pub(crate) fn reset(self, keys: Option<&BTreeSet<String>>) {
        let values = self.inner.with_value(|inner| {
            inner
                .slots
                .iter()
                .filter(|(key, _)| keys.is_none_or(|keys| keys.contains(*key)))
                .map(|(key, slot)| (key.clone(), slot.initial.clone()))
                .collect()
        });
        self.apply(values, false);
        if keys.is_none() {
            self.resets.update(|n| *n += 1);
        }
    }

    /// True while any of these inputs differs from the lesson's. Tracks them.
    pub(crate) fn differs(self, keys: &BTreeSet<String>) -> bool {
        let slots = self.inner.with_value(|inner| {
            let slots = keys.iter().filter_map(|key| inner.slots.get_key_value(key));
            slots
                .map(|(key, slot)| (slot.clone(), inner.unasked.contains(key)))
                .collect::<Vec<_>>()
        });
        slots.iter().any(|(slot, unasked)| {
            slot.value
                .with(|value| !unasked && !same(value, &slot.initial))
        })
    }

    /// The inputs that differ from their default, as the address holds them; whether a picture of
    /// the reader's own was left out.
    fn changed(self) -> (BTreeMap<String, Value>, bool) {
        let mut left_out = false;
        let mut values = BTreeMap::new();
        self.inner.with_value(|inner| {
            for (key, slot) in &inner.slots {
                let value = slot.value.get_untracked();
                if same(&value, &slot.initial) || inner.unasked.contains(key) {
                    continue;
                }
                if matches!(&value, InputValue::Picture(p) if p.name == Picture::YOURS) {
                    left_out = true;
                    continue;
                }
                values.insert(key.clone(), value.to_json());
            }
        });
        (values, left_out)
    }

    /// The address of the present page with all edits, pointing at a heading or cell.
    pub(crate) fn link(self, heading: &str) -> LinkReport {
        let (values, leaves_picture_out) = self.changed();
        let (state, too_long) = match cells::state::encode(&values) {
            Ok(state) => (state, None),
            Err(error) => (String::new(), Some(error.to_string())),
        };
        let hash = Fragment {
            heading: heading.to_owned(),
            state,
        }
        .to_hash();
        let here = address::href();
        let base = here.split('#').next().unwrap_or_default();
        LinkReport {
            url: format!("{base}{hash}"),
            leaves_picture_out,
            too_long,
        }
    }

    /// Writes the state to the address bar, at most four times a second.
    pub(crate) fn write_soon(self) {
        if self.inner.with_value(|inner| inner.is_apart) {
            return;
        }
        let pending = self
            .inner
            .try_update_value(|i| std::mem::replace(&mut i.write_pending, true));
        if pending != Some(false) {
            return;
        }
        leptos::task::spawn_local(async move {
            clock::wait_ms(WRITE_EVERY_MS).await;
            // The page may have been left meanwhile.
            if self.inner.try_with_value(|_| ()).is_none() {
                return;
            }
            let packing = if self.changed().0.is_empty() {
                None
            } else {
                packing().await.ok()
            };
            let is_open = self.inner.try_update_value(|i| i.write_pending = false);
            if is_open.is_some() {
                self.write_now(packing);
            }
        });
    }

    /// Writes the state to the address bar; without what packs edits only where there are none.
    fn write_now(self, packing: Option<Packing>) {
        let heading = Fragment::parse(&address::hash()).heading;
        let (values, _) = self.changed();
        let state = match packing {
            Some(packing) => (packing.encode)(&values).ok(),
            None => values.is_empty().then(String::new),
        };
        if let Some(state) = state {
            address::replace_hash(&Fragment { heading, state }.to_hash());
        }
    }

    /// Restores the state of a link; `moved` leads from the id of a former cell to the one that has
    /// replaced it. What cannot be restored is said in the notice; the rest is.
    pub(crate) fn restore(
        self,
        state: Result<Option<State>, String>,
        moved: &BTreeMap<String, String>,
    ) {
        let decoded = match state {
            Ok(Some(decoded)) => decoded,
            Ok(None) => return,
            Err(text) => {
                self.notice.set(Some(format!(
                    "{}{}.",
                    text[..1].to_ascii_uppercase(),
                    &text[1..]
                )));
                return;
            }
        };
        let mut lost = Vec::new();
        for (key, json) in decoded.values {
            let key = led_on(key, moved);
            let slot = self
                .inner
                .with_value(|inner| inner.slots.get(&key).cloned());
            match slot.map(|slot| (slot.spec.parse(&json), slot.value)) {
                Some((Ok(value), signal)) => signal.set(value),
                _ => lost.push(key.trim_start_matches('$').to_owned()),
            }
        }
        if !lost.is_empty() {
            let older = if decoded.version == cells::state::VERSION {
                ""
            } else {
                " It was made by another version of this site."
            };
            self.notice.set(Some(format!(
                "This link could not restore {}. The page shows its own values there.{older}",
                lost.join(", ")
            )));
        }
    }
}

impl Inner {
    /// Appends a step, merged into the last one where it changes the same single input shortly
    /// after. Where both together change nothing, neither stays.
    fn push(&mut self, step: Step, merge: bool) {
        if let (true, Some(last)) = (merge, self.past.last_mut())
            && let ([old], [new]) = (last.changes.as_mut_slice(), step.changes.as_slice())
            && old.0 == new.0
            && step.at_ms - last.at_ms < ONE_STEP_MS
        {
            old.2 = new.2.clone();
            last.at_ms = step.at_ms;
            // Typed and taken back: nothing to undo.
            if old.1 == old.2 {
                self.past.pop();
            }
            return;
        }
        self.past.push(step);
        if self.past.len() > LONGEST_HISTORY {
            self.past.remove(0);
        }
    }
}

/// The key of an input after its cell was replaced.
fn led_on(key: String, moved: &BTreeMap<String, String>) -> String {
    let now = key
        .split_once('.')
        .and_then(|(cell, input)| Some(format!("{}.{input}", moved.get(cell)?)));
    now.unwrap_or(key)
}

/// True where two values are the same edit; a sample picture is the same before and after it was
/// decoded.
fn same(a: &InputValue, b: &InputValue) -> bool {
    match (a, b) {
        (InputValue::Picture(a), InputValue::Picture(b)) if a.name != Picture::YOURS => {
            a.name == b.name
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::led_on;

    #[test]
    fn edits_of_a_replaced_cell_lead_to_the_one_in_its_place() {
        let moved = [("old-one".to_owned(), "new-one".to_owned())].into();
        for (key, now) in [
            ("old-one.width", "new-one.width"),
            ("old-one-more.width", "old-one-more.width"),
            ("$old-one", "$old-one"),
        ] {
            assert_eq!(led_on(key.to_owned(), &moved), now);
        }
    }
}
