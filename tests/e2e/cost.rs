//! The lesson on cost as a reader uses its cells: another text, a measurement, scores read one by
//! one, another mask and another model.

use fantoccini::Locator;
use fantoccini::key::Key;

use super::browser::with_browser;
use super::models::choose;
use super::reader::{click, open_lesson, press, wait_for_shown};
use super::site;
use browser_harness::Habits;

/// A long text does 32 times the work of a recurrence.
#[test]
fn an_example_sets_both_sliders() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "cost").await;
        let cell = "count-the-work";
        wait_for_shown(browser, cell, "attention.multiplications", "2,560,000").await;
        let last = "//section[@id='count-the-work']//div[@role='group']//button[last()]";
        click(browser, Locator::XPath(last)).await;
        wait_for_shown(browser, cell, "ratio", "32").await;
        wait_for_shown(browser, cell, "recurrent.sequential", "131,072").await;
        // The sliders have equal ratios along them: from 131,072 to the shortest text.
        press(
            browser,
            "#count-the-work .slider input[type=range]",
            &[Key::Home],
        )
        .await;
        wait_for_shown(browser, cell, "recurrent.sequential", "2").await;
        wait_for_shown(browser, cell, "scores", "4").await;
    });
}

/// A measurement gives an exponent with its error for both layers; how large they are is the
/// machine's affair.
#[test]
fn both_layers_are_measured() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "cost").await;
        let cell = "measure-attention";
        wait_for_shown(browser, cell, "attention.four", "16").await;
        wait_for_shown(browser, cell, "recurrence.four", "4").await;
        click(browser, Locator::Css("#measure-attention [data-measure]")).await;
        let measured = "const numbers = [...document.querySelectorAll('#measure-attention [data-measured] .num')];
            return numbers.length === 6 && numbers.every(number => /^\\d+\\.\\d+$/.test(number.textContent.trim()))
                && numbers.every(number => number.dataset.from.startsWith('time:'))";
        browser.wait_for("both exponents", measured).await;
        let done = "return !document.querySelector('#measure-attention [data-measure]').hasAttribute('aria-disabled')";
        browser.wait_for("the end", done).await;
        // Another dimension has other times.
        press(
            browser,
            "#measure-attention .slider input[type=range]",
            &[Key::Home],
        )
        .await;
        let none =
            "return [...document.querySelectorAll('#measure-attention [data-measured] .num')]
            .every(number => number.textContent.trim() === '\u{2013}')";
        browser.wait_for("no times", none).await;
        let complaints = browser.complaints(&server.origin()).await;
        assert!(complaints.is_empty(), "{complaints:?}");
    });
}

/// The last output is that of the whole row.
#[test]
fn scores_are_read_to_the_end() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "cost").await;
        let cell = "online-softmax";
        wait_for_shown(browser, cell, "factor[2]", "0.135").await;
        let more = "//section[@id='online-softmax']//button[normalize-space()='Read one more']";
        for n in 3..6 {
            let unread = format!(
                "return !document.querySelector(\"#online-softmax [data-from='sum[{n}]']\")"
            );
            browser.wait_for("a score to read", &unread).await;
            click(browser, Locator::XPath(more)).await;
        }
        wait_for_shown(browser, cell, "outputs[5,0]", "0.300").await;
        wait_for_shown(browser, cell, "dense[0]", "0.300").await;
        wait_for_shown(browser, cell, "held.online", "66").await;
    });
}

#[test]
fn another_mask_and_another_model_are_chosen() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "cost").await;
        let cell = "window-reach";
        wait_for_shown(browser, cell, "layers", "8").await;
        choose(browser, cell, "window and strides").await;
        wait_for_shown(browser, cell, "layers", "2").await;
        choose(browser, cell, "blocks").await;
        let never =
            "return document.querySelector('#window-reach .verdict').textContent.includes('never')";
        browser.wait_for("blocks that never reach", never).await;
        // The exercise on this cell has both of its numbers for every mask.
        let both = "const exercise = document.querySelector('#exercise-cheap-and-near');
            exercise.scrollIntoView();
            const said = exercise.textContent;
            return said.includes('64') && !said.includes('no value with these inputs')";
        browser.wait_for("the numbers of the goal", both).await;

        let cell = "memory-needed";
        wait_for_shown(browser, cell, "parameters", "8,030,261,248").await;
        choose(browser, cell, "GPT-2").await;
        wait_for_shown(browser, cell, "parameters", "124,439,808").await;
        wait_for_shown(browser, cell, "cache.token", "36,864").await;
        let complaints = browser.complaints(&server.origin()).await;
        assert!(complaints.is_empty(), "{complaints:?}");
    });
}
