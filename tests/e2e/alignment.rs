//! The lesson on alignment as a reader uses it: a sentence of one's own, a word chosen with mouse and
//! keys, and an alignment that is learned.

use fantoccini::Locator;
use fantoccini::key::Key;
use serde_json::json;

use super::browser::{Browser, Look, with_browser};
use super::reader::click;
use super::site;
use browser_harness::{Habits, Server};

const SENTENCE: Locator<'static> = Locator::Css("#alignment-lines textarea");
const SOURCE: &str = "#alignment-lines .alignment-source .token";
const TARGET: &str = "#alignment-lines .alignment-target .token";

async fn open(browser: &Browser, server: &Server, look: Look) {
    browser.look(look).await;
    browser
        .open_ready(&server.url(&site::lesson("alignment")))
        .await
        .expect("the lesson works");
}

/// Types a sentence and waits until its words stand there.
async fn translate(browser: &Browser, sentence: &str, words: &[&str]) {
    let field = browser.client().find(SENTENCE).await.expect("a text box");
    field.clear().await.expect("it can be emptied");
    field.send_keys(sentence).await.expect("it can be typed in");
    let words = json!(words);
    let there = format!(
        "return document.getElementById('alignment-lines').dataset.state === 'ready'
            && JSON.stringify([...document.querySelectorAll('{SOURCE}')].map(e => e.textContent.trim())) === JSON.stringify({words})"
    );
    browser.wait_for("the words that were typed", &there).await;
}

/// The shares of the source words, in percent.
async fn shares(browser: &Browser) -> Vec<f64> {
    let all = browser
        .texts("#alignment-lines .alignment-share .num")
        .await;
    all.iter()
        .map(|text| {
            let digits = text.trim_end_matches('%').trim();
            digits
                .parse()
                .unwrap_or_else(|_| panic!("{text} is no share"))
        })
        .collect()
}

/// Waits until these target words are the chosen ones.
async fn wait_for_chosen(browser: &Browser, words: &[String]) {
    let condition = format!(
        "return [...document.querySelectorAll(\"{TARGET}[aria-pressed=true]\")]
            .map(word => word.textContent.trim()).join(' ') === {}",
        serde_json::json!(words.join(" "))
    );
    let what = format!("{words:?} to be chosen");
    browser.wait_for(&what, &condition).await;
}

#[test]
fn a_word_of_the_translation_shows_its_lines() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open(browser, &server, Look::DESK_LIGHT).await;
        translate(
            browser,
            "She has a white cat.",
            &["she", "has", "a", "white", "cat"],
        )
        .await;
        let written = browser.texts("#alignment-lines .translation").await;
        let target = browser.texts(TARGET).await;
        assert_eq!(
            target.last().map(String::as_str),
            Some("\u{27e8}end\u{27e9}")
        );
        assert_eq!(written, [target[..target.len() - 1].join(" ")]);

        // The lesson's own word is not in this translation: the first one is chosen. What it takes
        // of all words is all of it.
        wait_for_chosen(browser, &target[..1]).await;
        let first = shares(browser).await;
        assert_eq!(first.len(), 5);
        assert!(
            (first.iter().sum::<f64>() - 100.0).abs() <= 3.0,
            "{first:?}"
        );
        // A line is 0.75 pixels wide and 9.25 times its weight; those of other words are behind.
        let strongest =
            "return Math.max(...[...document.querySelectorAll('#alignment-lines .alignment path:not(.is-behind)')]
            .map(p => (Number(p.getAttribute('stroke-width')) - 0.75) / 9.25))";
        let strongest = browser
            .script(strongest, &[])
            .await
            .as_f64()
            .expect("lines");
        let largest = first.iter().copied().fold(0.0, f64::max);
        assert!(
            (strongest * 100.0 - largest).abs() <= 1.0,
            "{strongest} {first:?}"
        );

        // With the mouse: another word.
        click(browser, Locator::Css(&format!("{TARGET}[data-at='0,1']"))).await;
        wait_for_chosen(browser, &target[1..2]).await;
        assert_ne!(shares(browser).await, first);

        // With the keys: on to the next word.
        let active = browser.client().active_element().await.expect("a focus");
        active
            .send_keys(&Key::Right.to_string())
            .await
            .expect("a key");
        let moved = "return document.activeElement?.dataset.at === '0,2'";
        browser.wait_for("the focus on the next word", moved).await;
        let active = browser.client().active_element().await.expect("a focus");
        active
            .send_keys(&Key::Enter.to_string())
            .await
            .expect("a key");
        wait_for_chosen(browser, &target[2..3]).await;

        // The same word again: no word is chosen, and all lines are drawn in full.
        click(browser, Locator::Css(&format!("{TARGET}[data-at='0,2']"))).await;
        wait_for_chosen(browser, &[]).await;
        assert!(shares(browser).await.is_empty());
    });
}

#[test]
fn pieces_are_shown_when_asked_for_and_an_empty_sentence_is_not_translated() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open(browser, &server, Look::PHONE_DARK).await;
        let words = ["the", "photographer", "was", "astonished"];
        translate(browser, "The photographer was astonished", &words).await;
        click(
            browser,
            Locator::Css("#alignment-lines .segment:has(input[value=pieces])"),
        )
        .await;
        let more = format!("return document.querySelectorAll('{SOURCE}').length > 4");
        browser.wait_for("pieces", &more).await;
        let pieces = browser.texts(SOURCE).await.concat().replace('-', "");
        assert_eq!(pieces, words.concat());

        let field = browser.client().find(SENTENCE).await.expect("a text box");
        field.clear().await.expect("it can be emptied");
        field.send_keys(" ").await.expect("it can be typed in");
        let refused = "return document.getElementById('alignment-lines').dataset.state === 'error'";
        browser.wait_for("a message", refused).await;
    });
}

/// Ten updates lower the loss; back at the beginning every digit is as it was.
#[test]
fn scores_follow_the_gradient_and_come_back() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open(browser, &server, Look::DESK_LIGHT).await;
        let all = "#alignment-gradient .readout .num";
        let loss = "#alignment-gradient .readout [data-from=loss]";
        let (before, high) = (browser.texts(all).await, browser.texts(loss).await);
        click(
            browser,
            Locator::XPath("//section[@id='alignment-gradient']//button[.='Ten updates']"),
        )
        .await;
        let changed = format!(
            "return document.querySelector('{loss}').textContent.trim() !== {}",
            json!(high[0])
        );
        browser.wait_for("another loss", &changed).await;
        let low = browser.texts(loss).await;
        let number = |text: &str| text.parse::<f64>().expect("a loss");
        assert!(number(&low[0]) < number(&high[0]), "{low:?} {high:?}");
        click(
            browser,
            Locator::XPath("//section[@id='alignment-gradient']//button[.='Reset the scores']"),
        )
        .await;
        let back = format!(
            "return document.querySelector('{loss}').textContent.trim() === {}",
            json!(high[0])
        );
        browser.wait_for("the loss of the beginning", &back).await;
        assert_eq!(browser.texts(all).await, before);
    });
}
