//! What the reader selects in a cell is state of the page: in links, undone, reset, and kept by the
//! word when another model cuts the sentence into other tokens.

use fantoccini::Locator;
use serde_json::json;

use super::browser::{Browser, Look, with_browser};
use super::reader::click;
use super::site;
use browser_harness::Habits;

const CELL: &str = "section[data-cell=attention-map]";

/// Waits until the token with this text, which may carry the mark of a space, is selected.
async fn wait_for_selected(browser: &Browser, word: &str, when: &str) {
    let condition = format!(
        "return document.querySelector('{CELL}').dataset.state === 'ready'
            && document.querySelector('{CELL} .token[aria-pressed=true]')
                ?.textContent.replace('\u{2423}', '').toLowerCase() === '{word}'"
    );
    browser
        .wait_for(
            &format!("\u{201c}{word}\u{201d} to be selected {when}"),
            &condition,
        )
        .await;
}

/// Clicks a token as soon as it is there: the tokens are laid out anew for every result.
async fn select(browser: &Browser, word: &str) {
    let there = format!(
        "return [...document.querySelectorAll('{CELL} ol > li > button')].some(token => token.textContent === '{word}')"
    );
    let what = format!("the token \u{201c}{word}\u{201d}");
    browser.wait_for(&what, &there).await;
    let token = format!("//section[@data-cell='attention-map']//ol/li/button[.='{word}']");
    click(browser, Locator::XPath(&token)).await;
}

#[test]
fn a_selected_word_is_kept_by_models_and_links_and_set_back_by_undo_and_reset() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        browser
            .open_ready(&server.url(""))
            .await
            .expect("the home page works");
        wait_for_selected(browser, "the", "at first").await;
        let computed = browser
            .script(
                &format!("return document.querySelector('{CELL} .cell-time').textContent"),
                &[],
            )
            .await;
        select(browser, "girl").await;
        wait_for_selected(browser, "girl", "after a click").await;
        let after = browser
            .script(
                &format!("return document.querySelector('{CELL} .cell-time').textContent"),
                &[],
            )
            .await;
        assert_eq!(computed, after, "selecting a word computes nothing");

        for model in ["tiny-gpt", "random", "tiny-bert"] {
            let choice =
                format!("//section[@data-cell='attention-map']//label[contains(., '{model}')]");
            click(browser, Locator::XPath(&choice)).await;
            wait_for_selected(browser, "girl", &format!("with {model}")).await;
        }

        // The address follows the edits after a moment: it has the last model once it stays the same.
        let settled = "if (globalThis.seen !== location.hash) {
                globalThis.seen = location.hash;
                globalThis.since = performance.now();
            }
            return location.hash.includes('s=') && performance.now() - globalThis.since > 2000";
        browser.wait_for("the address to settle", settled).await;
        let link = browser.script("return location.href", &[]).await;
        let link = link.as_str().expect("an address").to_owned();
        browser.open_ready(&link).await.expect("the link opens");
        wait_for_selected(browser, "girl", "by the link").await;

        select(browser, "has").await;
        wait_for_selected(browser, "has", "after another click").await;
        click(
            browser,
            Locator::XPath("//button[normalize-space()='Undo']"),
        )
        .await;
        wait_for_selected(browser, "girl", "after undo").await;
        let reset = format!("{CELL} .cell-tools > button[aria-label^='Reset']");
        click(browser, Locator::Css(&reset)).await;
        wait_for_selected(browser, "the", "after reset").await;
    });
}

#[test]
fn a_selection_that_the_sentence_does_not_hold_falls_back_to_the_lessons_own() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::PHONE_LIGHT).await;
        browser
            .open_ready(&server.url(""))
            .await
            .expect("the home page works");
        let id = browser
            .script(&format!("return document.querySelector('{CELL}').id"), &[])
            .await;
        let key = format!("{}.selected", id.as_str().expect("an id"));
        let values = [(key, json!(["harbour", 40]))].into_iter().collect();
        let state = cells::state::encode(&values).expect("it fits into a link");
        browser
            .open_ready(&server.url(&format!("#?s={state}")))
            .await
            .expect("the link opens");
        wait_for_selected(browser, "the", "instead").await;
    });
}
