//! Files that do not arrive: each cell says so and offers to try again, the prose stays, and trying
//! again works.

use serde_json::json;

use super::browser::{Browser, Look, with_browser};
use super::site;
use browser_harness::Habits;

/// Lets no request through whose address matches one of the patterns.
pub(crate) async fn block(browser: &Browser, patterns: &[&str]) {
    browser.devtools("Network.enable", json!({})).await;
    // The copy for reading offline would answer in place of the server.
    let bypass = json!({ "bypass": true });
    browser
        .devtools("Network.setBypassServiceWorker", bypass)
        .await;
    let blocked = json!({ "urls": patterns });
    browser.devtools("Network.setBlockedURLs", blocked).await;
}

/// What of a page's code does not arrive, and the addresses of its files.
const PARTS: [(&str, &str); 2] = [
    ("the first file", "*transformer-notebook-*_bg.wasm"),
    ("the chunks", "*/chunks-*/*.wasm"),
];

/// Every third page without one part of its code, by turns, and one without the other part as well:
/// the same code says so for every cell.
#[test]
fn a_cell_whose_engine_does_not_arrive_says_so_and_tries_again() {
    let server = site::serve(Habits::ROOT);
    let pages = site::pages();
    let mut visits: Vec<_> = pages
        .iter()
        .step_by(3)
        .zip(PARTS.into_iter().cycle())
        .collect();
    visits.push((&pages[0], PARTS[1]));
    with_browser(async |browser| {
        browser.look(Look::PHONE_LIGHT).await;
        for (page, (part, files)) in visits {
            block(browser, &[files]).await;
            browser.open(&server.url(page)).await;
            browser
                .wait_for(
                    &format!("every cell of /{page} to say that {part} is missing"),
                    "const cells = [...document.querySelectorAll('[data-cell]')];
                     return cells.length > 0 && cells.every(cell => cell.dataset.state === 'error'
                         && cell.querySelector('.cell-error button')?.textContent === 'Retry')",
                )
                .await;
            let prose = browser
                .script("return document.querySelectorAll('main p').length", &[])
                .await;
            assert!(prose.as_u64() > Some(3), "/{page} has lost its prose");
            block(browser, &[]).await;
            browser
                .script("document.querySelector('.cell-error button').click()", &[])
                .await;
            browser
                .wait_for(
                    "the page to load anew",
                    "return !document.querySelector('.cell-error')",
                )
                .await;
            browser
                .ready()
                .await
                .unwrap_or_else(|error| panic!("/{page} after Retry: {error}"));
        }
    });
}

#[test]
fn a_dialog_that_does_not_arrive_says_so_and_comes_the_next_time() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        browser
            .open_ready(&server.url("lesson/self-attention/"))
            .await
            .expect("the page gets ready");
        let open = "[...document.querySelectorAll('.cell-tools button')].find(b => b.textContent === 'Export').click()";
        block(browser, &["*/sheets.wasm"]).await;
        browser.script(open, &[]).await;
        let says = "return document.querySelector('dialog[open] .sheet-body')?.textContent.includes('could not be fetched') ?? false";
        browser
            .wait_for("the dialog to say why it is empty", says)
            .await;
        block(browser, &[]).await;
        browser
            .script("[...document.querySelectorAll('dialog[open] button')].find(b => b.textContent === 'Close').click()", &[])
            .await;
        browser.script(open, &[]).await;
        let filled = "return !!document.querySelector('dialog[open] .sheet-body button, dialog[open] .sheet-body a')";
        browser
            .wait_for("the dialog with what it exports", filled)
            .await;
    });
}

#[test]
fn exercises_that_do_not_arrive_say_so_and_the_cells_run() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        block(browser, &["*/exercises.wasm"]).await;
        browser
            .open_ready(&server.url("lesson/self-attention/"))
            .await
            .expect("the cells get ready");
        let says = "const exercises = [...document.querySelectorAll('[data-exercise] .exercise-body')];
             return exercises.length > 0
                 && exercises.every(exercise => exercise.textContent.includes('could not be fetched'))";
        browser
            .wait_for("every exercise to say why it is empty", says)
            .await;
    });
}

#[test]
fn edits_in_an_address_that_cannot_be_read_are_said_to_be_left_out() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        block(browser, &["*/address.wasm"]).await;
        let edited = format!(
            "{}#?s=1.q1YqKarUzSzRK07NK0nNS05VslIy0DMyVaoFAA",
            server.url("")
        );
        browser
            .open_ready(&edited)
            .await
            .expect("the cells get ready");
        let says = "return document.querySelector('.page-notice').textContent
             .includes('What reads the edits of this link could not be fetched')";
        browser
            .wait_for("the page to say that it shows its own values", says)
            .await;
    });
}
