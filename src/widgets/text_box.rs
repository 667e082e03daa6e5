//! Text that the reader types.

use leptos::either::Either;
use leptos::prelude::*;

use super::events::typed;
use super::ids;
use super::markup::in_markup;

/// A labelled text box. What is typed stays, also when it cannot be used; then `message` says why.
#[component]
pub fn TextBox(
    /// Label of the text.
    #[prop(into)]
    label: String,
    /// The text in use.
    #[prop(into)]
    value: Signal<String>,
    /// Gets the text at each edit.
    #[prop(into)]
    on_change: Callback<String>,
    /// Reason that the text cannot be used.
    #[prop(into, default = Signal::stored(None))]
    message: Signal<Option<String>>,
    /// Lines shown at once; 1 gives a box for one line of text, which grows where the line needs more
    /// room.
    #[prop(default = 1)]
    rows: usize,
) -> impl IntoView {
    let (id, note) = (ids::fresh("text"), ids::fresh("text-note"));
    let invalid = move || message.with(Option::is_some).then_some("true");
    let text = move || value.get();
    // What the box holds, also where it is refused and `value` stays.
    let draft = RwSignal::new(None::<String>);
    Effect::new(move |_| {
        value.track();
        draft.set(None);
    });
    let held = move || draft.get().unwrap_or_else(|| value.get());
    let input = if rows <= 1 {
        Either::Left(view! {
            <span class="grows" data-text=held>
                <textarea
                    id=id.clone()
                    rows="1"
                    autocomplete="off"
                    aria-multiline="false"
                    aria-describedby=note.clone()
                    aria-invalid=invalid
                    prop:value=text
                    on:keydown=move |event| {
                        if event.key() == "Enter" {
                            event.prevent_default();
                        }
                    }
                    on:input=move |event| {
                        let line = typed(&event).replace(['\r', '\n'], " ");
                        draft.set(Some(line.clone()));
                        on_change.run(line);
                    }
                >{in_markup(text)}</textarea>
            </span>
        })
    } else {
        Either::Right(view! {
            <textarea
                id=id.clone()
                rows=rows.to_string()
                autocomplete="off"
                aria-describedby=note.clone()
                aria-invalid=invalid
                prop:value=text
                on:input=move |event| on_change.run(typed(&event))
            >{in_markup(text)}</textarea>
        })
    };
    view! {
        <div class="text-box">
            <label for=id data-label="">
                {label}
            </label>
            {input}
            <p class="entry-problem" id=note aria-live="polite" data-label="">
                {move || message.get()}
            </p>
        </div>
    }
}
