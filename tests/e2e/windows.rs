//! The lesson on windows as a reader uses its cells: a patch is changed and the blocks are gone through,
//! the map is rolled step by step, four tokens become one, the picture grows, and vectors become longer.

use browser_harness::Habits;
use fantoccini::Locator;
use fantoccini::key::Key;
use serde_json::json;

use super::browser::{Browser, with_browser};
use super::reader::{click, open_lesson, press, wait_for_shown, wait_until};
use super::site;

/// Clicks the patch in this row and column of a cell's first grid of `across` patches, counted from 0.
async fn click_patch(browser: &Browser, cell: &str, across: u32, (row, column): (u32, u32)) {
    let script = "const canvas = document.querySelector(`#${arguments[0]} .patch-grid canvas`);
        canvas.scrollIntoView({ block: 'center', behavior: 'instant' });
        const box = canvas.getBoundingClientRect();
        const at = (n, side) => (n + 0.5) / arguments[1] * side;
        canvas.dispatchEvent(new MouseEvent('click', {
            bubbles: true, clientX: box.x + at(arguments[3], box.width), clientY: box.y + at(arguments[2], box.height),
        }))";
    let arguments = [json!(cell), json!(across), json!(row), json!(column)];
    browser.script(script, &arguments).await;
}

/// After twelve blocks nothing has crossed the border; one block earlier neither. The corner, chosen with
/// the mouse, reaches 36 patches in two blocks, and 64 where the mask is forgotten.
#[test]
fn a_patch_is_followed_through_the_blocks() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "windows").await;
        wait_for_shown(browser, "swin-reach", "fixed.now", "16").await;
        wait_for_shown(browser, "swin-reach", "fixed.neighbour", "0").await;
        wait_for_shown(browser, "swin-reach", "shifted.now", "256").await;
        let slider = "#swin-reach input[type=range]";
        press(browser, slider, &[Key::Home]).await;
        wait_for_shown(browser, "swin-reach", "shifted.now", "1").await;
        press(browser, slider, &[Key::Right, Key::Right]).await;
        wait_for_shown(browser, "swin-reach", "shifted.now", "64").await;
        click_patch(browser, "swin-reach", 16, (0, 0)).await;
        wait_for_shown(browser, "swin-reach", "shifted.now", "36").await;
        wait_for_shown(browser, "swin-reach", "fixed.now", "16").await;
        let toggle = "//section[@id='swin-reach']//label[contains(normalize-space(), 'Forget')]";
        click(browser, Locator::XPath(toggle)).await;
        wait_for_shown(browser, "swin-reach", "shifted.now", "64").await;
    });
}

/// Chooses a step of `cyclic-shift`.
async fn go(browser: &Browser, step: &str) {
    let path = format!("//section[@id='cyclic-shift']//label[normalize-space()='{step}']");
    click(browser, Locator::XPath(&path)).await;
}

/// The steps of the shift: the chosen patch keeps its number while it moves, its mask is read, and a patch
/// chosen in the rolled map is the one that was rolled there. The keyboard solves the exercise.
#[test]
fn the_map_is_rolled_cut_masked_and_rolled_back() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "windows").await;
        wait_for_shown(browser, "cyclic-shift", "visible", "4").await;
        for step in ["rolled", "cut into windows", "masked", "rolled back"] {
            go(browser, step).await;
            wait_for_shown(browser, "cyclic-shift", "chosen", "63").await;
            wait_for_shown(browser, "cyclic-shift", "groups", "4").await;
        }
        go(browser, "masked").await;
        // Rolled by two, the corner of the map shows patch 18.
        let said = "return document.querySelector('#cyclic-shift .hint')?.textContent.includes('The mask hides')";
        browser.wait_for("the step", said).await;
        click_patch(browser, "cyclic-shift", 8, (0, 0)).await;
        wait_for_shown(browser, "cyclic-shift", "chosen", "18").await;
        wait_for_shown(browser, "cyclic-shift", "visible", "16").await;
        // The exercise: a shift of one, and the last patch but one in its row and column.
        go(browser, "the picture").await;
        let slider = "#cyclic-shift input[type=range]";
        press(browser, slider, &[Key::Left]).await;
        wait_for_shown(browser, "cyclic-shift", "visible", "16").await;
        click_patch(browser, "cyclic-shift", 8, (6, 6)).await;
        wait_for_shown(browser, "cyclic-shift", "visible", "9").await;
        press(browser, "#cyclic-shift .patch-grid", &[Key::Right]).await;
        wait_for_shown(browser, "cyclic-shift", "chosen", "55").await;
        wait_for_shown(browser, "cyclic-shift", "visible", "9").await;
    });
}

/// Wider tokens have larger merged ones; another square has other numbers.
#[test]
fn four_tokens_become_one() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "windows").await;
        wait_for_shown(browser, "patch-merging", "width.gathered", "16").await;
        let shown =
            "document.querySelector(\"#patch-merging [data-from='four[0,0]']\")?.textContent ?? ''";
        browser
            .wait_for("the vectors", &format!("return ({shown}).length > 1"))
            .await;
        let before = browser.script(&format!("return {shown}"), &[]).await;
        click_patch(browser, "patch-merging", 8, (6, 1)).await;
        browser
            .wait_for("other vectors", &format!("return ({shown}) !== {before}"))
            .await;
        press(browser, "#patch-merging input[type=range]", &[Key::Right]).await;
        wait_for_shown(browser, "patch-merging", "width.gathered", "20").await;
        wait_for_shown(browser, "patch-merging", "width.merged", "10").await;
    });
}

/// A picture twice as large, and vectors thirty times as long.
#[test]
fn sizes_and_lengths_are_changed() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "windows").await;
        wait_for_shown(browser, "window-cost", "ratio[0]", "64.0").await;
        let larger = "//section[@id='window-cost']//button[normalize-space()='512 pixels']";
        click(browser, Locator::XPath(larger)).await;
        wait_for_shown(browser, "window-cost", "ratio[0]", "256.0").await;
        wait_for_shown(browser, "cosine-scores", "dot.largest", "0.354").await;
        press(browser, "#cosine-scores input[type=range]", &[Key::End]).await;
        wait_for_shown(browser, "cosine-scores", "dot.largest", "1.000").await;
        wait_until(
            browser,
            "cosine-scores",
            "cosine.largest",
            "text === '0.660'",
        )
        .await;
    });
}
