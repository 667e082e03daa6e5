//! One of a few options, drawn as a segmented control.

use leptos::prelude::*;

use super::markup::in_markup;
use super::{ids, set};

/// A radio group.
#[component]
pub fn Choice(
    /// Label of the choice.
    #[prop(into)]
    label: String,
    /// Names of the options; shown as words (`local-window` as "Local window").
    #[prop(into)]
    options: Vec<String>,
    /// Name of the option in use.
    #[prop(into)]
    value: Signal<String>,
    /// Gets the name of the option chosen.
    #[prop(into)]
    on_change: Callback<String>,
    /// Shows names as they are: those of models, numbers.
    #[prop(optional)]
    verbatim: bool,
) -> impl IntoView {
    let group = ids::fresh("choice");
    let radios: Vec<_> = options
        .into_iter()
        .map(|name| {
            let shown = if verbatim { name.clone() } else { words(&name) };
            let (chosen, own) = (name.clone(), name.clone());
            view! {
                <label class="segment">
                    <input
                        type="radio"
                        name=group.clone()
                        checked=in_markup(|| value.with(|v| *v == name))
                        value=name
                        prop:checked=move || value.with(|v| *v == chosen)
                        on:change=move |_| on_change.run(own.clone())
                    />
                    <span data-label="">{shown}</span>
                </label>
            }
        })
        .collect();
    view! {
        <fieldset class="choice">
            <legend data-label="">{set(&label)}</legend>
            <div class="segments">{radios}</div>
        </fieldset>
    }
}

/// A name as the reader sees it: a capital first, spaces for hyphens. Names are in ASCII.
pub(crate) fn words(name: &str) -> String {
    let mut spaced = name.replace(['-', '_'], " ");
    if let Some(first) = spaced.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    spaced
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_become_words() {
        assert_eq!(super::words("local-window"), "Local window");
        assert_eq!(super::words(""), "");
    }
}
