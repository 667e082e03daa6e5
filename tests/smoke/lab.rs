//! The lab opens a small model from an address and writes with it.

use browser_harness::Habits;
use serde_json::Value;

use super::browser::{Browser, Found};
use super::file_host::FileHost;
use super::readme::{Ability, assert_in_readme};
use super::site;

/// The path of the model on its host.
const MODEL: &str = "/models/story.gguf";

#[test]
fn chromium_opens_a_model_in_the_lab() {
    open(&Found::Chromium);
}

#[test]
fn firefox_opens_a_model_in_the_lab() {
    if let Some(firefox) = Found::firefox() {
        open(&firefox);
    }
}

#[test]
fn webkitgtk_opens_a_model_in_the_lab() {
    if let Some(webkit) = Found::webkit() {
        open(&webkit);
    }
}

#[track_caller]
fn open(found: &Found) {
    let (Some(model), Some(expected)) = (
        skip::shared("data/stories260K/stories260K-f32.gguf"),
        skip::shared("data/stories260K/expected_greedy.json"),
    ) else {
        return;
    };
    let bytes = std::fs::read(model).expect("it can be read");
    let expected = std::fs::read_to_string(expected).expect("it can be read");
    let expected: Value = serde_json::from_str(&expected).expect("JSON");
    let expected = expected["text"].as_str().expect("a text");
    let host = FileHost::start(vec![(MODEL, bytes)]);
    let server = site::serve(Habits::ROOT);
    found.run(async |browser| {
        browser.open_ready(&server.url("lab/")).await;
        fetch(browser, &host.url(MODEL)).await;
        let facts = text_of(browser, ".lab-facts").await;
        println!("{}: {facts}", found.name());
        for fact in ["story.gguf", "Llama", "GGUF", "1.1 MB", "thread"] {
            assert!(facts.contains(fact), "{fact}: {facts}");
        }
        let story = write(browser).await;
        assert!(story.len() > 100 && expected.starts_with(&story), "{story}");

        let storage = text_of(browser, ".lab-storage").await;
        println!("{}: {storage}", found.name());
        assert_in_readme(
            found,
            Ability::Storage,
            storage.contains("is kept on this device"),
        );
        let complaints = browser.complaints().await;
        assert!(complaints.is_empty(), "{complaints:#?}");
    });
}

/// Types an address, says yes to what the lab asks, and waits for the model.
async fn fetch(browser: &Browser, url: &str) {
    browser.set(".lab [name=url]", url).await;
    browser.click(&button("Fetch and open")).await;
    browser.click(&button("Fetch it")).await;
    let is_open = "return !!document.querySelector('.lab-facts, .lab .cell-error')";
    browser.wait_for("the model", is_open).await;
    assert_eq!(text_of(browser, ".lab .cell-error").await, "");
}

/// Has the model write without chance, and returns what it wrote.
async fn write(browser: &Browser) -> String {
    for (name, value) in [
        ("prompt", ""),
        ("temperature", "0"),
        ("top-k", ""),
        ("top-p", ""),
        ("penalty", "1"),
        ("new", "60"),
    ] {
        browser.set(&format!(".lab [name='{name}']"), value).await;
    }
    browser.click(&button("Write")).await;
    let ended = "return [...document.querySelectorAll('.lab [role=status]')]
        .some(status => status.textContent.startsWith('The text ended'))";
    browser.wait_for("the text to end", ended).await;
    text_of(browser, ".lab-output .written").await
}

/// The text of the first element of a selector.
async fn text_of(browser: &Browser, selector: &str) -> String {
    let script = format!("return document.querySelector('{selector}')?.textContent ?? ''");
    browser.text(&script).await
}

/// The expression for a button with this text.
fn button(text: &str) -> String {
    format!(
        "[...document.querySelectorAll('button')].find(button => button.textContent === '{text}')"
    )
}
