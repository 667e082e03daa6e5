//! An on/off switch.

use leptos::prelude::*;

use super::markup::in_markup;
use super::set;

/// A labelled switch.
#[component]
pub fn Toggle(
    /// Label of the switch.
    #[prop(into)]
    label: String,
    /// True while it is on.
    #[prop(into)]
    value: Signal<bool>,
    /// Gets each new state.
    #[prop(into)]
    on_change: Callback<bool>,
) -> impl IntoView {
    view! {
        <label class="toggle">
            <input
                type="checkbox"
                role="switch"
                checked=in_markup(move || value.get())
                prop:checked=move || value.get()
                on:change=move |event| on_change.run(event_target_checked(&event))
            />
            <span class="toggle-label" data-label="">
                {set(&label)}
            </span>
        </label>
    }
}
