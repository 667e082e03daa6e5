//! The lesson on patches, as a reader uses it: a vector is dragged, the query is walked, and the
//! picture is rebuilt.

use fantoccini::Locator;
use serde_json::{Value, json};

use super::browser::{Look, pause, with_browser};
use super::reader::click;
use super::site;
use browser_harness::Habits;

/// Drags a vector of `three-patches` with the mouse: the value moves, and with it the output.
#[test]
fn a_point_of_three_patches_is_dragged_and_the_output_follows() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        browser
            .open_ready(&server.url("lesson/self-attention/"))
            .await
            .expect("the lesson works");
        let state = "const plane = document.querySelectorAll('#three-patches .plane')[1];
            plane.scrollIntoView({ block: 'center', behavior: 'instant' });
            const place = dot => { const box = dot.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; };
            const output = plane.querySelector('.plane-mark.c-output');
            return [place(plane.querySelector('.plane-tip .plane-dot')), place(output.querySelector('.plane-dot')), output.querySelector('.plane-name').textContent]";
        browser
            .wait_for(
                "the points",
                "return !!document.querySelectorAll('#three-patches .plane')[1]?.querySelector('.plane-mark.c-output .plane-dot')",
            )
            .await;
        let before = browser.script(state, &[]).await;
        assert_eq!(before[2], json!("output"), "the output has a name");
        let at = |value: &Value, n: usize| value[n].as_f64().expect("a coordinate");
        let (x, y) = (at(&before[0], 0), at(&before[0], 1));
        for (kind, dx, dy) in [
            ("mousePressed", 0.0, 0.0),
            ("mouseMoved", -20.0, -15.0),
            ("mouseMoved", -40.0, -30.0),
            ("mouseReleased", -40.0, -30.0),
        ] {
            let event = json!({ "type": kind, "x": x + dx, "y": y + dy, "button": "left", "clickCount": 1 });
            browser.devtools("Input.dispatchMouseEvent", event).await;
        }
        pause(600).await;
        let after = browser.script(state, &[]).await;
        let moved = |n: usize| {
            [
                at(&after[n], 0) - at(&before[n], 0),
                at(&after[n], 1) - at(&before[n], 1),
            ]
        };
        let [by_x, by_y] = moved(0);
        assert!(
            (by_x + 40.0).abs() < 4.0 && (by_y + 30.0).abs() < 4.0,
            "{by_x} {by_y}"
        );
        let [out_x, out_y] = moved(1);
        assert!(
            out_x < -1.0 && out_y < -1.0,
            "the output follows: {out_x} {out_y}"
        );
    });
}

/// With the keyboard alone the query becomes as long as the plane allows: the output moves, and the
/// sentence about the plane says that it is still inside the triangle.
#[test]
fn the_query_of_three_patches_is_walked_and_the_output_stays_inside() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::PHONE_DARK).await;
        browser
            .open_ready(&server.url("lesson/self-attention/"))
            .await
            .expect("the lesson works");
        let tip = "[...document.querySelectorAll('#three-patches .plane-tip')].find(tip => tip.getAttribute('aria-label').startsWith('query'))";
        let shown =
            "[...document.querySelectorAll('#three-patches .plane .vh')].at(-1)?.textContent ?? ''";
        browser
            .wait_for(
                "the output",
                &format!("return ({shown}).includes('output')"),
            )
            .await;
        let before = browser.script(&format!("return {shown}"), &[]).await;
        browser
            .script(&format!("const tip = {tip}; tip.scrollIntoView({{ block: 'center', behavior: 'instant' }}); tip.focus()"), &[])
            .await;
        let focused = browser.client().active_element().await;
        let focused = focused.expect("the tip has the focus");
        // Left by 21 steps of Shift with the arrow key: from one border to the other.
        focused
            .send_keys(&format!("\u{e008}{}", "\u{e012}".repeat(21)))
            .await
            .expect("the keys are sent");
        browser
            .wait_for(
                "the tip at the border",
                &format!("return ({tip}).getAttribute('aria-valuenow') === '-1'"),
            )
            .await;
        browser
            .wait_for(
                "the output to have moved within the triangle",
                &format!(
                    "return ({shown}) !== {before} && ({shown}).includes('inside the polygon')"
                ),
            )
            .await;
    });
}

