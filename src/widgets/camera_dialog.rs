//! A dialog with the picture of the camera, which is on only while the dialog is open.

use leptos::html::{Dialog, Video};
use leptos::prelude::*;
use leptos::web_sys::File;

use super::ids;
use crate::browser::camera::{self, Camera};

/// What the reader sees while the browser asks.
const ASKING: &str = "Your browser asks whether this page may use the camera.";

/// A button that opens the camera in a dialog; the picture that the reader takes stays on this device.
#[component]
pub fn CameraButton(
    /// Gets the picture.
    on_file: UnsyncCallback<File>,
) -> impl IntoView {
    let is_open = RwSignal::new(false);
    let dialog = move || is_open.get().then(|| dialog(is_open, on_file));
    view! {
        <button type="button" class="button camera-button" on:click=move |_| is_open.set(true)>"Camera"</button>
        {dialog}
    }
}

fn dialog(is_open: RwSignal<bool>, on_file: UnsyncCallback<File>) -> AnyView {
    let (node, video) = (NodeRef::<Dialog>::new(), NodeRef::<Video>::new());
    // The camera, while it is on. It goes off with this view, however the view goes.
    let on = StoredValue::new_local(None::<Camera>);
    let (message, sees) = (RwSignal::new(ASKING.to_owned()), RwSignal::new(false));
    on_cleanup(move || {
        on.try_update_value(Option::take);
    });
    leptos::task::spawn_local(async move {
        let found = Camera::ask().await;
        // The dialog may have been closed meanwhile: the camera that came too late is dropped.
        if message.is_disposed() {
            return;
        }
        match (found, video.try_get_untracked().flatten()) {
            (Ok(camera), Some(video)) => {
                camera.show(&video).await;
                if on.try_set_value(Some(camera)).is_none() && !message.is_disposed() {
                    message.set(String::new());
                    sees.set(true);
                }
            }
            (Ok(_), None) => {}
            (Err(why), _) => message.set(why),
        }
    });
    Effect::new(move |_| {
        if let Some(dialog) = node.get()
            && !dialog.open()
        {
            let _ = dialog.show_modal();
        }
    });
    let take = move |_| {
        let Some(video) = video.get_untracked() else {
            return;
        };
        leptos::task::spawn_local(async move {
            let taken = camera::picture(&video).await;
            // The focus goes back to the button before the picture is read.
            if let Some(Some(dialog)) = node.try_get_untracked() {
                dialog.close();
            }
            is_open.try_set(false);
            if let Some(file) = taken {
                on_file.try_run(file);
            }
        });
    };
    let close = move |_| {
        if let Some(dialog) = node.get_untracked() {
            dialog.close();
        }
        is_open.set(false);
    };
    let closed = move |_| {
        is_open.try_set(false);
    };
    let name = ids::fresh("camera");
    let title = name.clone();
    view! {
        <dialog node_ref=node class="sheet camera-sheet" aria-labelledby=name on:close=closed>
            <header class="sheet-head">
                <h2 id=title>"Camera"</h2>
                <button type="button" class="button quiet" on:click=close>"Close"</button>
            </header>
            <div class="sheet-body">
                <p class="hint" role="status">{move || message.get()}</p>
                <video node_ref=video class="camera-view" class:is-on=move || sees.get() playsinline=true muted=true></video>
                <button type="button" class="button primary" disabled=move || !sees.get() on:click=take>"Take the picture"</button>
                <p class="hint">"The picture stays on this device. The camera is switched off when this closes."</p>
            </div>
        </dialog>
    }
    .into_any()
}
