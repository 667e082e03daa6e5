//! What the site has stored on this device, on the page `/about/`, with a button that deletes it.

use leptos::html::{Button, P};
use leptos::prelude::*;
use serde_json::{Map, Value};

use crate::browser::dom;
use crate::browser::offline_copy::{self, OfflineCopy};
use crate::browser::preference::{self, GUESSES, SEARCH_KEY, THEME};
use crate::browser::storage::{self, StoredFile, megabytes};
use crate::chunk::chunk;
use crate::shell::kept_progress;

/// Draws the list.
pub(crate) type Draw = fn() -> AnyView;

chunk! {
    /// The list is fetched when its page is first opened.
    about: pub(crate) fn load() -> Draw = list;
}

/// What is stored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Stored {
    theme: Option<String>,
    has_search_key: bool,
    lessons: usize,
    guesses: Option<usize>,
    copy: Option<OfflineCopy>,
    files: Vec<StoredFile>,
}

async fn find() -> Stored {
    Stored {
        theme: preference::get(THEME),
        has_search_key: preference::get(SEARCH_KEY).is_some(),
        lessons: kept_progress::count(),
        guesses: preference::get(GUESSES).map(|kept| count_guesses(&kept)),
        copy: offline_copy::find().await,
        files: storage::list().await,
    }
}

/// The number of guesses in what is kept of them; 0 where that is damaged.
fn count_guesses(kept: &str) -> usize {
    serde_json::from_str(kept).map_or(0, |guesses: Map<String, Value>| guesses.len())
}

/// Deletes everything. What the browser refuses to delete is still there afterwards.
async fn delete(stored: &Stored) {
    preference::delete_theme();
    preference::delete(SEARCH_KEY);
    kept_progress::delete();
    preference::delete(GUESSES);
    let _ = offline_copy::delete().await;
    for file in &stored.files {
        let _ = storage::delete(&file.url).await;
    }
}

fn counted(count: usize, one: &str, many: &str) -> String {
    let unit = if count == 1 { one } else { many };
    format!("{count} {unit}")
}

/// Each thing that is stored, in words.
fn items(stored: &Stored) -> Vec<String> {
    let mut items = Vec::new();
    if let Some(theme) = &stored.theme {
        items.push(format!("the theme ({theme})"));
    }
    if stored.has_search_key {
        items.push("search: the key / is switched off".to_owned());
    }
    if stored.lessons > 0 {
        let lessons = counted(stored.lessons, "lesson", "lessons");
        items.push(format!("progress in {lessons}"));
    }
    if let Some(guesses) = stored.guesses {
        items.push(counted(guesses, "guess", "guesses"));
    }
    if let Some(OfflineCopy { files, bytes }) = stored.copy {
        let files = counted(files as usize, "file", "files");
        items.push(format!("offline copy: {files}, {}", megabytes(bytes)));
    }
    for file in &stored.files {
        items.push(format!(
            "model file {}, {}",
            file.url,
            megabytes(file.bytes)
        ));
    }
    items
}

/// A sentence on what is gone, and what is still there.
fn result(before: &Stored, after: &Stored) -> String {
    let left = items(after);
    let gone = items(before)
        .into_iter()
        .filter(|item| !left.contains(item));
    let gone: Vec<String> = gone.collect();
    let gone = match gone.is_empty() {
        true => "Nothing was deleted.".to_owned(),
        false => format!("Deleted: {}.", gone.join("; ")),
    };
    if left.is_empty() {
        return gone;
    }
    let left = left.join("; ");
    format!("{gone} Not deleted, perhaps because another tab uses it: {left}.")
}

/// The state of the list.
#[derive(Clone, Copy)]
struct List {
    stored: RwSignal<Option<Stored>>,
    step: RwSignal<Step>,
    said: RwSignal<String>,
}

/// How far the reader is with deleting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Looking,
    Asking,
    Keeping,
    Deleting,
}

impl List {
    fn delete_all(self) {
        self.step.set(Step::Deleting);
        let before = self.stored.get_untracked().unwrap_or_default();
        leptos::task::spawn_local(async move {
            delete(&before).await;
            let after = find().await;
            // The reader may have gone on meanwhile.
            self.said.try_set(result(&before, &after));
            self.stored.try_set(Some(after));
            self.step.try_set(Step::Looking);
        });
    }
}

