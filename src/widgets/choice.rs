//! One of a few options, drawn as a segmented control.

use leptos::prelude::*;

use super::ids;

/// A radio group.
#[component]
pub fn Choice(
    /// What is chosen.
    #[prop(into)]
    label: String,
    /// Name and words of each option.
    #[prop(into)]
    options: Vec<(String, String)>,
    /// Name of the option in use.
    #[prop(into)]
    value: Signal<String>,
    /// Gets the name of the option chosen.
    #[prop(into)]
    on_change: Callback<String>,
) -> impl IntoView {
    let group = ids::fresh("choice");
    let radios: Vec<_> = options
        .into_iter()
        .map(|(name, words)| {
            let (chosen, own) = (name.clone(), name.clone());
            view! {
                <label class="segment">
                    <input
                        type="radio"
                        name=group.clone()
                        value=name
                        prop:checked=move || value.with(|v| *v == chosen)
                        on:change=move |_| on_change.run(own.clone())
                    />
                    <span data-label="">{words}</span>
                </label>
            }
        })
        .collect();
    view! {
        <fieldset class="choice">
            <legend data-label="">{label}</legend>
            <div class="segments">{radios}</div>
        </fieldset>
    }
}
