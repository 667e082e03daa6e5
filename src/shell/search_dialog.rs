//! The dialog of the search: a field, and the sections that hold all words typed into it.

use leptos::mount::mount_to;
use leptos::prelude::*;
use search::{FILE, Hit, Index, Query};
use wasm_bindgen::JsCast;
use web_sys::{HtmlDialogElement, HtmlElement, HtmlInputElement, KeyboardEvent, MouseEvent};

use super::search::{OFF, is_off};
use crate::browser::{address, dom, fetch, preference};

/// Id of the dialog.
const DIALOG: &str = "search-dialog";

/// The most results that are listed.
const MOST: usize = 30;

/// The most words of a section's text that a result names.
const MOST_WORDS: usize = 6;

/// The index, once it is here, or why it is not.
type Fetched = RwSignal<Option<Result<Index, String>>>;

fn dialog() -> Option<HtmlDialogElement> {
    dom::by_id(DIALOG)?.dyn_into().ok()
}

fn field() -> Option<HtmlInputElement> {
    let dialog = dialog()?;
    dom::find(&dialog, "input")?.dyn_into().ok()
}

/// Opens the search, with what was typed the last time selected.
pub(super) fn open() {
    if dialog().is_none()
        && let Some(body) = dom::body()
    {
        mount_to(body, view).forget();
    }
    if let (Some(dialog), Some(field)) = (dialog(), field()) {
        if !dialog.open() {
            let _ = dialog.show_modal();
        }
        field.select();
        if let Some(switch) = dom::find(&dialog, "input[type=checkbox]") {
            switch
                .unchecked_into::<HtmlInputElement>()
                .set_checked(!is_off());
        }
    }
}

fn close() {
    if let Some(dialog) = dialog() {
        dialog.close();
    }
}

fn fetch_into(index: Fetched) {
    index.set(None);
    leptos::task::spawn_local(async move {
        let text = fetch::text(&address::site_url(FILE)).await;
        let read = text.and_then(|text| {
            Index::parse(&text)
                .map_err(|line| format!("Line {line} of the index cannot be read. Press Retry."))
        });
        index.set(Some(read));
    });
}

fn view() -> AnyView {
    let index: Fetched = RwSignal::new(None);
    let typed = RwSignal::new(String::new());
    fetch_into(index);
    let results = move || index.with(|index| results(index.as_ref(), &typed.get()));
    let retry = move || {
        index.with(|index| matches!(index, Some(Err(_)))).then(|| {
            view! { <button type="button" class="button" on:click=move |_| fetch_into(index)>"Retry"</button> }
        })
    };
    let switch = |event| match event_target_checked(&event) {
        true => preference::delete(preference::SEARCH_KEY),
        false => preference::set(preference::SEARCH_KEY, OFF),
    };
    view! {
        <dialog id=DIALOG class="sheet" aria-labelledby="search-title" on:keydown=move_by_keys>
            <header class="sheet-head">
                <h2 id="search-title">"Search"</h2>
                <button type="button" class="button quiet" on:click=|_| close()>"Close"</button>
            </header>
            <div class="sheet-body">
                <label class="field"><span>"Search lessons, terms, models and tools"</span>
                    <input type="text" autofocus autocomplete="off" autocapitalize="none" spellcheck="false" enterkeyhint="search"
                        on:input=move |event| typed.set(event_target_value(&event))/>
                </label>
                <p role="status">{move || index.with(|index| status(index.as_ref(), &typed.get()))}</p>
                {retry}
                <ul class="search-results">{results}</ul>
                <label class="search-key"><input type="checkbox" on:change=switch/>
                    " Open the search with the key " <kbd>"/"</kbd></label>
            </div>
        </dialog>
    }
    .into_any()
}

/// A sentence on what was found.
fn status(index: Option<&Result<Index, String>>, typed: &str) -> String {
    let query = Query::new(typed);
    match index {
        None => "Loading the search index\u{2026}".to_owned(),
        Some(Err(why)) => why.clone(),
        Some(Ok(_)) if query.is_empty() => String::new(),
        Some(Ok(index)) => match query.search(index).len() {
            0 => format!(
                "Nothing found: no page or section contains all of these words: \u{201c}{}\u{201d}.",
                typed.trim()
            ),
            1 => "1 result".to_owned(),
            count if count > MOST => format!("{count} results; showing the best {MOST}"),
            count => format!("{count} results"),
        },
    }
}