fn list() -> AnyView {
    let list = List {
        stored: RwSignal::new(None),
        step: RwSignal::new(Step::Looking),
        said: RwSignal::new(String::new()),
    };
    leptos::task::spawn_local(async move {
        list.stored.try_set(Some(find().await));
    });
    let shown = move || match list.stored.get() {
        Some(stored) => contents(list, &items(&stored)),
        None => view! { <p>"Looking\u{2026}"</p> }.into_any(),
    };
    // The button that was pressed is gone by then, and the keyboard goes on from what is said.
    let result = NodeRef::<P>::new();
    Effect::new(move |_| {
        if let (false, Some(result)) = (list.said.with(String::is_empty), result.get()) {
            dom::focus_text(&result);
        }
    });
    view! {
        {shown}
        <p node_ref=result role="status" class="stored-result">{move || list.said.get()}</p>
    }
    .into_any()
}

fn contents(list: List, items: &[String]) -> AnyView {
    if items.is_empty() {
        return view! { <p>"Nothing is stored."</p> }.into_any();
    }
    let entries: Vec<_> = items
        .iter()
        .map(|item| view! { <li>{item.clone()}</li> })
        .collect();
    let question = move || {
        let (step, focused) = (list.step.get(), NodeRef::<Button>::new());
        // Each step takes the place of the button that led to it, and gets the keyboard.
        if matches!(step, Step::Asking | Step::Keeping) {
            focused.on_load(|button| dom::focus(&button));
        }
        match step {
            Step::Looking | Step::Keeping => view! {
                <button node_ref=focused type="button" class="button" on:click=move |_| list.step.set(Step::Asking)>"Delete all of this"</button>
            }
            .into_any(),
            Step::Asking => view! {
                <p id="stored-question">"Delete all of this? Models would have to be downloaded again, and a later visit makes a new offline copy."</p>
                <button type="button" class="button primary" on:click=move |_| list.delete_all()>"Delete"</button>
                " "
                <button node_ref=focused type="button" class="button" aria-describedby="stored-question" on:click=move |_| list.step.set(Step::Keeping)>"Keep"</button>
            }
            .into_any(),
            Step::Deleting => view! { <p>"Deleting\u{2026}"</p> }.into_any(),
        }
    };
    view! { <ul class="stored-items">{entries}</ul> <div role="group" aria-label="Delete stored data">{question}</div> }.into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> Stored {
        Stored {
            theme: Some("dark".to_owned()),
            has_search_key: true,
            lessons: 1,
            guesses: Some(2),
            copy: Some(OfflineCopy {
                files: 2,
                bytes: 3_000_000,
            }),
            files: vec![StoredFile {
                url: "https://host/a.gguf".to_owned(),
                bytes: 1_500_000,
                total: None,
            }],
        }
    }

    #[test]
    fn everything_that_is_stored_is_listed() {
        assert_eq!(
            items(&full()),
            [
                "the theme (dark)",
                "search: the key / is switched off",
                "progress in 1 lesson",
                "2 guesses",
                "offline copy: 2 files, 3.0 MB",
                "model file https://host/a.gguf, 1.5 MB",
            ]
        );
        assert!(items(&Stored::default()).is_empty());
    }

    #[test]
    fn guesses_are_counted_in_what_the_page_keeps() {
        let kept = r#"{"lesson/scaling guess-a":"guess-a-1","lesson/patches guess-b":"guess-b-0"}"#;
        assert_eq!(count_guesses(kept), 2);
        assert_eq!(count_guesses("damaged"), 0);
    }

    #[test]
    fn the_result_says_what_is_gone_and_what_is_left() {
        let all = result(&full(), &Stored::default());
        assert!(
            all.starts_with("Deleted: the theme (dark); ") && all.ends_with("1.5 MB."),
            "{all}"
        );
        let left = Stored {
            files: full().files,
            ..Stored::default()
        };
        let some = result(&full(), &left);
        assert!(
            some.contains("Not deleted")
                && some.ends_with("model file https://host/a.gguf, 1.5 MB.")
        );
        assert!(result(&left, &left).starts_with("Nothing was deleted."));
    }
}
