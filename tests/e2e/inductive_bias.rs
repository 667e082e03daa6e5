//! The lesson on inductive bias as a reader uses its cells: a digit is moved with the keyboard until two
//! models err, a shift is followed through the maps, two networks learn, a receptive field is chosen with
//! the mouse, and patches are covered.

use browser_harness::Habits;
use fantoccini::Locator;
use fantoccini::key::Key;
use serde_json::json;

use super::browser::{Browser, with_browser};
use super::reader::{click, open_lesson, press, wait_for_shown, wait_until};
use super::site;

/// Six pixels to the right: a 3 to the CNN, a 7 to the ViT, still a 4 without positions. Four pixels down
/// solve the exercise.
#[test]
fn a_digit_is_moved() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "inductive-bias").await;
        for model in ["cnn", "vit", "bag"] {
            wait_for_shown(browser, "move-the-digit", &format!("{model}.after"), "4").await;
        }
        let slider =
            |n: usize| format!("#move-the-digit .controls > :nth-child({n}) input[type=range]");
        press(browser, &slider(1), &[Key::Right; 6]).await;
        wait_for_shown(browser, "move-the-digit", "cnn.after", "3").await;
        wait_for_shown(browser, "move-the-digit", "vit.after", "7").await;
        wait_for_shown(browser, "move-the-digit", "bag.after", "4").await;
        press(browser, &slider(1), &[Key::Left; 6]).await;
        wait_for_shown(browser, "move-the-digit", "cnn.after", "4").await;
        press(browser, &slider(2), &[Key::Right; 4]).await;
        wait_for_shown(browser, "move-the-digit", "cnn.after", "2").await;
        wait_for_shown(browser, "move-the-digit", "vit.after", "4").await;
    });
}

/// By one pixel the second map is new; by four it is the old one, and undoing the shift inside brings the
/// answers back.
#[test]
fn a_shift_is_followed() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "inductive-bias").await;
        wait_for_shown(browser, "shifted-maps", "changed[0]", "0").await;
        wait_until(
            browser,
            "shifted-maps",
            "changed[1]",
            "parseFloat(text) > 0",
        )
        .await;
        let slider = "#shifted-maps .controls input[type=range]";
        press(browser, slider, &[Key::Right; 3]).await;
        for stage in [0, 1, 2, 3] {
            wait_for_shown(browser, "shifted-maps", &format!("changed[{stage}]"), "0").await;
        }
        for model in ["cnn", "vit"] {
            wait_for_shown(browser, "shifted-maps", &format!("{model}.undone"), "4").await;
        }
    });
}

/// The loss of the step that the two networks have just made, as the cell prints it.
async fn loss_of_one_step(browser: &Browser) -> Vec<String> {
    wait_for_shown(browser, "train-on-few", "steps", "0").await;
    click(browser, Locator::Css("#train-on-few [data-train=step]")).await;
    wait_for_shown(browser, "train-on-few", "steps", "1").await;
    let losses = "#train-on-few :is([data-from='cnn.loss.now'], [data-from='vit.loss.now'])";
    browser.texts(losses).await
}

/// Two networks learn a few steps of the digits, are stopped and taken back. Of a thousand digits they
/// learn others: the first loss is another one, and the run goes on.
#[test]
fn two_networks_learn_a_few_digits() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "inductive-bias").await;
        wait_until(
            browser,
            "train-on-few",
            "cnn.right.now",
            "text.includes('%')",
        )
        .await;
        click(browser, Locator::Css("#train-on-few [data-train=start]")).await;
        wait_until(browser, "train-on-few", "steps", "parseFloat(text) >= 50").await;
        click(browser, Locator::Css("#train-on-few [data-train=start]")).await;
        wait_until(
            browser,
            "train-on-few",
            "cnn.right.now",
            "parseFloat(text) > 30",
        )
        .await;
        click(browser, Locator::Css("#train-on-few [data-train=rewind]")).await;
        let of_100 = loss_of_one_step(browser).await;
        let thousand = "#train-on-few .segment:has(input[value='1000'])";
        click(browser, Locator::Css(thousand)).await;
        let of_1000 = loss_of_one_step(browser).await;
        assert_eq!((of_100.len(), of_1000.len()), (2, 2));
        assert_ne!(of_100, of_1000);
        click(browser, Locator::Css("#train-on-few [data-train=start]")).await;
        wait_until(browser, "train-on-few", "steps", "parseFloat(text) >= 10").await;
        click(browser, Locator::Css("#train-on-few [data-train=start]")).await;
    });
}

/// A click on the corner of the digit chooses a number at the border, which sees fewer pixels; the arrow
/// keys move on.
#[test]
fn a_receptive_field_is_chosen() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "inductive-bias").await;
        let cell = "who-sees-what";
        wait_for_shown(browser, cell, "field.rows", "5").await;
        press(browser, "#who-sees-what input[type=range]", &[Key::Right]).await;
        wait_for_shown(browser, cell, "field.rows", "13").await;
        let corner = "const canvas = document.querySelector('#who-sees-what .patch-grid canvas');
            canvas.scrollIntoView({ block: 'center', behavior: 'instant' });
            const box = canvas.getBoundingClientRect();
            canvas.dispatchEvent(new MouseEvent('click', { bubbles: true, clientX: box.x + 4, clientY: box.y + 4 }))";
        browser.script(corner, &[json!(0)]).await;
        wait_for_shown(browser, cell, "field.rows", "7").await;
        press(browser, "#who-sees-what .patch-grid", &[Key::Down]).await;
        wait_for_shown(browser, cell, "field.rows", "11").await;
        wait_for_shown(browser, cell, "field.columns", "7").await;
    });
}

/// Patches of the folded cell are covered, and put back.
#[test]
fn patches_are_covered() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "inductive-bias").await;
        wait_for_shown(browser, "cover-patches", "hidden", "8").await;
        press(
            browser,
            "#cover-patches .controls input[type=range]",
            &[Key::Home],
        )
        .await;
        wait_for_shown(browser, "cover-patches", "hidden", "0").await;
        wait_for_shown(browser, "cover-patches", "cnn.answer", "4").await;
    });
}
