//! The attention weights of all heads of a model as thumbnails, and the chosen one large.

use cells::format::Format;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::later_pairs;
use crate::widgets::{Concept, Domain, HeatMap, Place, Selected};

/// Most heads that are shown at once: of more, those of the chosen layer are.
const MOST: usize = 16;

/// The input that says which head is chosen.
const SELECTED: &str = "selected";

/// The heads of a cell that has the results `weights`, `layers` and `heads`.
#[derive(Clone, Copy)]
pub(crate) struct HeadMaps {
    cx: CellCx,
    /// The results with the words that name rows and columns.
    words: (&'static str, &'static str),
    chosen: Selected<Place>,
    /// Layers, and heads of each.
    sizes: Memo<(usize, usize)>,
    /// The chosen head, or the last where the model has fewer.
    pub(crate) here: Memo<Place>,
}

impl HeadMaps {
    /// The heads of a cell whose tokens look at one another.
    pub(crate) fn new(cx: CellCx) -> Self {
        Self::between(cx, ("tokens", "tokens"))
    }

    /// The heads of a cell whose rows and columns have the words of these results.
    pub(crate) fn between(cx: CellCx, words: (&'static str, &'static str)) -> Self {
        let chosen = cx.selected_place(SELECTED);
        let (layers, heads) = (count(cx, "layers"), count(cx, "heads"));
        let here = Memo::new(move |_| {
            let (layer, head) = chosen.get().unwrap_or_default();
            let last = |count: usize| count.saturating_sub(1);
            (layer.min(last(layers.get())), head.min(last(heads.get())))
        });
        Self {
            cx,
            words,
            chosen,
            sizes: Memo::new(move |_| (layers.get(), heads.get())),
            here,
        }
    }

    /// Chooses a head.
    pub(crate) fn choose(self, head: Place) {
        self.chosen.choose(Some(head));
    }

    /// The number of all heads; 0 before there is a result. Tracks it.
    pub(crate) fn count(self) -> usize {
        let (layers, heads) = self.sizes.get();
        layers * heads
    }

    /// The choice of a layer and a head, where there are many.
    pub(crate) fn picker(self) -> AnyView {
        let field = move |label: &'static str, count: usize, place: usize| {
            let at = Memo::new(move |_| <[usize; 2]>::from(self.here.get())[place]);
            let change = move |event| {
                let mut chosen = <[usize; 2]>::from(self.here.get_untracked());
                chosen[place] = event_target_value(&event).parse().unwrap_or(0);
                self.choose(chosen.into());
            };
            let options = (0..count).map(|n| {
                view! { <option value=n.to_string() selected=move || at.get() == n data-label="">{n + 1}</option> }
            });
            view! {
                <label class="field short"><span>{label}</span>
                    <select on:change=change>{options.collect_view()}</select>
                </label>
            }
        };
        let fields = move || {
            let (layers, heads) = self.sizes.get();
            (layers * heads > MOST).then(|| {
                view! { <div class="row">{field("Layer", layers, 0)} {field("Head", heads, 1)}</div> }
            })
        };
        view! { {fields} }.into_any()
    }

    /// A thumbnail for each head, of many heads for each of the chosen layer, with what `below` says of
    /// it.
    pub(crate) fn thumbnails(
        self,
        below: impl Fn(Place) -> AnyView + Copy + Send + Sync + 'static,
    ) -> AnyView {
        let shown = Memo::new(move |_| {
            let (layers, heads) = self.sizes.get();
            let chosen = self.here.get().0;
            let layers = if layers * heads > MOST {
                chosen..chosen + 1
            } else {
                0..layers
            };
            (layers, heads)
        });
        let all = move || {
            let (layers, heads) = shown.get();
            let places = layers.flat_map(move |layer| (0..heads).map(move |head| (layer, head)));
            places
                .map(|place| self.thumbnail(place, below(place)))
                .collect_view()
        };
        view! {
            <div class="stack tight">{self.picker()} <div class="head-maps">{all}</div></div>
        }
        .into_any()
    }

    /// The thumbnails, and beside them the chosen head.
    pub(crate) fn side_by_side(self, is_causal: Signal<bool>) -> AnyView {
        view! {
            <div class="cols-2">
                {self.thumbnails(|_| ().into_any())} {self.large(is_causal, false)}
            </div>
        }
        .into_any()
    }

    fn thumbnail(self, (layer, head): Place, below: AnyView) -> AnyView {
        let choose = Callback::new(move |_: Place| self.choose((layer, head)));
        let prefix = Signal::stored(vec![layer, head]);
        view! {
            <div class="head-map" class:is-chosen=move || self.here.get() == (layer, head)>
                <HeatMap
                    grid=self.cx.grid_with("weights", prefix, self.words.0, self.words.1)
                    label=name_of((layer, head))
                    domain=Domain::Fixed(0.0, 1.0)
                    format=Format::Fixed(2)
                    concept=Concept::Weight
                    on_press=choose
                    picture=true
                    no_legend=true
                    no_readout=true
                />
                {below}
            </div>
        }
        .into_any()
    }

    /// The chosen head large, with its name; `is_causal` hatches what a token may not see. As a
    /// picture it has no words beside its rows and columns.
    pub(crate) fn large(self, is_causal: Signal<bool>, is_picture: bool) -> AnyView {
        let tokens = self.cx.words(self.words.0);
        let hidden = Signal::derive(move || {
            let count = if is_causal.get() && !is_picture {
                tokens.with(Vec::len)
            } else {
                0
            };
            later_pairs(count)
        });
        let here = self.here;
        let prefix = Signal::derive(move || vec![here.get().0, here.get().1]);
        view! {
            <div class="stack tight">
                <p class="panel-title" data-label="" aria-live="polite">{move || name_of(here.get())}</p>
                <HeatMap
                    grid=self.cx.grid_with("weights", prefix, self.words.0, self.words.1)
                    label="Its weights: each row is a word that attends"
                    domain=Domain::Fixed(0.0, 1.0)
                    format=Format::Fixed(2)
                    concept=Concept::Weight
                    hidden
                    picture=is_picture
                />
            </div>
        }
        .into_any()
    }
}

/// The name of a head, counted from one.
pub(crate) fn name_of((layer, head): Place) -> String {
    format!("Layer {}, head {}", layer + 1, head + 1)
}

/// A number of the result.
fn count(cx: CellCx, name: &'static str) -> Memo<usize> {
    let found = cx.value(name, Vec::new());
    Memo::new(move |_| found.get().map_or(0, |count| count as usize))
}
