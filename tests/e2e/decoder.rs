//! The lesson on decoders as a reader uses its cells: cuts before a draw, guesses against the models,
//! a text at another temperature, more tokens with a cache, and a larger GPT.

use fantoccini::Locator;
use fantoccini::key::Key;

use super::browser::with_browser;
use super::reader::{click, open_lesson, press, wait_until};
use super::site;
use browser_harness::Habits;

/// A lower temperature leaves one word, which all draws then are.
#[test]
fn the_best_word_alone_survives_the_cold() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "decoder-only").await;
        let cell = "sampling";
        wait_until(browser, cell, "survivors", "text === '2'").await;
        // The temperature is the first of the sliders.
        let tau = "#sampling .slider input[type=range]";
        press(browser, tau, &[Key::Home]).await;
        wait_until(browser, cell, "survivors", "text === '1'").await;
        wait_until(browser, cell, "counts[0]", "text === '12'").await;
        press(browser, tau, &[Key::End]).await;
        wait_until(browser, cell, "survivors", "Number(text) > 4").await;
        let complaints = browser.complaints(&server.origin()).await;
        assert!(complaints.is_empty(), "{complaints:?}");
    });
}

/// Each guess adds bits for all, and a new start takes them back.
#[test]
fn a_reader_races_the_models() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "decoder-only").await;
        let cell = "race-the-model";
        wait_until(browser, cell, "answered", "text === '0'").await;
        let first = "#race-the-model [role=group] .button";
        for guessed in 1..=8 {
            click(browser, Locator::Css(first)).await;
            wait_until(browser, cell, "answered", &format!("text === '{guessed}'")).await;
        }
        // An even guess costs two bits a word.
        wait_until(browser, cell, "totals[3]", "text === '16.0'").await;
        wait_until(browser, cell, "totals[1]", "parseFloat(text) > 9").await;
        wait_until(browser, cell, "totals[2]", "parseFloat(text) > 20").await;
        click(browser, Locator::Css("#race-the-model .button.quiet")).await;
        wait_until(browser, cell, "answered", "text === '0'").await;
        wait_until(browser, cell, "totals[1]", "text === '0'").await;
    });
}

/// At temperature 0 the drawn text is the greedy one.
#[test]
fn a_text_without_chance_is_the_greedy_one() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "decoder-only").await;
        let cell = "write-on";
        wait_until(browser, cell, "greedy.repeated", "parseFloat(text) > 50").await;
        wait_until(browser, cell, "drawn.repeated", "parseFloat(text) < 10").await;
        press(browser, "#write-on .slider input[type=range]", &[Key::Home]).await;
        wait_until(browser, cell, "drawn.repeated", "parseFloat(text) > 50").await;
        browser
            .wait_for(
                "the same text twice",
                "const text = name => document.querySelector(`#write-on [data-from='${name}.text[0]']`).textContent;
                 return text('greedy') === text('drawn')",
            )
            .await;
    });
}

/// Twice the tokens without a cache are four times the work; a single head of keys and values keeps an
/// eighth of the bytes.
#[test]
fn more_tokens_and_fewer_heads() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "decoder-only").await;
        let cell = "kv-race";
        wait_until(browser, cell, "bytes", "text === '32,768'").await;
        press(browser, "#kv-race .slider input[type=range]", &[Key::End]).await;
        wait_until(browser, cell, "bytes", "text === '65,536'").await;
        wait_until(browser, cell, "ratio", "parseFloat(text) > 25").await;
        click(
            browser,
            Locator::Css("#kv-race .choice .segment:last-of-type"),
        )
        .await;
        wait_until(browser, cell, "bytes", "text === '8,192'").await;
    });
}
