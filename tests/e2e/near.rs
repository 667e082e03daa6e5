//! Cells that compute in a worker begin with those near the window.

use serde_json::{Value, json};

use super::browser::{Look, with_browser};
use super::site;
use browser_harness::Habits;

/// Runs before the scripts of a page: notes every state of every cell.
const NOTE: &str = "
    window.noted = [];
    new MutationObserver(changes => {
        for (const { target } of changes) noted.push([target.id, target.dataset.state]);
    }).observe(document, { subtree: true, attributeFilter: ['data-state'] });
";

/// The position of a state of a cell among all that were noted.
fn at(noted: &[Value], cell: &str, state: &str) -> usize {
    let found = noted.iter().position(|one| *one == json!([cell, state]));
    found.unwrap_or_else(|| panic!("{cell} was never {state}: {noted:?}"))
}

#[test]
fn a_far_cell_waits_for_near_ones_and_begins_by_itself_in_the_end() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        let note = json!({ "source": NOTE });
        browser
            .devtools("Page.addScriptToEvaluateOnNewDocument", note)
            .await;
        browser.open(&server.url("lesson/training/")).await;
        let states =
            "[...document.querySelectorAll('[data-cell]')].map(cell => cell.dataset.state)";
        let ready = format!("return {states}.every(state => state === 'ready')");
        browser
            .wait_for("cells that nobody comes near", &ready)
            .await;
        let cells = browser
            .script(
                "return [...document.querySelectorAll('[data-cell]')].map(cell => cell.id)",
                &[],
            )
            .await;
        let noted = browser.script("return noted", &[]).await;
        let (cells, noted) = (cells.as_array().cloned(), noted.as_array().cloned());
        let (cells, noted) = (cells.unwrap_or_default(), noted.unwrap_or_default());
        let [first, .., last] = &cells[..] else {
            panic!("{cells:?} are too few");
        };
        let id = |cell: &Value| cell.as_str().unwrap_or_default().to_owned();
        let (first, last) = (id(first), id(last));
        assert!(at(&noted, &last, "waiting") < at(&noted, &first, "ready"));
        assert!(
            at(&noted, &first, "ready") < at(&noted, &last, "busy"),
            "{noted:?}"
        );

        browser.open(&server.url("lesson/training/")).await;
        browser
            .wait_for(
                "the views",
                "return document.querySelectorAll('[data-state]').length > 2",
            )
            .await;
        let scroll =
            format!("document.getElementById('{last}').scrollIntoView({{ behavior: 'instant' }})");
        browser.script(&scroll, &[]).await;
        let is_ready =
            format!("return document.getElementById('{last}').dataset.state === 'ready'");
        browser.wait_for("the cell in the window", &is_ready).await;
    });
}

#[test]
fn the_first_cell_has_one_worker_and_its_weights_once() {
    with_browser(async |browser| {
        browser.look(Look::PHONE_LIGHT).await;
        let bypass = json!({ "bypass": true });
        for (page, cell, weights) in [
            ("", "attention-map", "models/tiny-bert.safetensors"),
            (
                "lesson/positions/",
                "bag-of-words",
                "models/tiny-bert.safetensors",
            ),
        ] {
            let server = site::serve(Habits::ROOT);
            browser.devtools("Network.enable", json!({})).await;
            browser
                .devtools("Network.setBypassServiceWorker", bypass.clone())
                .await;
            browser.open(&server.url(page)).await;
            let ready = format!(
                "const cell = document.querySelector('[data-cell]');
                cell.scrollIntoView({{ behavior: 'instant' }});
                return cell.dataset.cell === '{cell}' && cell.dataset.state === 'ready'"
            );
            browser.wait_for("the first cell", &ready).await;
            let asked = server.take_asked();
            let of = |words: &str| asked.iter().filter(|path| path.contains(words)).count();
            let early = format!("kind=models&cell={cell}&weights=");
            assert_eq!(of(&early), 1, "{page}: {asked:?}");
            assert_eq!(of("kind=models"), 1, "{page}: {asked:?}");
            assert_eq!(of(weights), 1, "{page}: {asked:?}");
        }
    });
}

#[test]
fn an_address_with_edits_starts_its_workers_itself() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        browser
            .open(&server.url("lesson/positions/#bag-of-words"))
            .await;
        let ready = "return document.getElementById('bag-of-words').dataset.state === 'ready'";
        browser.wait_for("the cell of the address", ready).await;
        let asked = server.take_asked();
        let early = asked.iter().any(|path| path.contains("&weights="));
        assert!(!early, "{asked:?}");
    });
}