/// The slider of a token's dimension at its end: the picture comes back up to rounding.
#[test]
fn with_all_its_numbers_the_picture_is_rebuilt() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        browser
            .open_ready(&server.url("lesson/patches/"))
            .await
            .expect("the lesson works");
        let lost = "document.querySelector('#rebuilt-picture [data-from=\"largest_difference\"]')?.textContent ?? ''";
        // A power of ten, which is below a thousandth.
        let is_small = format!("return ({lost}).includes('e\u{2212}')");
        browser
            .wait_for("the difference", &format!("return ({lost}).length > 1"))
            .await;
        let before = browser.script(&format!("return {lost}"), &[]).await;
        browser
            .script(
                "const slider = document.querySelector('#rebuilt-picture input[type=range]'); slider.scrollIntoView({ block: 'center', behavior: 'instant' }); slider.focus()",
                &[],
            )
            .await;
        let focused = browser.client().active_element().await;
        let focused = focused.expect("the slider has the focus");
        focused.send_keys("\u{e010}").await.expect("End is sent");
        browser
            .wait_for(
                "another difference",
                &format!("return ({lost}) !== {before}"),
            )
            .await;
        assert_eq!(browser.script(&is_small, &[]).await, json!(true));
    });
}

#[test]
fn another_model_of_the_patch_embedding_leaves_its_fold_open() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        browser
            .open_ready(&server.url("lesson/patches/"))
            .await
            .expect("the lesson works");
        let fold =
            "//section[@id='patch-embedding']//details[summary[contains(., 'The learned matrix')]]";
        browser
            .wait_for(
                "the fold",
                "return [...document.querySelectorAll('#patch-embedding .more > summary')].some(s => s.textContent.includes('The learned matrix'))",
            )
            .await;
        // Waiting until the page is ready may have opened it.
        let is_open = "return [...document.querySelectorAll('#patch-embedding .more[open] > summary')].some(s => s.textContent.includes('The learned matrix'))";
        if browser.script(is_open, &[]).await == json!(false) {
            click(browser, Locator::XPath(&format!("{fold}/summary"))).await;
            pause(300).await;
        }
        let choose = async |model: &str| {
            let place = format!("//section[@id='patch-embedding']//label[contains(., '{model}')]");
            click(browser, Locator::XPath(&place)).await;
            pause(500).await;
        };
        choose("random").await;
        choose("digit-vit").await;
        browser.wait_for("the fold to be open again", is_open).await;
    });
}

/// The pixels of a patch fly into one row, at once for a reader who wants less motion; and shuffled
/// patches are as many tokens of as many numbers, in another picture.
#[test]
fn pixels_fly_into_a_row_and_patches_are_shuffled() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        browser
            .open_ready(&server.url("lesson/patches/"))
            .await
            .expect("the lesson works");
        let share =
            "Number(document.querySelector('#patch-cutter .patch-flight canvas').dataset.share)";
        let unfold =
            "[...document.querySelectorAll('#patch-cutter details.more')].at(-1).open = true";
        browser.script(unfold, &[]).await;
        browser
            .wait_for(
                "the squares",
                "return document.querySelector('#patch-cutter .patch-flight canvas')?.height > 0",
            )
            .await;
        click(browser, Locator::Css("#patch-cutter [data-flight]")).await;
        browser
            .wait_for("pixels on their way", &format!("return {share} > 0"))
            .await;
        browser
            .wait_for("the row", &format!("return {share} === 1"))
            .await;
        // The row is at the bottom of the canvas, from its left end to its right one.
        let drawn = "const canvas = document.querySelector('#patch-cutter .patch-flight canvas');
            const pen = canvas.getContext('2d');
            const at = (x, y) => pen.getImageData(x * (canvas.width - 1), y * (canvas.height - 1), 1, 1).data[3];
            return [at(0, 0.95), at(0.5, 0.95), at(1, 0.95), at(0.1, 0.3)]";
        let drawn = browser.script(drawn, &[]).await;
        assert_eq!(drawn, json!([255, 255, 255, 0]));

        let said = "const cell = document.querySelector('#patch-cutter');
            return [cell.querySelector('.readout').textContent, cell.querySelector('.patch-grid canvas').toDataURL()]";
        let before = browser.script(said, &[]).await;
        let shuffle = Locator::XPath(
            "//*[@id='patch-cutter']//label[contains(., 'The same patches, shuffled')]",
        );
        click(browser, shuffle).await;
        browser
            .wait_for(
                "where the patch was",
                "return !!document.querySelector(\"#patch-cutter [data-from^='from']\")",
            )
            .await;
        let after = browser.script(said, &[]).await;
        assert_eq!(before[0], after[0], "as many tokens and numbers");
        assert_ne!(before[1], after[1], "another picture");
    });
}
