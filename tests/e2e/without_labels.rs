//! The lesson on learning without labels as a reader uses its cells: more rows of a digit settle what it
//! becomes, a probe learns from fewer labels, both collapses are chosen, two pairs of networks teach
//! themselves, and patches become tokens.

use browser_harness::Habits;
use fantoccini::Locator;
use fantoccini::key::Key;

use super::browser::with_browser;
use super::reader::{click, open_lesson, press, wait_for_shown, wait_until};
use super::site;

/// With half of the 4 several digits are possible, with ten rows one.
#[test]
fn half_a_digit_is_completed() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "without-labels").await;
        let cell = "complete-digit";
        wait_for_shown(browser, cell, "rows", "7").await;
        wait_until(browser, cell, "kinds", "parseFloat(text) > 1").await;
        let slider = "#complete-digit .controls input[type=range]";
        press(browser, slider, &[Key::Right; 3]).await;
        wait_for_shown(browser, cell, "rows", "10").await;
        wait_for_shown(browser, cell, "kinds", "1").await;
        wait_for_shown(browser, cell, "read[0]", "4").await;
    });
}

/// The probe of all depths is shown, here and of the log.
#[test]
fn features_are_probed() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "without-labels").await;
        let cell = "linear-probe";
        wait_for_shown(browser, cell, "labels.now", "100").await;
        wait_until(browser, cell, "trained[4]", "parseFloat(text) > 80").await;
        wait_until(browser, cell, "random[4]", "parseFloat(text) < 60").await;
    });
}

/// Without centring both entropies are 0, without sharpening both are the highest possible.
#[test]
fn both_collapses_are_chosen() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "without-labels").await;
        let cell = "centre-and-sharpen";
        wait_for_shown(browser, cell, "most", "1.386").await;
        let button =
            |n: usize| format!("#centre-and-sharpen .controls .row > button:nth-child({n})");
        click(browser, Locator::Css(&button(2))).await;
        wait_for_shown(browser, cell, "all.entropy", "0.000").await;
        wait_for_shown(browser, cell, "each.entropy", "0.000").await;
        click(browser, Locator::Css(&button(3))).await;
        wait_until(browser, cell, "each.entropy", "parseFloat(text) > 1.38").await;
    });
}

/// Two pairs of networks teach themselves for a few steps, are stopped and taken back.
#[test]
fn two_pairs_teach_themselves() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "without-labels").await;
        let cell = "dino";
        wait_until(browser, cell, "both.moved.now", "text.includes('%')").await;
        click(browser, Locator::Css("#dino [data-train=start]")).await;
        wait_until(browser, cell, "steps", "parseFloat(text) >= 100").await;
        click(browser, Locator::Css("#dino [data-train=start]")).await;
        wait_until(browser, cell, "both.right.now", "parseFloat(text) > 70").await;
        click(browser, Locator::Css("#dino [data-train=rewind]")).await;
        wait_for_shown(browser, cell, "steps", "0").await;
        wait_for_shown(browser, cell, "logged.seeds", "5").await;
        click(browser, Locator::Css("#dino [data-train=next]")).await;
        wait_for_shown(browser, cell, "input:seed", "2").await;
        wait_until(browser, cell, "steps", "parseFloat(text) >= 5").await;
        click(browser, Locator::Css("#dino [data-train=start]")).await;
    });
}

/// Smaller patches make more tokens of a picture and of a video.
#[test]
fn patches_become_tokens() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "without-labels").await;
        let cell = "make-tokens";
        wait_for_shown(browser, cell, "tokens[1]", "196").await;
        let sliders = "#make-tokens .controls:nth-of-type(2) > :nth-child(2) input[type=range]";
        press(browser, sliders, &[Key::Left; 2]).await;
        wait_for_shown(browser, cell, "tokens[1]", "256").await;
    });
}
