//! The whole model on one screen as a reader uses it: parts are opened, a number leads to its sum,
//! a factor of the sum to where it came from, and the text grows token by token.

use fantoccini::Locator;
use fantoccini::key::Key;
use serde_json::json;

use super::browser::{Browser, with_browser};
use super::reader::{click, open_lesson, press};
use super::site;
use browser_harness::Habits;

const SLUG: &str = "decoder-only";

/// Waits until a condition holds on the cell; `cell` is its name in the condition.
async fn wait_until(browser: &Browser, condition: &str) {
    let script = format!(
        "const cell = document.querySelector('#whole-model');
         return cell.dataset.state === 'ready' && !!({condition})"
    );
    browser.wait_for(condition, &script).await;
}

/// The words of the chosen buttons of the drawing, such as `Block 4, scores`.
const CHOSEN: &str = "[...cell.querySelectorAll('.rail [aria-pressed=true]')].map(b => b.textContent.trim()).join(', ')";

async fn wait_for_chosen(browser: &Browser, expected: &str) {
    wait_until(browser, &format!("{CHOSEN} === {}", json!(expected))).await;
}

/// A text that the cell shows of its result.
async fn shown(browser: &Browser, from: &str) -> String {
    let script = format!(
        "return document.querySelector(\"#whole-model [data-from='{from}']\").textContent.trim()"
    );
    let text = browser.script(&script, &[]).await;
    text.as_str().unwrap_or_default().to_owned()
}

/// From a score by its first factor to the query, and by that one's to the norm; each number is the
/// one that was pressed.
#[test]
fn a_number_leads_back_to_where_it_came_from() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, SLUG).await;
        wait_for_chosen(browser, "Block 4, scores").await;
        for expected in ["Block 4, Q", "Block 4, norm"] {
            let factor = shown(browser, "terms[2,0]").await;
            click(
                browser,
                Locator::Css("#whole-model .term-origin[data-at='2,0']"),
            )
            .await;
            wait_for_chosen(browser, expected).await;
            let condition = format!(
                "cell.querySelector('[data-from=value]').textContent.trim() === {}",
                json!(factor)
            );
            wait_until(browser, &condition).await;
        }
        // The first step of a norm is the number before it, in the stream of the block below.
        click(browser, Locator::Css("#whole-model .sum .term-origin")).await;
        wait_for_chosen(browser, "Block 3, +").await;
        let complaints = browser.complaints(&server.origin()).await;
        assert!(complaints.is_empty(), "{complaints:?}");
    });
}

/// The walk leads from part to part and over the border of a block; a press on the map opens a
/// number.
#[test]
fn parts_are_opened_one_after_the_other_and_numbers_by_a_press() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, SLUG).await;
        wait_for_chosen(browser, "Block 4, scores").await;
        click(browser, Locator::Css("#whole-model [data-whole=next]")).await;
        wait_for_chosen(browser, "Block 4, weights").await;
        let number = "#whole-model .heat-table [data-at='4,1']";
        click(browser, Locator::Css(number)).await;
        wait_until(
            browser,
            "cell.querySelector('.heat-table [data-at=\"4,1\"]').matches('.is-selected')",
        )
        .await;
        assert!(!shown(browser, "terms[1,2]").await.is_empty());
        click(
            browser,
            Locator::Css("#whole-model .whole-stages li:first-child button"),
        )
        .await;
        wait_for_chosen(browser, "Embedding, E").await;
        click(
            browser,
            Locator::Css("#whole-model .whole-stages li:last-child button"),
        )
        .await;
        wait_for_chosen(browser, "Prediction, softmax").await;
        click(browser, Locator::Css("#whole-model [data-whole=back]")).await;
        wait_for_chosen(browser, "Prediction, logits").await;
    });
}

/// Without a pointer: arrow keys walk the buttons and the map, and Enter opens.
#[test]
fn the_keyboard_alone_opens_parts_and_numbers() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, SLUG).await;
        wait_for_chosen(browser, "Block 4, scores").await;
        let stage = "#whole-model .whole-stages [tabindex='0']";
        press(browser, stage, &[Key::Left, Key::Left, Key::Enter]).await;
        wait_for_chosen(browser, "Block 2, scores").await;
        let map = "#whole-model .heat-table [tabindex='0']";
        press(
            browser,
            map,
            &[Key::Down, Key::Down, Key::Right, Key::Enter],
        )
        .await;
        wait_until(
            browser,
            "cell.querySelector('.heat-table [data-at=\"2,1\"]').matches('.is-selected')",
        )
        .await;
        let factor = "#whole-model .term-origin[tabindex='0']";
        press(browser, factor, &[Key::Down, Key::Right, Key::Enter]).await;
        wait_for_chosen(browser, "Block 2, K").await;
    });
}

/// The text grows by the token that is taken, and by one that is drawn; the bars are those of the
/// longer text.
#[test]
fn the_text_grows_token_by_token() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, SLUG).await;
        wait_for_chosen(browser, "Block 4, scores").await;
        let text = "cell.querySelector('textarea').value";
        click(browser, Locator::Css("#whole-model [data-whole=take]")).await;
        wait_until(browser, &format!("{text} === 'The dog ran after the dog'")).await;
        wait_until(
            browser,
            "cell.querySelectorAll('.heat-table tbody tr').length === 7",
        )
        .await;
        // At the lowest temperature the first bar has nearly everything.
        press(
            browser,
            "#whole-model .slider input[type=range]",
            &[Key::Home],
        )
        .await;
        let first = "parseFloat(cell.querySelector('[data-from=\"next.probabilities[0]\"]').textContent) > 50";
        wait_until(browser, first).await;
        // Either the text grows or the cell says why not.
        let grown = format!("{text} !== 'The dog ran after the dog'");
        let refused = "cell.querySelector('.whole-top .hint')";
        click(browser, Locator::Css("#whole-model [data-whole=draw]")).await;
        wait_until(browser, &format!("{grown} || {refused}")).await;
    });
}
