//! Buttons in a row of which one is chosen: the parts of a drawing, along the way of the numbers.

use leptos::html::Ol;
use leptos::prelude::*;

use crate::widgets::{focus_place, moved_along, place_of, place_text, set};

/// The buttons, one stop for the Tab key: arrow keys walk. `chosen` is the place of the chosen one,
/// `None` where it is elsewhere in the drawing.
pub(crate) fn rail(
    label: &str,
    names: Vec<String>,
    chosen: Signal<Option<usize>>,
    choose: Callback<usize>,
) -> AnyView {
    let list = NodeRef::<Ol>::new();
    let count = names.len();
    // Where the focus was last, while it is here.
    let cursor = RwSignal::new(None::<usize>);
    let stop = Memo::new(move |_| cursor.get().or_else(|| chosen.get()).unwrap_or(0));
    let walk = move |event: leptos::ev::KeyboardEvent| {
        let Some((_, at)) = place_of(&event) else {
            return;
        };
        if let (Some(next), Some(list)) =
            (moved_along(&event.key(), at, count), list.get_untracked())
        {
            event.prevent_default();
            focus_place(&list, (0, next));
        }
    };
    let button = move |(n, name): (usize, String)| {
        let is_chosen = move || chosen.get() == Some(n);
        view! {
            <li>
                <button
                    type="button"
                    data-at=place_text((0, n))
                    tabindex=move || if stop.get() == n { "0" } else { "-1" }
                    aria-pressed=move || is_chosen().to_string()
                    on:click=move |_| choose.run(n)
                >
                    {set(&name)}
                </button>
            </li>
        }
    };
    let buttons = names.into_iter().enumerate().map(button).collect_view();
    view! {
        <div class="rail" role="group" aria-label=label.to_owned()>
            <ol
                node_ref=list
                on:keydown=walk
                on:focusin=move |event| cursor.set(place_of(&event).map(|(_, at)| at))
                on:focusout=move |_| cursor.set(None)
            >
                {buttons}
            </ol>
        </div>
    }
    .into_any()
}
