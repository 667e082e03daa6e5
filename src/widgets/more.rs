//! What a reader may want besides, folded away.

use leptos::prelude::*;

use super::markup::in_markup;
use super::set;

/// A part that opens when it is asked for. Its views exist from then on, so what nobody opens costs
/// nothing; in markup they exist from the first, since no script can add them.
#[component]
pub fn More(
    /// What is inside, in a few words.
    #[prop(into)]
    summary: String,
    /// The part.
    children: ChildrenFn,
) -> impl IntoView {
    let opened = RwSignal::new(in_markup(|| ()).is_some());
    view! {
        <details class="more" on:toggle=move |_| {
            if !opened.get_untracked() {
                opened.set(true);
            }
        }>
            <summary>{set(&summary)}</summary>
            {move || opened.get().then(|| children())}
        </details>
    }
}