fn results(index: Option<&Result<Index, String>>, typed: &str) -> Vec<AnyView> {
    let Some(Ok(index)) = index else {
        return Vec::new();
    };
    let query = Query::new(typed);
    let hits = query.search(index).into_iter().take(MOST);
    hits.map(|hit| result(&query, &hit)).collect()
}

fn result(query: &Query, hit: &Hit) -> AnyView {
    let words = hit.in_text.iter().take(MOST_WORDS);
    let words: Vec<AnyView> = words
        .map(|word| view! { " " <mark>{(*word).to_owned()}</mark> }.into_any())
        .collect();
    let in_text =
        (!words.is_empty()).then(|| view! { <small>"Found in the text:" {words}</small> });
    let page = (!hit.page.is_empty()).then(|| view! { <small>{marked(query, hit.page)}</small> });
    // A press with a modifier opens another tab, and leaves the search open.
    let follow = |event: MouseEvent| {
        if !(event.ctrl_key() || event.meta_key() || event.shift_key()) {
            close();
        }
    };
    view! {
        <li><a href=address::site_url(hit.address) on:click=follow>
            <span>{marked(query, hit.heading)}</span>{page}{in_text}
        </a></li>
    }
    .into_any()
}

/// A text with the words that match marked.
fn marked(query: &Query, text: &str) -> Vec<AnyView> {
    let parts = query.marked(text).into_iter();
    let draw = |(part, is_marked): (&str, bool)| {
        let part = part.to_owned();
        if is_marked {
            view! { <mark>{part}</mark> }.into_any()
        } else {
            part.into_any()
        }
    };
    parts.map(draw).collect()
}

/// The arrow keys move from the field to the results and between them; Enter in the field follows
/// the first.
fn move_by_keys(event: KeyboardEvent) {
    let step = match event.key().as_str() {
        "ArrowDown" => 1,
        "ArrowUp" => -1,
        "Enter" => 0,
        _ => return,
    };
    let (Some(dialog), Some(field)) = (dialog(), field()) else {
        return;
    };
    let links = dom::find_all(&dialog, ".search-results a");
    let target = event
        .target()
        .and_then(|at| at.dyn_into::<HtmlElement>().ok());
    let is_field = target.as_deref() == Some(field.as_ref());
    let at = links.iter().position(|link| Some(link) == target.as_ref());
    match (step, is_field, at) {
        (0, true, _) => {
            if let Some(link) = links.first() {
                link.click();
            }
        }
        (0, ..) => return,
        _ => match next(at, is_field, step, links.len()) {
            Some(next) => dom::focus(&links[next]),
            None => dom::focus(&field),
        },
    }
    event.prevent_default();
}

/// The result that an arrow key leads to, or `None` for the field.
fn next(at: Option<usize>, is_field: bool, step: isize, count: usize) -> Option<usize> {
    match at {
        Some(at) => at.checked_add_signed(step).map(|next| next.min(count - 1)),
        None if is_field && step > 0 => (count > 0).then_some(0),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use search::{Entry, write};

    use super::*;

    fn index() -> Index {
        let entry = Entry {
            address: "lab/".to_owned(),
            heading: "Lab".to_owned(),
            text: String::new(),
        };
        Index::parse(&write(&[entry])).unwrap()
    }

    #[test]
    fn the_reader_is_told_what_was_found_and_when_nothing_was() {
        let found = |typed: &str| status(Some(&Ok(index())), typed);
        assert_eq!(found("lab"), "1 result");
        assert_eq!(found(" "), "");
        let none = found(" zebra ");
        assert!(none.contains("Nothing found") && none.contains("\u{201c}zebra\u{201d}"));
        assert!(status(None, "lab").contains("Loading"));
        assert_eq!(status(Some(&Err("Why".to_owned())), "lab"), "Why");
    }

    #[test]
    fn arrows_go_from_the_field_through_the_results_and_back() {
        assert_eq!(next(None, true, 1, 3), Some(0));
        assert_eq!(next(None, true, 1, 0), None);
        assert_eq!(next(None, true, -1, 3), None);
        assert_eq!(next(Some(0), false, 1, 3), Some(1));
        assert_eq!(next(Some(2), false, 1, 3), Some(2));
        assert_eq!(next(Some(0), false, -1, 3), None);
    }
}
