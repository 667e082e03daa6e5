//! The lesson on inductive bias as a reader uses its cells: a digit is moved with the keyboard until two
//! models err, a shift is followed through the maps, two networks learn, a receptive field is chosen with
//! the mouse, and patches are covered.

use browser_harness::{FOLD_AGAIN, Habits};
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

/// The Vision Transformer without positions has fewer parameters, and the logged spread is that of its
/// setting.
#[test]
fn a_variant_is_chosen() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "inductive-bias").await;
        wait_for_shown(browser, "train-on-few", "vit.parameters", "19,658").await;
        let lowest = "#train-on-few [data-from='logged.low[1]']";
        let with_token = browser.texts(lowest).await;
        for (variant, parameters) in [("no positions", "18,058"), ("mean of patches", "19,594")] {
            let segment = format!("#train-on-few .segment:has(input[value='{variant}'])");
            click(browser, Locator::Css(&segment)).await;
            wait_for_shown(browser, "train-on-few", "vit.parameters", parameters).await;
            if variant == "no positions" {
                assert_ne!(browser.texts(lowest).await, with_token);
            }
        }
    });
}

/// A run that has ended stays as a point while the next seed is trained, and in the table of the fold.
#[test]
fn ended_runs_are_kept() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        let cell = "train-on-few";
        open_lesson(browser, &server, "inductive-bias").await;
        wait_for_shown(browser, cell, "logged.seeds", "5").await;
        let points = "#train-on-few .kept-run";
        assert!(browser.texts(points).await.is_empty());
        click(browser, Locator::Css("#train-on-few [data-train=start]")).await;
        for steps in [100, 200, 300] {
            let made = format!("parseFloat(text) >= {steps}");
            wait_until(browser, cell, "steps", &made).await;
        }
        let is_kept = "return document.querySelectorAll('#train-on-few .kept-run').length === 2";
        browser.wait_for("a point for each network", is_kept).await;
        let shown = "#train-on-few [data-train='cnn.right.now']";
        let right = browser.texts(shown).await;
        let kept = "#train-on-few [data-kept='cnn.right.now']";
        assert_eq!(browser.texts(kept).await, right);
        click(browser, Locator::Css("#train-on-few [data-train=next]")).await;
        wait_for_shown(browser, cell, "input:seed", "2").await;
        wait_until(browser, cell, "steps", "parseFloat(text) >= 10").await;
        click(browser, Locator::Css("#train-on-few [data-train=start]")).await;
        assert_eq!(browser.texts(kept).await, right);
        browser.script(FOLD_AGAIN, &[]).await;
        let fold = "//section[@id='train-on-few']//details/summary[.='Your runs and those on MNIST as tables']";
        click(browser, Locator::XPath(fold)).await;
        wait_for_shown(browser, cell, "kept:1:seed", "1").await;
        wait_for_shown(browser, cell, "kept:1:cnn.right.now", &right[0]).await;
        for (log, place) in [
            ("bias-runs", "command[0]"),
            ("drawn-runs", "logged.command[0]"),
        ] {
            let names = format!("text.startsWith('cargo xtask train {log} ')");
            wait_until(browser, cell, place, &names).await;
        }
        // Another setting has no runs of the reader's.
        let thousand = "#train-on-few .segment:has(input[value='1000'])";
        click(browser, Locator::Css(thousand)).await;
        let none = "return document.querySelectorAll('#train-on-few .kept-run').length === 0";
        browser.wait_for("no point of another setting", none).await;
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
