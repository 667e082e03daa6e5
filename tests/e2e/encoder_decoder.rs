//! The lesson on the Transformer of 2017 as a reader uses its cells: boxes of the figure, steps of
//! the decoder, heads, a beam search, another sentence, and the folded cells.

use fantoccini::Locator;
use fantoccini::key::Key;

use super::browser::{Browser, with_browser};
use super::models;
use super::reader::{click, open_lesson, press, wait_for_shown};
use super::site;
use browser_harness::Habits;

/// Presses a box of one of the figures.
async fn choose(browser: &Browser, cell: &str, block: usize) {
    let place = format!("#{cell} [data-box='{block}']");
    click(browser, Locator::Css(&place)).await;
}

/// Waits until an element is there.
async fn wait_for_element(browser: &Browser, selector: &str) {
    let script = format!("return document.querySelector(\"{selector}\") !== null");
    browser.wait_for(selector, &script).await;
}

/// The boxes have their parameters, and the big model has more.
#[test]
fn boxes_of_the_figure_are_counted() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "encoder-decoder").await;
        let cell = "paper-figure";
        wait_for_shown(browser, cell, "total", "63,082,496").await;
        choose(browser, cell, 4).await;
        wait_for_shown(browser, cell, "all[4]", "12,598,272").await;
        click(
            browser,
            Locator::Css("#paper-figure .segment:has(input[value=big])"),
        )
        .await;
        wait_for_shown(browser, cell, "published", "213").await;
        wait_for_shown(browser, cell, "needed", "35,784").await;
        let complaints = browser.complaints(&server.origin()).await;
        assert!(complaints.is_empty(), "{complaints:?}");
    });
}

/// The decoder waits while only the encoder runs, and its tensors grow with each step.
#[test]
fn tensors_of_the_figure_grow_step_by_step() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "encoder-decoder").await;
        let cell = "live-figure";
        wait_for_shown(browser, cell, "target.count", "3").await;
        click(browser, Locator::Css("#live-figure [data-step='0']")).await;
        wait_for_element(browser, "#live-figure [data-box='11'].is-idle").await;
        choose(browser, cell, 6).await;
        wait_for_shown(browser, cell, "source.count", "4").await;
        click(browser, Locator::Css("#live-figure [data-step='5']")).await;
        choose(browser, cell, 14).await;
        wait_for_shown(browser, cell, "target.count", "5").await;
        choose(browser, cell, 16).await;
        wait_for_element(browser, "#live-figure [data-from='probabilities[0]']").await;
    });
}

/// One beam is greedy decoding; eight find the better translation.
#[test]
fn a_beam_is_narrowed_and_widened() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "encoder-decoder").await;
        let cell = "beam-tree";
        wait_for_shown(browser, cell, "best[0]", "mia sorella vive a roma").await;
        wait_for_shown(browser, cell, "greedy[0]", "mia sorella vive in roma").await;
        let beam = "#beam-tree .slider input[type=range]";
        press(browser, beam, &[Key::Home]).await;
        wait_for_shown(browser, cell, "best[0]", "mia sorella vive in roma").await;
        press(browser, beam, &[Key::End]).await;
        wait_for_shown(browser, cell, "best[0]", "mia sorella vive a roma").await;
    });
}

/// Another head is shown large, and another sentence token by token.
#[test]
fn another_head_and_another_sentence_are_chosen() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "encoder-decoder").await;
        wait_for_shown(browser, "cross-heads", "translation[0]", "ha gli occhi blu").await;
        wait_for_element(browser, "#cross-heads [data-from='weights[1,0,0,0]']").await;
        let cell = "teacher-forcing";
        wait_for_shown(browser, cell, "own.tokens[3]", "stato").await;
        press(
            browser,
            "#teacher-forcing .slider input[type=range]",
            &[Key::Home],
        )
        .await;
        wait_for_shown(browser, cell, "english[0]", "we sleep").await;
        let complaints = browser.complaints(&server.origin()).await;
        assert!(complaints.is_empty(), "{complaints:?}");
    });
}

/// The cells that are folded until they are asked for: one sentence is measured, the warm-up and the
/// smoothing are changed.
#[test]
fn folded_cells_are_used() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "encoder-decoder").await;
        wait_for_shown(browser, "beam-lengths", "steps", "0").await;
        click(browser, Locator::Css("#beam-lengths [data-train=step]")).await;
        wait_for_shown(browser, "beam-lengths", "steps", "1").await;
        wait_for_element(browser, "#beam-lengths [data-from='bleu[3]']").await;
        let warmup = "#learning-rate .slider:last-of-type input[type=range]";
        press(browser, warmup, &[Key::End]).await;
        wait_for_shown(browser, "learning-rate", "warmup", "16,000").await;
        wait_for_shown(browser, "label-smoothing", "target[0]", "0.920").await;
        let smoothing = "#label-smoothing .slider input[type=range]";
        press(browser, smoothing, &[Key::Home]).await;
        wait_for_shown(browser, "label-smoothing", "target[0]", "1.000").await;
    });
}

/// The logged runs: fewer checkpoints in the mean of another run, and another temperature.
#[test]
fn logged_runs_are_compared() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "encoder-decoder").await;
        wait_for_shown(browser, "calibration", "temperature", "1.0").await;
        let temperature = "#calibration .slider input[type=range]";
        press(browser, temperature, &[Key::Home]).await;
        wait_for_shown(browser, "calibration", "temperature", "0.6").await;
        wait_for_shown(browser, "averaging", "count", "5").await;
        models::choose(browser, "averaging", "without smoothing").await;
        press(
            browser,
            "#averaging .slider input[type=range]",
            &[Key::Home],
        )
        .await;
        wait_for_shown(browser, "averaging", "count", "2").await;
        let complaints = browser.complaints(&server.origin()).await;
        assert!(complaints.is_empty(), "{complaints:?}");
    });
}
