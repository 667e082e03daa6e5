//! Tokens in a row: to select, and where the order matters, to move.

use leptos::html::Ol;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys;

use super::Selected;
use super::cursor::moved_along;
use super::events::{capture, focus_place, place_of, place_text};
use crate::browser::dom;

/// The order after the item at `from` moved to `to`: `order[place]` is where the item at `place`
/// stood.
pub(crate) fn moved_order(len: usize, from: usize, to: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    if from < len && to < len {
        let item = order.remove(from);
        order.insert(to, item);
    }
    order
}

/// State that the parts of a strip share.
#[derive(Clone, Copy)]
struct Strip {
    tokens: Signal<Vec<String>>,
    selected: Selected<usize>,
    on_reorder: Option<Callback<Vec<usize>>>,
    list: NodeRef<Ol>,
    /// The token being dragged and the place it would land on.
    drag: RwSignal<Option<(usize, usize)>>,
}

impl Strip {
    fn len(self) -> usize {
        self.tokens.with_untracked(Vec::len)
    }

    fn shift(self, from: usize, to: usize) {
        let Some(callback) = self.on_reorder else {
            return;
        };
        if from != to && from < self.len() && to < self.len() {
            callback.run(moved_order(self.len(), from, to));
            self.selected.choose(Some(to));
            self.focus(to);
        }
    }

    fn focus(self, place: usize) {
        // After the new order has been drawn.
        request_animation_frame(move || {
            // The page may have been left.
            if let Some(Some(list)) = self.list.try_get_untracked() {
                focus_place(&list, (0, place));
            }
        });
    }

    /// The place under a pointer.
    fn under(self, event: &web_sys::PointerEvent) -> Option<usize> {
        let found = dom::element_at(event.client_x(), event.client_y())?;
        let own: web_sys::Element = self.list.get_untracked()?.unchecked_into();
        if !own.contains(Some(&found)) {
            return None;
        }
        found
            .closest("[data-at]")
            .ok()??
            .get_attribute("data-at")?
            .split_once(',')?
            .1
            .parse()
            .ok()
    }
}

/// A list of tokens as buttons. With `on_reorder` they can be dragged, moved with Alt and the arrow
/// keys, or moved with the buttons below.
#[component]
pub fn TokenStrip(
    /// The tokens in the order shown.
    #[prop(into)]
    tokens: Signal<Vec<String>>,
    /// Label of the tokens.
    #[prop(into)]
    label: String,
    /// Origin of the tokens (`input:NAME`); token `i` is `input:NAME[i]`. Empty where the lesson
    /// gives them.
    #[prop(into, optional)]
    source: String,
    /// The selected token.
    #[prop(into)]
    selected: Selected<usize>,
    /// Gets the new order of the present places: `order[new place] = old place`.
    #[prop(optional, into)]
    on_reorder: Option<Callback<Vec<usize>>>,
) -> impl IntoView {
    let strip = Strip {
        tokens,
        selected,
        on_reorder,
        list: NodeRef::new(),
        drag: RwSignal::new(None),
    };
    let source = StoredValue::new(source);
    let items = move || {
        let tokens = tokens.get();
        tokens
            .into_iter()
            .enumerate()
            .map(|(i, token)| token_item(strip, source, i, token))
            .collect_view()
    };
    view! {
        <div class="token-strip" class:is-sortable=on_reorder.is_some() role="group" aria-label=label>
            <ol
                class="tokens"
                node_ref=strip.list
                class:is-sortable=on_reorder.is_some()
                on:keydown=move |event| on_key(strip, &event)
                on:pointerdown=move |event| start_drag(strip, &event)
                on:pointermove=move |event| {
                    if let Some((from, to)) = strip.drag.get_untracked()
                        && let Some(place) = strip.under(&event)
                        && place != to
                    {
                        strip.drag.set(Some((from, place)));
                    }
                }
                on:pointerup=move |_| {
                    if let Some((from, to)) = strip.drag.get_untracked() {
                        strip.drag.set(None);
                        strip.shift(from, to);
                    }
                }
                on:pointercancel=move |_| strip.drag.set(None)
            >
                {items}
            </ol>
            {on_reorder.map(|_| view! { <MoveButtons strip /> })}
        </div>
    }
}

fn token_item(strip: Strip, source: StoredValue<String>, i: usize, token: String) -> impl IntoView {
    let from = source.with_value(|s| (!s.is_empty()).then(|| format!("{s}[{i}]")));
    let given = from.is_none().then_some("");
    let class = move || {
        let mut class = String::from("token");
        match strip.drag.get() {
            Some((from, _)) if from == i => class.push_str(" is-dragged"),
            Some((from, to)) if to == i => class.push_str(if to > from {
                " drop-after"
            } else {
                " drop-before"
            }),
            _ => {}
        }
        class
    };
    view! {
        <li>
            <button
                type="button"
                class=class
                data-at=place_text((0, i))
                data-from=from
                data-label=given
                aria-pressed=move || if strip.selected.get() == Some(i) { "true" } else { "false" }
                on:click=move |_| {
                    let now = strip.selected.get_untracked();
                    strip.selected.choose(if now == Some(i) && strip.on_reorder.is_none() { None } else { Some(i) });
                }
            >
                {token}
            </button>
        </li>
    }
}

fn on_key(strip: Strip, event: &leptos::ev::KeyboardEvent) {
    let Some((_, at)) = place_of(event) else {
        return;
    };
    let Some(to) = moved_along(&event.key(), at, strip.len()) else {
        return;
    };
    event.prevent_default();
    if event.alt_key() {
        strip.shift(at, to);
    } else {
        strip.focus(to);
    }
}

fn start_drag(strip: Strip, event: &web_sys::PointerEvent) {
    if strip.on_reorder.is_none() || event.button() != 0 {
        return;
    }
    let Some((_, at)) = place_of(event) else {
        return;
    };
    strip.drag.set(Some((at, at)));
    if let Some(list) = strip.list.get_untracked() {
        // Touch captures to the token, where the move would end with it; the list sees the whole
        // way.
        capture(&list, event);
    }
}

/// Moves the selected token without dragging.
#[component]
fn MoveButtons(strip: Strip) -> impl IntoView {
    let target = move |steps: isize| {
        let at = strip.selected.get()?;
        let to = at.checked_add_signed(steps)?;
        (to < strip.tokens.with(Vec::len)).then_some((at, to))
    };
    let button = move |steps: isize, words: &'static str| {
        view! {
            <button
                type="button"
                class="button"
                aria-disabled=move || target(steps).is_none().then_some("true")
                on:click=move |_| {
                    if let (Some((from, to)), Some(callback)) = (target(steps), strip.on_reorder) {
                        callback.run(moved_order(strip.len(), from, to));
                        strip.selected.choose(Some(to));
                    }
                }
            >
                {words}
            </button>
        }
    };
    view! {
        <div class="move-buttons" role="group" aria-label="Move the selected token">
            {button(-1, "\u{2190} Move left")} {button(1, "Move right \u{2192}")}
            <span class="hint">"Select a token; drag it, or Alt and an arrow key."</span>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::moved_order;

    #[test]
    fn moving_one_item_keeps_the_others_in_order() {
        assert_eq!(moved_order(4, 0, 2), [1, 2, 0, 3]);
        assert_eq!(moved_order(4, 3, 1), [0, 3, 1, 2]);
        assert_eq!(moved_order(3, 1, 1), [0, 1, 2]);
        assert_eq!(moved_order(2, 5, 0), [0, 1]);
    }
}
