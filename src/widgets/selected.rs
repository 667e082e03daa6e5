//! What the reader selects in a widget: pointed at for a moment, or chosen to stay.

use leptos::prelude::*;

/// The selected item of a widget, which several widgets can share. Pointing shows an item until the
/// pointer or the focus leaves; choosing keeps it.
#[derive(Debug)]
pub struct Selected<T: Send + Sync + 'static> {
    shown: Signal<Option<T>>,
    point: Callback<Option<T>>,
    choose: Callback<Option<T>>,
}

impl<T: Send + Sync + 'static> Clone for Selected<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Send + Sync + 'static> Copy for Selected<T> {}

impl<T: Copy + PartialEq + Send + Sync + 'static> Selected<T> {
    /// Shows `chosen`, or what is pointed at meanwhile; `choose` gets what the reader chooses.
    pub fn new(
        chosen: impl Into<Signal<Option<T>>>,
        choose: impl Fn(Option<T>) + Send + Sync + 'static,
    ) -> Self {
        let chosen = chosen.into();
        let pointed = RwSignal::new(None::<T>);
        Self {
            shown: Memo::new(move |_| pointed.get().or_else(|| chosen.get())).into(),
            point: Callback::new(move |item| {
                if pointed.get_untracked() != item {
                    pointed.set(item);
                }
            }),
            choose: Callback::new(move |item| {
                pointed.set(None);
                choose(item);
            }),
        }
    }

    /// Shows what is pointed at or chosen. Tracks it.
    pub fn get(self) -> Option<T> {
        self.shown.get()
    }

    /// Like [`Self::get`], without tracking.
    pub fn get_untracked(self) -> Option<T> {
        self.shown.get_untracked()
    }

    /// Shows an item for as long as it is pointed at.
    pub fn point(self, item: Option<T>) {
        self.point.run(item);
    }

    /// Keeps an item, or none.
    pub fn choose(self, item: Option<T>) {
        self.choose.run(item);
    }

    /// The same selection in other terms: `to` names an item as the other widget does, `from`
    /// names it as this one does.
    pub fn map<U: Copy + PartialEq + Send + Sync + 'static>(
        self,
        to: impl Fn(T) -> Option<U> + Send + Sync + 'static,
        from: impl Fn(U) -> Option<T> + Copy + Send + Sync + 'static,
    ) -> Selected<U> {
        Selected {
            shown: Memo::new(move |_| self.get().and_then(&to)).into(),
            point: Callback::new(move |item: Option<U>| self.point(item.and_then(from))),
            choose: Callback::new(move |item: Option<U>| self.choose(item.and_then(from))),
        }
    }
}

/// A selection that only this page shows: it stays where the pointer was last.
impl<T: Copy + PartialEq + Send + Sync + 'static> From<RwSignal<Option<T>>> for Selected<T> {
    fn from(signal: RwSignal<Option<T>>) -> Self {
        Self {
            shown: signal.into(),
            point: Callback::new(move |item: Option<T>| {
                if item.is_some() && signal.get_untracked() != item {
                    signal.set(item);
                }
            }),
            choose: Callback::new(move |item| signal.set(item)),
        }
    }
}
