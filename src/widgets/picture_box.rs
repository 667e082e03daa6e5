//! Choosing a picture: a sample, a file, the camera, a drop or a paste.

use leptos::html::{Div, Input};
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{File, HtmlInputElement};

use super::camera_dialog::CameraButton;
use super::choice::words;
use super::ids;
use crate::browser::given_files;

/// What every such box fits.
const SELECTOR: &str = ".picture-box";

/// Samples as buttons, and every way to bring a picture of one's own. The file stays on this
/// device; decoding it is the caller's business.
#[component]
pub fn PictureBox(
    /// Label of the picture.
    #[prop(into)]
    label: String,
    /// Names of the samples.
    #[prop(into)]
    samples: Vec<String>,
    /// Name of the picture in use.
    #[prop(into)]
    chosen: Signal<String>,
    /// Gets the name of the sample chosen.
    #[prop(into)]
    on_sample: Callback<String>,
    /// Gets the file that the reader brought.
    #[prop(into)]
    on_file: UnsyncCallback<File>,
    /// Reason that the last picture could not be used.
    #[prop(into, default = Signal::stored(None))]
    message: Signal<Option<String>>,
    /// What the reader should know of the picture in use: that it was put on white, or scaled down.
    #[prop(into, default = Signal::stored(None))]
    note: Signal<Option<String>>,
) -> impl IntoView {
    let over = RwSignal::new(false);
    let node = NodeRef::<Div>::new();
    Effect::new(move |_| {
        if let Some(place) = node.get() {
            given_files::guard_page();
            given_files::on_paste(&place, SELECTOR, move |file| on_file.run(file));
        }
    });
    let problem = ids::fresh("picture");
    let (name, described) = (label.clone(), problem.clone());
    view! {
        <div
            node_ref=node
            class="picture-box"
            class:is-over=move || over.get()
            role="group"
            aria-label=name
            aria-describedby=described
            on:dragover=move |event| {
                event.prevent_default();
                over.set(true);
            }
            on:dragleave=move |_| over.set(false)
            on:drop=move |event| {
                event.prevent_default();
                over.set(false);
                if let Some(file) = given_files::first(event.data_transfer()) {
                    on_file.run(file);
                }
            }
        >
            <span class="picture-label" data-label="">
                {label}
            </span>
            <div class="segments">{sample_buttons(samples, chosen, on_sample)}</div>
            <div class="picture-own">
                <FileButton words="Your picture" camera=false on_file />
                <FileButton words="Camera" camera=true on_file />
                <CameraButton on_file />
                <span class="hint">"or drop or paste one here; it stays on this device"</span>
            </div>
            <p class="entry-problem" id=problem aria-live="polite" data-label="">
                {move || message.get()}
            </p>
            <p class="hint picture-note" role="status" data-label="">
                {move || note.get()}
            </p>
        </div>
    }
}

/// One button for each sample.
fn sample_buttons(
    samples: Vec<String>,
    chosen: Signal<String>,
    on_sample: Callback<String>,
) -> impl IntoView {
    let button = move |name: String| {
        let (own, shown) = (name.clone(), words(&name));
        view! {
            <button
                type="button"
                aria-pressed=move || if chosen.with(|c| *c == own) { "true" } else { "false" }
                on:click=move |_| on_sample.run(name.clone())
            >
                {shown}
            </button>
        }
    };
    samples.into_iter().map(button).collect_view()
}

/// A button that opens the browser's file dialog or the camera.
#[component]
fn FileButton(words: &'static str, camera: bool, on_file: UnsyncCallback<File>) -> impl IntoView {
    let input = NodeRef::<Input>::new();
    let on_change = move |event: leptos::ev::Event| {
        let Some(target) = event
            .target()
            .and_then(|t| t.dyn_into::<HtmlInputElement>().ok())
        else {
            return;
        };
        if let Some(file) = target.files().and_then(|files| files.get(0)) {
            on_file.run(file);
        }
        // The same file may be chosen again, after it was changed on disk.
        target.set_value("");
    };
    view! {
        <label class="button quiet file-button" class:camera=camera>
            <input
                node_ref=input
                type="file"
                class="vh"
                accept="image/*"
                capture=camera.then_some("environment")
                on:change=on_change
            />
            {words}
        </label>
    }
}
