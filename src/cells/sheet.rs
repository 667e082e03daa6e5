//! The dialogs of a page: one at a time, each a native `<dialog>`.

use leptos::html::Dialog;
use leptos::prelude::*;

use super::context::CellCx;
use super::{export, rust_panel, share};
use crate::shell::verify;

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

/// Which dialog is open.
pub(crate) type SheetSignal = RwSignal<Option<Sheet>>;

/// Draws the open dialog.
pub(crate) fn sheets(sheet: SheetSignal) -> AnyView {
    view! { {move || sheet.get().map(|which| dialog(which, sheet))} }.into_any()
}

fn dialog(which: Sheet, sheet: SheetSignal) -> AnyView {
    let node = NodeRef::<Dialog>::new();
    Effect::new(move |_| {
        if let Some(dialog) = node.get()
            && !dialog.open()
        {
            let _ = dialog.show_modal();
        }
    });
    let close = move |_| {
        if let Some(dialog) = node.get_untracked() {
            dialog.close();
        }
    };
    let (title, body) = match which {
        Sheet::Share(cx) => ("Share", share::body(cx)),
        Sheet::Export(cx) => ("Export", export::body(cx)),
        Sheet::Rust(cx) => ("The Rust that ran", rust_panel::body(cx)),
        Sheet::Verify => ("Verify this page", verify::body()),
    };
    view! {
        <dialog node_ref=node class="sheet" aria-labelledby="sheet-title" on:close=move |_| sheet.set(None)>
            <header class="sheet-head">
                <h2 id="sheet-title">{title}</h2>
                <button type="button" class="button quiet" on:click=close>"Close"</button>
            </header>
            <div class="sheet-body">{body}</div>
        </dialog>
    }
    .into_any()
}
