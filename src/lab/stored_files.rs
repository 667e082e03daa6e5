//! The list of files that came from an address and are stored on this device, to be opened again or
//! deleted.

use leptos::prelude::*;

use super::message::ends;
use super::open::Form;
use super::session::Lab;
use crate::browser::storage::{self, StoredFile, megabytes};

/// The most characters of an address, from its beginning and from its end.
const ADDRESS: (usize, usize) = (100, 100);

/// The list; nothing while it is empty.
pub(super) fn stored_list(form: Form) -> AnyView {
    let lab = form.lab;
    lab.list_stored();
    let any = Memo::new(move |_| lab.stored.with(|stored| !stored.is_empty()));
    let list = move || {
        view! {
            <details class="lab-kept">
                <summary>{move || summary(&lab.stored.get())}</summary>
                <ul>{move || lab.stored.get().into_iter().map(|file| item(form, file)).collect_view()}</ul>
            </details>
        }
    };
    view! { {move || any.get().then(list)} }.into_any()
}

/// The number of files and their size together.
fn summary(kept: &[StoredFile]) -> String {
    let bytes = kept.iter().map(|file| file.bytes).sum();
    let files = match kept.len() {
        1 => "1 file".to_owned(),
        count => format!("{count} files"),
    };
    format!("Kept on this device: {files}, {}", megabytes(bytes))
}

/// The part of a file that is here.
fn size(file: &StoredFile) -> String {
    match file.total {
        Some(total) if total == file.bytes => megabytes(total),
        Some(total) => format!("{} of {}", megabytes(file.bytes), megabytes(total)),
        None => format!("{}, incomplete", megabytes(file.bytes)),
    }
}

/// Returns whether a file of this name holds a model's weights.
fn is_weights(url: &str) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    [".gguf", ".safetensors", ".bin"]
        .iter()
        .any(|end| path.ends_with(end))
}

fn item(form: Form, file: StoredFile) -> AnyView {
    let lab = form.lab;
    let name = ends(file.url.rsplit('/').next().unwrap_or(&file.url), ADDRESS);
    let words = size(&file);
    let open = is_weights(&file.url).then(|| {
        let (url, label) = (file.url.clone(), format!("Open {name}"));
        let click = move |_| {
            form.url.set(url.clone());
            form.open_url();
        };
        view! { <button type="button" class="button" aria-label=label on:click=click>"Open"</button> }
    });
    let (url, label) = (file.url.clone(), format!("Delete {name}"));
    let delete = move |_| delete(lab, url.clone());
    view! {
        <li>
            <span class="lab-kept-url">{ends(&file.url, ADDRESS)}</span>
            <span class="lab-kept-size">{words}</span>
            {open}
            <button type="button" class="button" aria-label=label on:click=delete>"Delete"</button>
        </li>
    }
    .into_any()
}

fn delete(lab: Lab, url: String) {
    leptos::task::spawn_local(async move {
        if storage::delete(&url).await.is_err() {
            let why =
                format!("{url} cannot be deleted while this page or another page is fetching it.");
            lab.error.try_set(Some(why));
        }
        lab.list_stored();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_here_is_said_in_megabytes() {
        let file = |bytes, total| StoredFile {
            url: "https://host/a.gguf".to_owned(),
            bytes,
            total,
        };
        assert_eq!(size(&file(1_500_000, Some(1_500_000))), "1.5 MB");
        assert_eq!(size(&file(1_500_000, Some(3_000_000))), "1.5 MB of 3.0 MB");
        assert_eq!(size(&file(1_500_000, None)), "1.5 MB, incomplete");
        let all = [file(1_000_000, None), file(500_000, None)];
        assert_eq!(summary(&all), "Kept on this device: 2 files, 1.5 MB");
        assert!(
            is_weights("https://host/a.gguf?download=true")
                && !is_weights("https://host/config.json")
        );
    }
}
