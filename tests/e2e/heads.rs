//! The lesson on single heads as a reader uses its cells: a head chosen from the atlas, heads that are
//! switched off, words with and without the first of two heads, a ranking, and a search for another map.

use fantoccini::Locator;
use fantoccini::key::Key;

use super::browser::{Browser, with_browser};
use super::reader::{click, open_lesson, press, wait_until};
use super::site;
use browser_harness::Habits;

/// Presses the button of a cell that has these words.
async fn press_button(browser: &Browser, cell: &str, words: &str) {
    let path = format!("//section[@id='{cell}']//button[normalize-space()='{words}']");
    click(browser, Locator::XPath(&path)).await;
}

/// The head that looks back is chosen first; another one has other scores.
#[test]
fn a_head_is_chosen_from_the_atlas() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "heads").await;
        let cell = "pattern-atlas";
        wait_until(browser, cell, "scores[0,1,0]", "parseFloat(text) > 0.9").await;
        let next = "#pattern-atlas .head-map:nth-child(4) canvas";
        click(browser, Locator::Css(next)).await;
        wait_until(browser, cell, "scores[0,3,1]", "parseFloat(text) > 0.9").await;
        let names = "return document.querySelector('#pattern-atlas .head-map:nth-child(4) .head-kind').textContent.trim() === 'next'";
        browser.wait_for("the name of the head", names).await;
        let complaints = browser.complaints(&server.origin()).await;
        assert!(complaints.is_empty(), "{complaints:?}");
    });
}

/// The cliff goes with the previous-token head and with the induction heads, and not with the upper
/// layers.
#[test]
fn heads_are_switched_off_together() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "heads").await;
        let cell = "induction";
        wait_until(browser, cell, "mean.now", "parseFloat(text) < 0.1").await;
        press_button(browser, cell, "Previous-token head off").await;
        wait_until(browser, cell, "mean.now", "parseFloat(text) > 8").await;
        press_button(browser, cell, "Induction heads off").await;
        wait_until(browser, cell, "off", "text === '3'").await;
        wait_until(browser, cell, "mean.now", "parseFloat(text) > 8").await;
        press_button(browser, cell, "Layers 3 and 4 off").await;
        wait_until(browser, cell, "off", "text === '8'").await;
        wait_until(browser, cell, "mean.now", "parseFloat(text) < 0.1").await;
        press_button(browser, cell, "All on").await;
        wait_until(browser, cell, "off", "text === '0'").await;
    });
}

/// Without the first head made by hand, nothing is expected.
#[test]
fn the_first_head_made_by_hand_is_switched_off() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "heads").await;
        let cell = "induction-by-hand";
        wait_until(browser, cell, "best.share", "parseFloat(text) > 99").await;
        click(browser, Locator::Css("#induction-by-hand .toggle input")).await;
        wait_until(browser, cell, "best.share", "parseFloat(text) < 30").await;
    });
}

/// The head that costs most is named first; pressing a name shows that head.
#[test]
fn a_name_of_the_ranking_shows_the_head() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "heads").await;
        let cell = "ablation-sweep";
        wait_until(browser, cell, "ranked[0]", "parseFloat(text) > 8").await;
        let first = "return document.querySelector('#ablation-sweep .head-name').textContent.trim() === 'Layer 1, head 3'";
        browser.wait_for("the head that costs most", first).await;
        press_button(browser, cell, "Layer 2, head 2").await;
        wait_until(browser, cell, "induction[1,1]", "parseFloat(text) > 0.8").await;
    });
}

/// The other map moves away, and the output stays.
#[test]
fn another_map_is_found() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "heads").await;
        let cell = "two-maps";
        wait_until(browser, cell, "distance.now", "parseFloat(text) === 0").await;
        press(browser, "#two-maps .slider input[type=range]", &[Key::End]).await;
        wait_until(browser, cell, "distance.now", "parseFloat(text) > 50").await;
        press_button(browser, cell, "Ten steps back").await;
        wait_until(browser, cell, "distance.now", "parseFloat(text) > 10").await;
    });
}
