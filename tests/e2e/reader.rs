//! What a reader does with a page: opens it, clicks, presses keys, and waits for a number.

use fantoccini::Locator;
use fantoccini::key::Key;
use serde_json::json;

use super::browser::{Browser, Look, pause};
use super::site;
use browser_harness::Server;

/// How often a click is tried on an element that is still to be shown.
const TRIES: usize = 50;

/// Clicks the first element that a locator finds, scrolled into view as a reader would. One that is
/// not shown yet is waited for.
pub(crate) async fn click(browser: &Browser, place: Locator<'_>) {
    let found = browser.client().find(place).await;
    let element = found.unwrap_or_else(|error| panic!("nothing fits {place:?}: {error}"));
    let handle = serde_json::to_value(&element).expect("an element");
    browser
        .script(
            "arguments[0].scrollIntoView({ block: 'center', behavior: 'instant' })",
            &[handle],
        )
        .await;
    let mut clicked = element.click().await;
    for _ in 1..TRIES {
        let is_to_come = clicked
            .as_ref()
            .is_err_and(|error| error.is_element_not_interactable());
        if !is_to_come {
            break;
        }
        pause(100).await;
        clicked = element.click().await;
    }
    clicked.unwrap_or_else(|error| panic!("{place:?} cannot be clicked: {error}"));
}

/// Chooses an entry of the menu of the first cell that a CSS selector finds.
pub(crate) async fn cell_tool(browser: &Browser, cell: &str, entry: &str) {
    let menu = format!("{cell} .cell-menu > summary");
    click(browser, Locator::Css(&menu)).await;
    let entry = format!("{cell} .cell-menu[open] button[aria-label^='{entry}']");
    click(browser, Locator::Css(&entry)).await;
}

/// Gives an element the focus and presses keys there.
pub(crate) async fn press(browser: &Browser, selector: &str, keys: &[Key]) {
    let focus = "const element = document.querySelector(arguments[0]);
        element.scrollIntoView({ block: 'center', behavior: 'instant' });
        element.focus()";
    browser.script(focus, &[json!(selector)]).await;
    let element = browser.client().find(Locator::Css(selector)).await;
    let keys: String = keys.iter().map(ToString::to_string).collect();
    element
        .expect("an element")
        .send_keys(&keys)
        .await
        .expect("keys");
}

/// Waits until a condition on what a cell shows with this origin holds; `text` is its name in the
/// condition.
pub(crate) async fn wait_until(browser: &Browser, cell: &str, from: &str, condition: &str) {
    let script = format!(
        "const text = document.querySelector(\"#{cell} [data-from='{from}']\")?.textContent.trim();
         return text !== undefined && {condition}"
    );
    browser
        .wait_for(&format!("{from} of {cell}: {condition}"), &script)
        .await;
}

/// Waits until what a cell shows with this origin is this text.
pub(crate) async fn wait_for_shown(browser: &Browser, cell: &str, from: &str, text: &str) {
    wait_until(browser, cell, from, &format!("text === {}", json!(text))).await;
}

/// Opens a lesson on a desk and waits until its cells are ready.
pub(crate) async fn open_lesson(browser: &Browser, server: &Server, slug: &str) {
    browser.look(Look::DESK_LIGHT).await;
    let opened = browser.open_ready(&server.url(&site::lesson(slug))).await;
    opened.unwrap_or_else(|error| panic!("{slug}: {error}"));
}
