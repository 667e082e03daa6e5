//! The share dialog: the address of the page with its present edits.

use leptos::prelude::*;

use crate::browser::clipboard;
use crate::cells::frame::context::CellCx;

/// Link, copy button, and what the link cannot hold.
pub(crate) fn body(cx: CellCx) -> AnyView {
    let report = cx.id.with_value(|id| cx.page.link(id));
    let url = report.url.clone();
    let copied = RwSignal::new(None::<bool>);
    let copy = move |_| {
        let url = url.clone();
        leptos::task::spawn_local(async move { copied.set(Some(clipboard::copy(&url).await)) });
    };
    let answer = move || match copied.get() {
        Some(true) => "Copied.",
        Some(false) => {
            "This browser did not allow copying; select the link above and copy it by hand."
        }
        None => "",
    };
    view! {
        <p>"Anyone who opens this link sees the page with your edits, at this cell."</p>
        <label class="field">
            <span>"Link"</span>
            <input type="text" readonly class="share-link" prop:value=report.url />
        </label>
        {report.too_long.map(|why| view! {
            <p class="cell-error">"Your edits are left out of this link: " {why} "."</p>
        })}
        {report.leaves_picture_out.then(|| view! {
            <p class="aside note">"Your own picture is not in the link: it never leaves this device. Anyone who opens the link sees the sample picture instead."</p>
        })}
        <p>
            <button type="button" class="button primary" on:click=copy>"Copy the link"</button>
            <span role="status" class="share-status">{answer}</span>
        </p>
    }
    .into_any()
}
