//! The lesson on positions in two dimensions as a reader uses its cells: a digit is shuffled and put
//! back, two patches are swapped with the mouse and with the keyboard, the position vectors are followed
//! through training, and digits are read in another size.

use browser_harness::Habits;
use fantoccini::Locator;
use fantoccini::key::Key;
use serde_json::json;

use super::browser::{Browser, with_browser};
use super::reader::{click, open_lesson, press, wait_for_shown, wait_until};
use super::site;

/// Shuffled, the digit is another one with positions and the same without; put back, it is itself.
#[test]
fn a_digit_is_shuffled_and_put_back() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "positions-2d").await;
        wait_for_shown(browser, "jigsaw", "vit.after", "6").await;
        click(browser, Locator::Css("#jigsaw [data-order=shuffle]")).await;
        wait_for_shown(browser, "jigsaw", "vit.after", "5").await;
        wait_for_shown(browser, "jigsaw", "bag.after", "6").await;
        wait_for_shown(browser, "jigsaw", "bag.bits", "0").await;
        // Rounding, or nothing at all.
        wait_until(
            browser,
            "jigsaw",
            "bag.largest",
            "(text === '0' || text.includes('e\u{2212}'))",
        )
        .await;
        click(browser, Locator::Css("#jigsaw [data-order=back]")).await;
        wait_for_shown(browser, "jigsaw", "moved", "0").await;
        wait_for_shown(browser, "jigsaw", "vit.after", "6").await;
    });
}

/// Clicks the patch in this row and column of the puzzle, counted from 0.
async fn click_patch(browser: &Browser, (row, column): (u32, u32)) {
    let script = "const canvas = document.querySelector('#jigsaw .patch-grid canvas');
        canvas.scrollIntoView({ block: 'center', behavior: 'instant' });
        const box = canvas.getBoundingClientRect();
        const at = (n, side) => (n + 0.5) / 7 * side;
        canvas.dispatchEvent(new MouseEvent('click', {
            bubbles: true, clientX: box.x + at(arguments[1], box.width), clientY: box.y + at(arguments[0], box.height),
        }))";
    browser.script(script, &[json!(row), json!(column)]).await;
}

/// Two clicks swap two patches: the loop of the 6 opens, and with positions it is a 5. The keyboard does
/// it, too.
#[test]
fn two_patches_are_swapped() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "positions-2d").await;
        wait_for_shown(browser, "jigsaw", "vit.after", "6").await;
        click_patch(browser, (4, 2)).await;
        browser
            .wait_for(
                "the patch to be held",
                "return document.querySelector('#jigsaw .cell-body').textContent.includes('One patch is held')",
            )
            .await;
        click_patch(browser, (2, 2)).await;
        wait_for_shown(browser, "jigsaw", "moved", "2").await;
        wait_for_shown(browser, "jigsaw", "vit.after", "5").await;
        wait_for_shown(browser, "jigsaw", "bag.after", "6").await;
        click(browser, Locator::Css("#jigsaw [data-order=back]")).await;
        wait_for_shown(browser, "jigsaw", "moved", "0").await;
        // The last patch that was pressed, held and swapped with its right neighbour.
        let keys = [Key::Enter, Key::Right, Key::Enter];
        press(browser, "#jigsaw .patch-grid", &keys).await;
        wait_for_shown(browser, "jigsaw", "moved", "2").await;
    });
}

/// The tables of positions along a training run: before it, neighbours are as unlike as any others.
#[test]
fn position_vectors_are_followed_through_training() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "positions-2d").await;
        let shown = "document.querySelector(\"#position-similarity [data-from='map[3,2]']\")?.textContent ?? ''";
        browser
            .wait_for("the map", &format!("return ({shown}).length > 1"))
            .await;
        let before = browser.script(&format!("return {shown}"), &[]).await;
        let path = "//section[@id='position-similarity']//label[normalize-space()='7000']";
        click(browser, Locator::XPath(path)).await;
        browser
            .wait_for("another map", &format!("return ({shown}) !== {before}"))
            .await;
        let keys = [Key::Right];
        press(browser, "#position-similarity .patch-grid", &keys).await;
        browser
            .wait_for(
                "the map of the next patch, whose own similarity is 1",
                "return document.querySelector(\"#position-similarity [data-from='map[3,4]']\")?.textContent.trim() === '1.00'",
            )
            .await;
    });
}

/// Digits in another size: as many patches as the size says, one digit more, and all of them again.
#[test]
fn digits_are_read_in_another_size() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "positions-2d").await;
        wait_for_shown(browser, "interpolate", "patches", "144").await;
        click(browser, Locator::Css("#interpolate [data-train=step]")).await;
        wait_for_shown(browser, "interpolate", "steps", "2").await;
        wait_for_shown(browser, "interpolate", "cubic.count", "2").await;
        press(
            browser,
            "#interpolate input[type=range]",
            &[Key::Left, Key::Left],
        )
        .await;
        wait_for_shown(browser, "interpolate", "patches", "100").await;
        click(browser, Locator::Css("#interpolate [data-train=rewind]")).await;
        wait_for_shown(browser, "interpolate", "steps", "0").await;
    });
}
