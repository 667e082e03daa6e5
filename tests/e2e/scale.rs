//! The lesson on scale as a reader uses its cells: a longer run is chosen, a model of the paper is set, a
//! factor of the shape is chosen, networks learn a few steps and are taken back, and the scale of a head is
//! moved to zero.

use browser_harness::{FOLD_AGAIN, Habits};
use fantoccini::Locator;
use fantoccini::key::Key;

use super::browser::with_browser;
use super::models::choose;
use super::reader::{click, open_lesson, press, wait_for_shown, wait_until};
use super::site;

/// The logged runs of 300 steps, and then those of ten times as many.
#[test]
fn longer_runs_are_chosen() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "scale").await;
        wait_for_shown(browser, "data-curve", "log.steps", "300").await;
        choose(browser, "data-curve", "3000").await;
        wait_for_shown(browser, "data-curve", "log.steps", "3,000").await;
        wait_for_shown(browser, "data-curve", "seeds", "1").await;
    });
}

/// The button of ViT-H/14 sets its sizes.
#[test]
fn a_model_of_the_paper_is_counted() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "scale").await;
        wait_for_shown(browser, "vit-sizes", "total", "86,567,656").await;
        click(
            browser,
            Locator::Css("#vit-sizes [role=group] button:last-child"),
        )
        .await;
        wait_for_shown(browser, "vit-sizes", "total", "632,045,800").await;
        wait_for_shown(browser, "vit-sizes", "scores.ratio", "1.71").await;
    });
}

/// Another factor is chosen: its costs take the place of those of the depth.
#[test]
fn a_factor_is_chosen() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "scale").await;
        wait_for_shown(browser, "shape-runs", "values[3]", "8").await;
        wait_for_shown(browser, "shape-runs", "parameters[3]", "70,922").await;
        choose(browser, "shape-runs", "patch").await;
        wait_for_shown(browser, "shape-runs", "values[3]", "2").await;
        wait_for_shown(browser, "shape-runs", "tokens[3]", "197").await;
        wait_for_shown(browser, "shape-runs", "work[3]", "8,220,608").await;
        choose(browser, "shape-runs", "width").await;
        wait_for_shown(browser, "shape-runs", "values[3]", "96").await;
        wait_for_shown(browser, "shape-runs", "tokens[3]", "50").await;
    });
}

/// Three students learn a few steps, are stopped and taken back.
#[test]
fn students_learn() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "scale").await;
        wait_until(browser, "distil", "alone.right.now", "text.includes('%')").await;
        click(browser, Locator::Css("#distil [data-train=start]")).await;
        wait_until(browser, "distil", "steps", "parseFloat(text) >= 50").await;
        click(browser, Locator::Css("#distil [data-train=start]")).await;
        for student in ["alone", "hard", "soft"] {
            let now = format!("{student}.right.now");
            wait_until(browser, "distil", &now, "parseFloat(text) > 20").await;
        }
        click(browser, Locator::Css("#distil [data-train=rewind]")).await;
        wait_for_shown(browser, "distil", "steps", "0").await;
        // The spread of the logged runs is there before a run of the reader's has ended.
        wait_for_shown(browser, "distil", "logged.seeds", "5").await;
        click(browser, Locator::Css("#distil [data-train=next]")).await;
        wait_for_shown(browser, "distil", "input:seed", "2").await;
        wait_until(browser, "distil", "steps", "parseFloat(text) >= 5").await;
        click(browser, Locator::Css("#distil [data-train=start]")).await;
        let none = browser.texts("#distil [data-kept='soft.right.now']").await;
        assert_eq!(none, ["none yet"]);
    });
}

/// A head of zeros: ln 10, and no gradient for the vectors.
#[test]
fn a_head_of_zeros() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "scale").await;
        let slider = "#first-loss .controls > :nth-child(1) input[type=range]";
        press(browser, slider, &[Key::Home]).await;
        wait_for_shown(browser, "first-loss", "loss", "2.302585").await;
        wait_for_shown(browser, "first-loss", "gradient", "0").await;
    });
}

/// The network starts from the mean digit, and leaves it.
#[test]
fn hidden_patches_are_painted() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "scale").await;
        wait_until(
            browser,
            "masked-patches",
            "error.mean",
            "parseFloat(text) > 0",
        )
        .await;
        click(browser, Locator::Css("#masked-patches [data-train=start]")).await;
        wait_until(browser, "masked-patches", "steps", "parseFloat(text) >= 50").await;
        click(browser, Locator::Css("#masked-patches [data-train=start]")).await;
        click(browser, Locator::Css("#masked-patches [data-train=rewind]")).await;
        wait_for_shown(browser, "masked-patches", "steps", "0").await;
        browser.script(FOLD_AGAIN, &[]).await;
        let fold =
            "//section[@id='masked-patches']//details/summary[.='Published: ViT-B/16 on ImageNet']";
        click(browser, Locator::XPath(fold)).await;
        wait_until(
            browser,
            "masked-patches",
            "gains[0]",
            "Math.round(parseFloat(text)) === 2",
        )
        .await;
    });
}
