//! What a reader of the lessons does: opens each, edits a number, shares the edit, reads on without
//! a network.

use std::time::Instant;

use browser_harness::{Habits, Server};
use serde_json::{Value, json};

use super::browser::{Browser, Found, pause};
use super::site;

/// The cell whose matrix is edited, and its lesson.
const EDITED: (&str, &str) = ("matrix-vector", "basics");

/// The lessons that are read without a network: one that computes on the page, one with a model.
const OFFLINE: [&str; 2] = ["self-attention", "decoder-only"];

#[test]
fn firefox_shows_every_lesson_keeps_edits_and_works_offline() {
    if let Some(firefox) = Found::firefox() {
        read(&firefox);
    }
}

#[test]
fn webkitgtk_shows_every_lesson_keeps_edits_and_works_offline() {
    if let Some(webkit) = Found::webkit() {
        read(&webkit);
    }
}

fn read(found: &Found) {
    let mut server = site::serve(Habits::ROOT);
    found.run(async |browser| {
        for page in site::pages() {
            let begun = Instant::now();
            browser.open_ready(&server.url(&page)).await;
            println!(
                "{}, /{page}: ready after {:.1} s",
                found.name(),
                begun.elapsed().as_secs_f64()
            );
            let complaints = browser.complaints().await;
            assert!(complaints.is_empty(), "{page}: {complaints:#?}");
        }
        edit_and_share(browser, &server).await;
        read_offline(browser, &mut server).await;
    });
}

/// Changes an entry of a matrix: the cell's numbers change, and the link that the cell gives brings
/// the same numbers to a page that is opened anew.
async fn edit_and_share(browser: &Browser, server: &Server) {
    let (cell, lesson) = EDITED;
    browser.open_ready(&server.url(&site::lesson(lesson))).await;
    let before = numbers(browser, cell).await;
    let field = format!("#{cell} input.number[data-at]");
    browser.set(&field, "1.5").await;
    let edited = settled(browser, cell, &before).await;

    let menu = format!("document.querySelector('#{cell} .cell-menu:not([open]) > summary')");
    browser.click(&menu).await;
    let share =
        format!("document.querySelector(\"#{cell} .cell-menu[open] button[aria-label^='Share']\")");
    browser.click(&share).await;
    let link = "document.querySelector('dialog[open] input')";
    let has_link = format!("return !!{link}?.value");
    browser.wait_for("the link", &has_link).await;
    let link = browser.text(&format!("return {link}.value")).await;
    assert!(link.contains("?s="), "the link {link} has no edits");

    browser.open_ready(&link).await;
    assert_eq!(numbers(browser, cell).await, edited, "{link}");
    let complaints = browser.complaints().await;
    assert!(complaints.is_empty(), "{link}: {complaints:#?}");
}

/// Every number that a cell shows, with where it comes from, but not the time that it took.
async fn numbers(browser: &Browser, cell: &str) -> Value {
    let script = format!(
        "return [...document.querySelectorAll('#{cell} [data-from]')]
            .filter(number => !number.dataset.from.startsWith('time:'))
            .map(number => [number.dataset.from, number.value ?? number.textContent.trim()])"
    );
    let numbers = browser.script(&script).await;
    let is_empty = numbers.as_array().is_none_or(Vec::is_empty);
    assert!(!is_empty, "{cell} shows no number");
    numbers
}

/// The numbers of a cell after an edit: others than before, and no longer changing.
async fn settled(browser: &Browser, cell: &str, before: &Value) -> Value {
    let mut last = before.clone();
    for _ in 0..100 {
        pause(200).await;
        let now = numbers(browser, cell).await;
        if now != *before && now == last {
            return now;
        }
        last = now;
    }
    panic!("{cell} shows the same after an edit: {before}");
}

/// Waits until the service worker has the site's files, shuts the server off, and reads on.
async fn read_offline(browser: &Browser, server: &mut Server) {
    let has_files = "return !!navigator.serviceWorker.controller
        && navigator.serviceWorker.controller.state === 'activated'";
    browser.wait_for("the service worker", has_files).await;
    server.stop();
    let (asked, _) = (server.take_asked(), server.take_misses());
    assert!(!asked.is_empty(), "the pages came from elsewhere");
    for lesson in OFFLINE {
        let url = server.url(&site::lesson(lesson));
        browser.open_ready(&url).await;
        let (read, complaints) = (
            browser.script("return location.href").await,
            browser.complaints().await,
        );
        assert_eq!(read, json!(url));
        assert!(complaints.is_empty(), "{url} offline: {complaints:#?}");
    }
    assert_eq!(server.take_asked(), Vec::<String>::new());
}
