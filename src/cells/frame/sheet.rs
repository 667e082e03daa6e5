//! The dialogs of a page: one at a time, each a native `<dialog>`.

use leptos::html::Dialog;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::frame::{export, rust_panel, share, verify};
use crate::chunk::chunk;

/// A dialog that can be open.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Sheet {
    /// Link to the page with all edits.
    Share(CellCx),
    /// Figures and tensors as files.
    Export(CellCx),
    /// The functions that ran, with values in and out.
    Rust(CellCx),
    /// Comparison with PyTorch.
    Verify,
}

/// The open dialog, if any.
pub(crate) type SheetSignal = RwSignal<Option<Sheet>>;

/// Draws the open dialog.
pub(crate) fn sheets(sheet: SheetSignal) -> AnyView {
    view! { {move || sheet.get().map(|which| dialog(which, sheet))} }.into_any()
}

/// Draws what a dialog shows.
type Draw = fn(Sheet) -> AnyView;

chunk! {
    /// Fetches the contents of the dialogs when the first one opens.
    sheets: fn load() -> Draw = draw;
}

fn draw(which: Sheet) -> AnyView {
    match which {
        Sheet::Share(cx) => share::body(cx),
        Sheet::Export(cx) => export::body(cx),
        Sheet::Rust(cx) => rust_panel::body(cx),
        Sheet::Verify => verify::body(),
    }
}

fn title(which: Sheet) -> &'static str {
    match which {
        Sheet::Share(_) => "Share",
        Sheet::Export(_) => "Export",
        Sheet::Rust(_) => "The Rust that ran",
        Sheet::Verify => "Verify this page",
    }
}

fn dialog(which: Sheet, sheet: SheetSignal) -> AnyView {
    let node = NodeRef::<Dialog>::new();
    let loaded = RwSignal::new(None::<Result<Draw, String>>);
    leptos::task::spawn_local(async move {
        let drawn = load().await.map_err(|_| {
            "This part of the site could not be fetched. Close, check the connection and try again.".to_owned()
        });
        // The dialog may have been closed meanwhile.
        loaded.try_set(Some(drawn));
    });
    // A dialog opens with what it shows: the focus goes to its first control, and it is announced
    // once.
    Effect::new(move |_| {
        if let Some(dialog) = node.get()
            && loaded.with(Option::is_some)
            && !dialog.open()
        {
            let _ = dialog.show_modal();
        }
    });
    // `close` gives the focus back at once. Its event comes a moment later, when the next dialog
    // may be in the same element: so this one goes now, and an event that finds what belonged to it
    // gone is not heard.
    let close = move |_| {
        if let Some(dialog) = node.get_untracked() {
            dialog.close();
        }
        sheet.set(None);
    };
    let closed = move |_| {
        if loaded.try_get_untracked().is_some() {
            sheet.set(None);
        }
    };
    let body = move || match loaded.get()? {
        Ok(draw) => Some(draw(which)),
        Err(message) => Some(view! { <p class="cell-error">{message}</p> }.into_any()),
    };
    view! {
        <dialog node_ref=node class="sheet" aria-labelledby="sheet-title" on:close=closed>
            <header class="sheet-head">
                <h2 id="sheet-title">{title(which)}</h2>
                <button type="button" class="button quiet" on:click=close>"Close"</button>
            </header>
            <div class="sheet-body">{body}</div>
        </dialog>
    }
    .into_any()
}
