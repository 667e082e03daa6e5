//! The list of files that came from an address and are stored on this device, to be opened again or
//! deleted.

use leptos::prelude::*;
use worker::model::file::addresses;
use worker::model::stored_file::after_break;

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

/// A message about a model that was not opened, with what can be done with the part of it that is here.
pub(super) async fn with_way_on(why: String, url: &str) -> String {
    match way_on(url, &storage::list().await) {
        Some(words) => format!("{why} {words}"),
        None => why,
    }
}

/// What to say of a part of a model's files that is stored; nothing where none or all of it is.
fn way_on(url: &str, stored: &[StoredFile]) -> Option<&'static str> {
    let urls = addresses(url);
    let own = || stored.iter().filter(|file| urls.contains(&file.url));
    let is_whole = |file: &&StoredFile| file.total == Some(file.bytes);
    if own().filter(is_whole).count() == urls.len() {
        return None;
    }
    let bytes = own().filter(|file| file.total.is_some());
    after_break(0, bytes.map(|file| file.bytes).max()?)
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

    #[test]
    fn a_part_that_is_stored_is_mentioned_after_a_stop() {
        let file = |url: &str, bytes, total| StoredFile {
            url: url.to_owned(),
            bytes,
            total,
        };
        let (url, part) = ("https://h/a.gguf", 1 << 20);
        for (stored, says) in [
            (vec![], false),
            (vec![file(url, part, Some(2 * part))], true),
            (vec![file(url, part, Some(part))], false),
            (vec![file(url, 100, Some(part))], false),
            (vec![file(url, part, None)], false),
            (vec![file("https://h/b.gguf", part, Some(2 * part))], false),
        ] {
            assert_eq!(way_on(url, &stored).is_some(), says, "{stored:?}");
        }
        // The first of two parts is there.
        let first = [file("https://h/a-1-of-2.gguf", part, Some(part))];
        assert!(way_on("https://h/a-2-of-2.gguf", &first).is_some());
    }
}
