//! What a reader does with a lesson's code: goes from Rust to PyTorch by mouse or keys, with scripts
//! or without.

use super::browser::Browser;
use super::reader::click;
use fantoccini::Locator;
use fantoccini::key::Key;
use serde_json::{Value, json};

/// A script: leads to the code, and tells whether the page is live and nothing has moved it for eight
/// questions in a row. A label that a cell above moves is missed by a press.
const STILL: &str = "
    if (!('live' in document.documentElement.dataset) || document.fonts.status !== 'loaded') return false;
    const label = document.querySelector('.code-block .is-torch + label');
    label.scrollIntoView({ block: 'center', behavior: 'instant' });
    const { top } = label.getBoundingClientRect();
    const at = top + scrollY;
    globalThis.still = globalThis.stillAt === at ? globalThis.still + 1 : 0;
    globalThis.stillAt = at;
    return globalThis.still >= 8";

/// Waits until the block of a page shows the one language and hides the other.
async fn wait_for_shown(browser: &Browser, shown: &str, page: &str) {
    let condition = format!(
        "const block = document.querySelector('.code-block');
         const is_shown = name => getComputedStyle(block.querySelector('.' + name)).display !== 'none';
         return is_shown('{shown}') && is_shown('rust') !== is_shown('torch')"
    );
    let what = format!("{page} to show {shown}");
    browser.wait_for(&what, &condition).await;
}

/// Goes to PyTorch by the mouse, back by an arrow key, and there again. `guess.rs` opens the lessons.
pub(crate) async fn switch(browser: &Browser, page: &str) {
    browser.wait_for("the page to be still", STILL).await;
    wait_for_shown(browser, "rust", page).await;
    click(browser, Locator::Css(".code-block .is-torch + label")).await;
    wait_for_shown(browser, "torch", page).await;
    for (from, key, shown) in [
        (".is-torch", Key::Left, "rust"),
        (".is-rust", Key::Right, "torch"),
    ] {
        let name = format!(".code-block {from}");
        let radio = browser.client().find(Locator::Css(&name)).await;
        let radio = radio.expect("a choice");
        radio.send_keys(&key.to_string()).await.expect("a key");
        wait_for_shown(browser, shown, page).await;
    }
}

/// The computed `display` of an element, asked of the browser where the page runs no script.
async fn display(browser: &Browser, selector: &str) -> String {
    let node = node(browser, selector).await;
    let style = json!({ "nodeId": node });
    let style = browser.devtools("CSS.getComputedStyleForNode", style).await;
    let all = style["computedStyle"].as_array().expect("a list of styles");
    let display = all.iter().find(|style| style["name"] == "display");
    display.expect("a display")["value"]
        .as_str()
        .expect("a text")
        .to_owned()
}

/// The browser's number of an element.
async fn node(browser: &Browser, selector: &str) -> Value {
    let document = browser.devtools("DOM.getDocument", json!({})).await;
    let wanted = json!({ "nodeId": document["root"]["nodeId"], "selector": selector });
    let found = browser.devtools("DOM.querySelector", wanted).await;
    found["nodeId"].clone()
}

/// Which of the two languages are shown.
async fn shown(browser: &Browser) -> [bool; 2] {
    let mut shown = [false; 2];
    for (shown, name) in shown
        .iter_mut()
        .zip([".code-block .rust", ".code-block .torch"])
    {
        *shown = display(browser, name).await != "none";
    }
    shown
}

/// Presses a key where the radio button of a language is.
async fn press(browser: &Browser, from: &str, key: &str, code: u8) {
    let node = node(browser, from).await;
    browser
        .devtools("DOM.focus", json!({ "nodeId": node }))
        .await;
    for kind in ["rawKeyDown", "keyUp"] {
        let event = json!({ "type": kind, "key": key, "windowsVirtualKeyCode": code });
        browser.devtools("Input.dispatchKeyEvent", event).await;
    }
}

/// Without scripts, the code of the open lesson is switched by keys, and paper shows all of it.
/// `noscript.rs` opens the lessons.
pub(crate) async fn assert_switched_and_printed(browser: &Browser, page: &str) {
    for domain in ["DOM.enable", "CSS.enable"] {
        browser.devtools(domain, json!({})).await;
    }
    assert_eq!(shown(browser).await, [true, false], "{page}");
    press(browser, ".code-block .is-rust", "ArrowRight", 39).await;
    assert_eq!(shown(browser).await, [false, true], "{page}");
    press(browser, ".code-block .is-torch", "ArrowLeft", 37).await;
    assert_eq!(shown(browser).await, [true, false], "{page}");
    for (media, expected) in [("print", [true, true]), ("", [true, false])] {
        let media = json!({ "media": media });
        browser.devtools("Emulation.setEmulatedMedia", media).await;
        assert_eq!(shown(browser).await, expected, "{page}");
    }
}
