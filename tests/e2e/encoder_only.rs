//! The lesson on encoders as a reader uses its cells: another word hidden, a sentence with the hint
//! before the word, many throws of the dice, and heads that are trained to their last step.

use fantoccini::key::Key;

use super::browser::with_browser;
use super::reader::{open_lesson, press, wait_until};
use super::site;
use browser_harness::Habits;

/// The first word has nothing on its left: tiny-gpt gives it almost nothing.
#[test]
fn another_word_is_hidden() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "encoder-only").await;
        let cell = "masked-word";
        wait_until(browser, cell, "bert.right", "parseFloat(text) > 20").await;
        wait_until(browser, cell, "gpt.right", "parseFloat(text) < 1").await;
        wait_until(browser, cell, "tokens[4]", "text === '[MASK]'").await;
        let slider = "#masked-word .slider input[type=range]";
        press(browser, slider, &[Key::Home]).await;
        wait_until(browser, cell, "tokens[1]", "text === '[MASK]'").await;
        let complaints = browser.complaints(&server.origin()).await;
        assert!(complaints.is_empty(), "{complaints:?}");
    });
}

/// A thousand readings come near the rule.
#[test]
fn the_dice_are_thrown_many_times() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "encoder-only").await;
        let cell = "masking-dice";
        wait_until(browser, cell, "counts[0]", "text === '5'").await;
        let slider = "#masking-dice .slider input[type=range]";
        press(browser, slider, &[Key::End]).await;
        wait_until(
            browser,
            cell,
            "shares[0]",
            "Math.abs(parseFloat(text) - 15) < 1.5",
        )
        .await;
        wait_until(
            browser,
            cell,
            "shares[1]",
            "Math.abs(parseFloat(text) - 80) < 4",
        )
        .await;
    });
}

/// Over the reviews no head is good; the tense of new verbs is known to tiny-bert's.
#[test]
fn heads_learn_over_frozen_features() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "encoder-only").await;
        for cell in ["fine-tune", "tense"] {
            // It may have begun by itself: then it is left alone.
            let start = format!(
                "const start = document.querySelector('#{cell} [data-train=start]');
                 start.scrollIntoView({{ block: 'center', behavior: 'instant' }});
                 if (start.textContent === 'Start') start.click()"
            );
            browser.script(&start, &[]).await;
            wait_until(browser, cell, "steps", "text === '200'").await;
            wait_until(browser, cell, "training.bert", "parseFloat(text) === 100").await;
        }
        wait_until(browser, "fine-tune", "test.bert", "parseFloat(text) < 70").await;
        wait_until(browser, "tense", "test.bert", "parseFloat(text) >= 80").await;
    });
}
