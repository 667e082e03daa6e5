//! The search: opened by its button and by a key, worked with keys, and offline.

use fantoccini::Locator;
use serde_json::json;

use super::browser::{Browser, Look, with_browser};
use super::reader::click;
use super::site;
use browser_harness::Habits;

const DOWN: &str = "\u{e015}";
const UP: &str = "\u{e013}";
const ENTER: &str = "\u{e007}";
const ESCAPE: &str = "\u{e00c}";

const IS_OPEN: &str = "return !!document.querySelector('#search-dialog[open]')";

async fn press(browser: &Browser, keys: &str) {
    let focused = browser.client().active_element().await;
    let focused = focused.expect("something has the focus");
    focused.send_keys(keys).await.expect("keys are sent");
}

async fn fetched(browser: &Browser) -> serde_json::Value {
    let script = "return performance.getEntriesByType('resource')
        .filter(entry => entry.name.endsWith('/search.txt')).length";
    browser.script(script, &[]).await
}

async fn wait_for_results(browser: &Browser) {
    let some = "return document.querySelectorAll('.search-results a').length > 0";
    browser.wait_for("results", some).await;
}

#[test]
fn a_key_opens_the_search_and_keys_lead_to_a_section() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        let opened = browser.open_ready(&server.url("")).await;
        opened.expect("the home page works");
        assert_eq!(fetched(browser).await, json!(0), "nothing comes unasked");
        press(browser, "/").await;
        browser.wait_for("the search", IS_OPEN).await;
        press(browser, "Softmax").await;
        wait_for_results(browser).await;
        assert_eq!(fetched(browser).await, json!(1));
        let marked = "return [...document.querySelectorAll('.search-results li:first-child mark')]
            .every(mark => mark.textContent.toLowerCase().startsWith('softmax'))
            && !!document.querySelector('.search-results mark')";
        assert_eq!(browser.script(marked, &[]).await, json!(true));

        press(browser, DOWN).await;
        press(browser, DOWN).await;
        let at = "return [...document.querySelectorAll('.search-results a')].indexOf(document.activeElement)";
        assert_eq!(browser.script(at, &[]).await, json!(1));
        press(browser, UP).await;
        press(browser, UP).await;
        let in_field = "return document.activeElement.matches('#search-dialog input')";
        assert_eq!(browser.script(in_field, &[]).await, json!(true));

        let first = browser
            .script(
                "return document.querySelector('.search-results a').href",
                &[],
            )
            .await;
        press(browser, ENTER).await;
        let there = format!("return location.href === {first}");
        browser.wait_for("the first result", &there).await;
        assert_eq!(browser.script(IS_OPEN, &[]).await, json!(false));
    });
}

#[test]
fn the_button_opens_it_escape_closes_it_and_the_key_can_be_switched_off() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::PHONE_LIGHT).await;
        browser
            .open_ready(&server.url("map/"))
            .await
            .expect("the map works");
        click(browser, Locator::Css(".search-open")).await;
        browser.wait_for("the search", IS_OPEN).await;
        press(browser, "zebra crossing").await;
        browser
            .wait_for(
                "the message",
                "return document.querySelector('#search-dialog [role=status]').textContent.startsWith('Nothing found')",
            )
            .await;
        let wide = "return document.documentElement.scrollWidth <= innerWidth";
        assert_eq!(browser.script(wide, &[]).await, json!(true));
        click(browser, Locator::Css(".search-key input")).await;
        press(browser, ESCAPE).await;
        browser
            .wait_for(
                "its end",
                "return !document.querySelector('#search-dialog[open]')",
            )
            .await;
        let back = "return document.activeElement.matches('.search-open')";
        assert_eq!(browser.script(back, &[]).await, json!(true));
        press(browser, "/").await;
        assert_eq!(
            browser.script(IS_OPEN, &[]).await,
            json!(false),
            "switched off"
        );
    });
}

#[test]
fn without_scripts_there_is_no_button() {
    let server = site::serve(Habits::ROOT);
    let (_, home) = server.get("").expect("an answer");
    let button = home.split("search-open").nth(1).expect("the button");
    assert!(
        button
            .split('>')
            .next()
            .unwrap_or_default()
            .contains("hidden")
    );
}
