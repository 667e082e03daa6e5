//! Undo, redo, reset and verify for the whole page, and the line that says what a link could not
//! restore.

use leptos::prelude::*;

use crate::browser::dom;
use crate::cells::frame::sheet::{Sheet, SheetSignal};
use crate::state::PageState;

/// The buttons of the page. One that can do nothing stays in the order of focus: pressing it must
/// not lose the reader's place.
pub(crate) fn tools(page: PageState, sheet: SheetSignal, can_verify: bool) -> AnyView {
    let (past, future) = (
        move || (page.history.get().0 == 0).to_string(),
        move || (page.history.get().1 == 0).to_string(),
    );
    view! {
        {can_verify.then(|| view! {
            <button type="button" class="button quiet" on:click=move |_| sheet.set(Some(Sheet::Verify))>"Verify this page"</button>
        })}
        <button type="button" class="button quiet" aria-disabled=past aria-keyshortcuts="Control+Z" title="Undo the last edit (Ctrl+Z)"
            on:click=move |_| { page.undo(); }>"Undo"</button>
        <button type="button" class="button quiet" aria-disabled=future aria-keyshortcuts="Control+Shift+Z" title="Redo (Ctrl+Shift+Z)"
            on:click=move |_| { page.redo(); }>"Redo"</button>
        <button type="button" class="button quiet" aria-disabled=past on:click=move |_| page.reset(None)>"Reset all"</button>
    }
    .into_any()
}

/// The notice line, empty most of the time.
pub(crate) fn notice(page: PageState) -> AnyView {
    view! {
        <div role="status" class="notice-line">
            {move || page.notice.get().map(|text| view! {
                <p class="notice">{text}
                    <button type="button" class="button quiet" on:click=move |_| page.notice.set(None)>"Close"</button>
                </p>
            })}
        </div>
    }
    .into_any()
}

/// Ctrl+Z and Ctrl+Shift+Z (or Ctrl+Y) undo and redo edits of cells, except while a text is being
/// typed, where the browser's own undo is what a reader means.
pub(crate) fn undo_by_keyboard(page: impl Fn() -> Option<PageState> + 'static) {
    let Some(document) = dom::document() else {
        return;
    };
    dom::listen_forever(&document, "keydown", move |event| {
        let Ok(key) = wasm_bindgen::JsCast::dyn_into::<web_sys::KeyboardEvent>(event) else {
            return;
        };
        if !(key.ctrl_key() || key.meta_key()) || key.alt_key() || typing(&key) {
            return;
        }
        let Some(page) = page() else { return };
        let moved = match (key.key().to_ascii_lowercase().as_str(), key.shift_key()) {
            ("z", false) => page.undo(),
            ("z", true) | ("y", false) => page.redo(),
            _ => false,
        };
        if moved {
            key.prevent_default();
        }
    });
}

fn typing(key: &web_sys::KeyboardEvent) -> bool {
    let target = key
        .target()
        .and_then(|t| wasm_bindgen::JsCast::dyn_into::<web_sys::Element>(t).ok());
    target.is_some_and(|t| {
        t.matches("textarea, input[type=text], input:not([type])")
            .unwrap_or(false)
    })
}
