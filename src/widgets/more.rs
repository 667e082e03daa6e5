//! What a reader may want besides, folded away.

use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys;

use super::markup::in_markup;
use super::set;

/// A part that opens when it is asked for. Its views exist from then on, so what nobody opens costs
/// nothing; in markup they exist from the first, since no script can add them.
#[component]
pub fn More(
    /// What is inside, in a few words.
    #[prop(into)]
    summary: String,
    /// Whether it is open, for a caller that takes it away for a while.
    #[prop(optional)]
    open: Option<RwSignal<bool>>,
    /// The part.
    children: ChildrenFn,
) -> impl IntoView {
    let was_open = open.is_some_and(|open| open.get_untracked());
    let opened = RwSignal::new(was_open || in_markup(|| ()).is_some());
    view! {
        <details class="more" open=was_open on:toggle=move |event| {
            if !opened.get_untracked() {
                opened.set(true);
            }
            if let Some(open) = open {
                open.set(is_open(&event));
            }
        }>
            <summary>{set(&summary)}</summary>
            {move || opened.get().then(|| children())}
        </details>
    }
}

/// Whether the element that an event comes from is open.
fn is_open(event: &leptos::ev::Event) -> bool {
    let details = event.current_target().or_else(|| event.target());
    let details = details.and_then(|target| target.dyn_into::<web_sys::Element>().ok());
    details.is_some_and(|details| details.has_attribute("open"))
}
