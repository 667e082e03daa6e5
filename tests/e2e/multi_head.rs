//! The lesson on several heads as a reader uses its cells: another number of heads, a run that trains,
//! a head that is switched off, digits read with a bug, and a head chosen from a gallery.

use fantoccini::Locator;

use super::browser::{Browser, with_browser};
use super::reader::{click, open_lesson, wait_for_shown};
use super::site;
use super::training::{readout_of, wait_for_steps_of};
use browser_harness::Habits;

/// Chooses an option of a segmented control of a cell.
async fn choose(browser: &Browser, cell: &str, legend: &str, option: &str) {
    let path = format!(
        "//section[@id='{cell}']//fieldset[contains(legend, '{legend}')]//label[normalize-space()='{option}']"
    );
    click(browser, Locator::XPath(&path)).await;
}

/// The matrices are those of the page: what one cell cuts, the other does too.
#[test]
fn two_cells_share_their_heads_and_a_head_can_be_switched_off() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "multi-head").await;
        wait_for_shown(browser, "heads-split", "head.width", "2").await;
        choose(browser, "heads-split", "Heads", "1").await;
        wait_for_shown(browser, "heads-split", "head.width", "4").await;
        wait_for_shown(browser, "heads-split", "parameters", "64").await;
        let parts = "return document.querySelectorAll('#output-slices .gallery > *').length === 2";
        browser.wait_for("one part and the sum", parts).await;
        choose(browser, "output-slices", "Heads", "2").await;
        wait_for_shown(browser, "heads-split", "head.width", "2").await;
        choose(browser, "output-slices", "Head switched off", "2").await;
        wait_for_shown(browser, "output-slices", "sizes[1]", "0").await;
        choose(browser, "output-slices", "Head switched off", "none").await;
        let back = "return document.querySelector(\"#output-slices [data-from='sizes[1]']\").textContent.trim() !== '0'";
        browser.wait_for("the part of head 2", back).await;
    });
}

/// Two heads learn both answers in the tab.
#[test]
fn two_heads_learn_two_answers() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "multi-head").await;
        click(browser, Locator::Css("#two-questions [data-train=start]")).await;
        wait_for_steps_of(browser, "two-questions", "> 350").await;
        let both = readout_of(browser, "two-questions", "both").await;
        assert!(both.starts_with("100.0"), "{both}");
        click(browser, Locator::Css("#two-questions [data-train=rewind]")).await;
        wait_for_shown(browser, "two-questions", "steps", "0").await;
    });
}

#[test]
fn digits_are_read_with_the_bug_and_a_head_is_chosen() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "multi-head").await;
        for _ in 0..2 {
            click(browser, Locator::Css("#reshape-bug [data-train=step]")).await;
        }
        wait_for_shown(browser, "reshape-bug", "steps", "2").await;
        wait_for_shown(browser, "reshape-bug", "right.count", "2").await;

        let chosen = ".head-map:nth-child(6)";
        click(
            browser,
            Locator::Css(&format!("#head-gallery {chosen} canvas")),
        )
        .await;
        let large = "return document.querySelector('#head-gallery .panel-title').textContent.trim() === 'Layer 2, head 2'";
        browser.wait_for("the chosen head", large).await;
        choose(browser, "head-gallery", "Model", "tiny-gpt").await;
        let all = "return document.querySelectorAll('#head-gallery .head-map').length > 12";
        browser.wait_for("the heads of the other model", all).await;
        let complaints = browser.complaints(&server.origin()).await;
        assert!(complaints.is_empty(), "{complaints:?}");
    });
}
