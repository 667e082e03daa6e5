//! The lesson on the residual stream as a reader uses its cells: stacks that learn side by side, a
//! sub-layer that is switched off, a vector in space, another sentence in the batch, and more blocks.

use fantoccini::Locator;
use fantoccini::key::Key;

use super::browser::with_browser;
use super::reader::{click, open_lesson, press, wait_until};
use super::site;
use super::training::{readout_of, wait_for_steps_of};
use browser_harness::Habits;

/// After a few hundred steps only the deep plain stack is behind.
#[test]
fn only_the_deep_plain_stack_does_not_learn() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "residual-and-norm").await;
        let start = "#deep-plain-stack [data-train=start]";
        click(browser, Locator::Css(start)).await;
        wait_for_steps_of(browser, "deep-plain-stack", "> 280").await;
        click(browser, Locator::Css(start)).await;
        for name in [
            "plain.shallow.right",
            "residual.shallow.right",
            "residual.deep.right",
        ] {
            assert_eq!(
                readout_of(browser, "deep-plain-stack", name).await,
                "96",
                "{name}"
            );
        }
        assert_ne!(
            readout_of(browser, "deep-plain-stack", "plain.deep.right").await,
            "96"
        );
    });
}

/// Without the first attention the prediction is lost, and comes back with it.
#[test]
fn a_sub_layer_is_switched_off_and_on() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "residual-and-norm").await;
        let cell = "residual-stream";
        wait_until(browser, cell, "first.now", "parseFloat(text) > 50").await;
        // The lowest row but the embedding.
        let first = "#residual-stream .bus tbody tr:nth-last-child(2) input";
        click(browser, Locator::Css(first)).await;
        wait_until(browser, cell, "added[0]", "text === '0'").await;
        wait_until(browser, cell, "first.now", "parseFloat(text) < 1").await;
        click(browser, Locator::Css(first)).await;
        wait_until(browser, cell, "first.now", "parseFloat(text) > 50").await;
    });
}

/// A vector that is moved in space stays on the circle; another sentence moves only batch norm.
#[test]
fn a_vector_is_moved_and_the_other_sentence_gets_longer() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "residual-and-norm").await;
        let cell = "layer-norm-circle";
        wait_until(browser, cell, "layer[0]", "text === '\u{2212}1.409'").await;
        press(
            browser,
            "#layer-norm-circle .plane-tip",
            &[Key::Right, Key::Right, Key::Right],
        )
        .await;
        wait_until(browser, cell, "layer[0]", "text !== '\u{2212}1.409'").await;
        wait_until(browser, cell, "length.layer", "text === '1.732'").await;
        wait_until(browser, cell, "length.rms", "text === '1.732'").await;

        let cell = "batch-norm-moves";
        wait_until(browser, cell, "batch.moved", "text === '0'").await;
        press(
            browser,
            "#batch-norm-moves .slider input[type=range]",
            &[Key::End],
        )
        .await;
        wait_until(browser, cell, "batch.moved", "parseFloat(text) > 0.2").await;
        wait_until(browser, cell, "layer.moved", "text === '0'").await;
        let complaints = browser.complaints(&server.origin()).await;
        assert!(complaints.is_empty(), "{complaints:?}");
    });
}

/// With 48 blocks the last gradient of pre-norm is below half of that of one block.
#[test]
fn more_blocks_make_the_last_gradient_of_pre_norm_smaller() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "residual-and-norm").await;
        let cell = "norm-and-depth";
        wait_until(browser, cell, "ratio.before", "parseFloat(text) > 0.55").await;
        press(
            browser,
            "#norm-and-depth .slider input[type=range]",
            &[Key::End],
        )
        .await;
        wait_until(browser, cell, "ratio.before", "parseFloat(text) < 0.5").await;
        wait_until(browser, cell, "ratio.after", "parseFloat(text) > 0.9").await;
    });
}
