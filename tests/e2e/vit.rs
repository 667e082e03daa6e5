//! The lesson on the Vision Transformer, as a reader uses it: a digit is drawn with the mouse and with
//! the keyboard, a patch is asked where it looks, and every cell follows the drawing.

use fantoccini::Locator;
use fantoccini::key::Key;
use serde_json::json;

use super::browser::{Browser, Look, pause, with_browser};
use super::reader::{click, open_lesson, press as press_keys, wait_for_shown, wait_until};
use super::site;
use browser_harness::{FOLD_AGAIN, Habits};

/// What the first cell reads.
const ANSWER: &str =
    "document.querySelector('#draw-a-digit .verdict [data-from=\"answer\"]')?.textContent ?? ''";

/// How many strokes are on the pad of the first cell.
const STROKES: &str = "(document.querySelector('#draw-a-digit .pad-ink')?.getAttribute('d') ?? '').split('M').length - 1";

/// The numbers beside the large map of attention.
const WEIGHTS: &str = "[...document.querySelectorAll('#patch-attention .readout .num')].map(n => n.textContent).join()";

/// The pixels of the last map of the four equations, once they have colours.
const LAST_MAP: &str = "(() => {
    const canvas = document.querySelector('#four-equations .is-vector canvas');
    if (!canvas?.width || !canvas.height) return '';
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size > 3 ? canvas.toDataURL() : '';
})()";

/// The upper end of the scale of the large map of attention.
const TOP: &str = "[...document.querySelectorAll('#patch-attention .ramp .legend [data-label]')].at(-1)?.textContent.trim()";

async fn open(browser: &Browser, address: &str) {
    browser.open_ready(address).await.expect("the lesson works");
    browser
        .wait_for(
            "the answer to the first drawing",
            &format!("return ({ANSWER}) === '4'"),
        )
        .await;
}

async fn press(browser: &Browser, button: &str) {
    let place = format!("//section[@id='draw-a-digit']//button[{button}]");
    click(browser, Locator::XPath(&place)).await;
}

/// Brings a cell into view.
async fn scroll_to(browser: &Browser, cell: &str) {
    let script = format!(
        "document.querySelector('#{cell}').scrollIntoView({{ block: 'center', behavior: 'instant' }})"
    );
    browser.script(&script, &[]).await;
}

/// The first cell shows the moments of a drawing of two strokes that is read as a 7: a chart with a line
/// where the second stroke begins, and in the fold a sketch for each change, the last of a 7.
async fn assert_its_moments(browser: &Browser) {
    let chart = "const chart = document.querySelector('#draw-a-digit .chart-drawing svg');
        return chart !== null && chart.textContent.includes('stroke 2')";
    browser
        .wait_for("the second stroke in the chart", chart)
        .await;
    browser.script(FOLD_AGAIN, &[]).await;
    let fold = "//section[@id='draw-a-digit']//details/summary[.='Where it changed its mind']";
    click(browser, Locator::XPath(fold)).await;
    let sketches = "const all = [...document.querySelectorAll('#draw-a-digit details[open] .sketches > li')];
        const drawn = all.every(one => one.querySelector('.sketch path').getAttribute('d').startsWith('M'));
        const last = from => all.at(-1)?.querySelector(`[data-from^=\"change.${from}[\"]`)?.textContent;
        return drawn && last('to') === '7' && last('stroke') === '2'";
    browser.wait_for("a sketch of each change", sketches).await;
}

/// With the mouse: the pad is cleared, a straight line is drawn and read as a 1 while the button is
/// still down; a bar makes it a 7, and taking the bar back a 1 again. The cells below follow.
#[test]
fn a_digit_is_drawn_with_the_mouse() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        open(browser, &server.url("lesson/vit/")).await;
        let mut of_the_four = Vec::new();
        for (cell, shown) in [("patch-attention", WEIGHTS), ("four-equations", LAST_MAP)] {
            scroll_to(browser, cell).await;
            browser
                .wait_for(cell, &format!("return ({shown}).length > 5"))
                .await;
            let of_the_cell = browser.script(&format!("return {shown}"), &[]).await;
            of_the_four.push((cell, shown, of_the_cell));
        }
        press(browser, "normalize-space()='Clear'").await;
        browser
            .wait_for(
                "an empty pad, and what a blank picture is read as",
                &format!("return ({STROKES}) === 0 && document.querySelector('#draw-a-digit .verdict').textContent.includes('The pad is empty')"),
            )
            .await;
        let place = "const pad = document.querySelector('#draw-a-digit .pad-sheet > svg');
            pad.scrollIntoView({ block: 'center', behavior: 'instant' });
            const box = pad.getBoundingClientRect(); return [box.x, box.y, box.width]";
        let found = browser.script(place, &[]).await;
        let [left, top, side] = [0, 1, 2].map(|n| found[n].as_f64().expect("a number"));
        let at = |x: f64, y: f64| (left + x * side, top + y * side);
        let mouse = async |kind: &str, (x, y): (f64, f64)| {
            let event = json!({ "type": kind, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1 });
            browser.devtools("Input.dispatchMouseEvent", event).await;
        };
        let line = async |from: (f64, f64), to: (f64, f64)| {
            mouse("mousePressed", at(from.0, from.1)).await;
            for n in 1..=12 {
                let share = f64::from(n) / 12.0;
                let between = |a: f64, b: f64| a + (b - a) * share;
                mouse(
                    "mouseMoved",
                    at(between(from.0, to.0), between(from.1, to.1)),
                )
                .await;
            }
        };
        line((0.55, 0.2), (0.48, 0.8)).await;
        browser
            .wait_for(
                "a 1 before the button is released",
                &format!("return ({ANSWER}) === '1'"),
            )
            .await;
        mouse("mouseReleased", at(0.48, 0.8)).await;
        line((0.2, 0.2), (0.55, 0.2)).await;
        mouse("mouseReleased", at(0.55, 0.2)).await;
        browser
            .wait_for(
                "a 7 of two strokes",
                &format!("return ({ANSWER}) === '7' && ({STROKES}) === 2"),
            )
            .await;
        for cell in ["class-token-lens", "class-or-mean"] {
            let script = format!(
                "document.querySelector('#{cell}').scrollIntoView({{ block: 'center', behavior: 'instant' }});
                 return [...document.querySelectorAll('#{cell} .verdict strong')].some(s => s.textContent === '7')"
            );
            browser.wait_for(&format!("a 7 in {cell}"), &script).await;
        }
        for (cell, shown, before) in of_the_four {
            scroll_to(browser, cell).await;
            let is_other =
                format!("const now = {shown}; return now.length > 5 && now !== {before}");
            browser
                .wait_for(&format!("{cell} of the 7"), &is_other)
                .await;
        }
        assert_its_moments(browser).await;
        press(browser, "normalize-space()='Undo stroke'").await;
        browser
            .wait_for(
                "a 1 again",
                &format!("return ({ANSWER}) === '1' && ({STROKES}) === 1"),
            )
            .await;
    });
}

/// With the keyboard alone: arrow keys move the pen, Space puts it down, and a line is read as a 1. The
/// address then holds the drawing, and opening it shows the same.
#[test]
fn a_digit_is_drawn_with_the_keyboard_and_kept_in_the_address() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::PHONE_DARK).await;
        open(browser, &server.url("lesson/vit/")).await;
        press(browser, "normalize-space()='Clear'").await;
        browser
            .script(
                "document.querySelector('#draw-a-digit .pad-sheet').focus()",
                &[],
            )
            .await;
        let focused = browser.client().active_element().await;
        let focused = focused.expect("the pad has the focus");
        // Space, eleven steps down, Space.
        focused
            .send_keys(&format!(" {} ", "\u{e015}".repeat(11)))
            .await
            .expect("the keys are sent");
        browser
            .wait_for(
                "a 1 of one stroke",
                &format!("return ({ANSWER}) === '1' && ({STROKES}) === 1"),
            )
            .await;
        let said = "return document.querySelector('#draw-a-digit .pad-sheet .vh').textContent.startsWith('Pen up')";
        assert_eq!(
            browser.script(said, &[]).await,
            json!(true),
            "the pen is lifted"
        );
        pause(600).await;
        let address = browser.script("return location.href", &[]).await;
        let address = address.as_str().expect("an address").to_owned();
        assert!(address.contains("?s="), "{address}");
        browser
            .open_ready(&server.url(""))
            .await
            .expect("the home page");
        browser.open_ready(&address).await.expect("the shared link");
        browser
            .wait_for(
                "the drawing of the link",
                &format!("return ({ANSWER}) === '1' && ({STROKES}) === 1"),
            )
            .await;
    });
}

/// A ready digit, and a patch as query in place of the class token.
#[test]
fn a_patch_is_asked_where_it_looks() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        open(browser, &server.url("lesson/vit/")).await;
        press(browser, "@aria-label='Draw me a 8'").await;
        browser
            .wait_for("an 8", &format!("return ({ANSWER}) === '8'"))
            .await;
        let shown = "document.querySelector('#patch-attention [data-from^=\"largest\"]')?.textContent ?? ''";
        let query =
            "document.querySelector('#patch-attention [data-from=\"query\"]')?.textContent ?? ''";
        let scroll = "document.querySelector('#patch-attention').scrollIntoView({ block: 'start', behavior: 'instant' })";
        browser.script(scroll, &[]).await;
        browser
            .wait_for(
                "the weights of the class token",
                &format!("return ({shown}).length > 1"),
            )
            .await;
        let before = browser.script(&format!("return {shown}"), &[]).await;
        let top_is = async |top: &str| {
            let what = format!("a scale that ends at {top}");
            let is_so = format!("return ({TOP}) === '{top}'");
            browser.wait_for(&what, &is_so).await;
        };
        top_is("1.0").await;
        // The middle patch of 49.
        click(browser, Locator::Css("#patch-attention .patch-grid canvas")).await;
        browser
            .wait_for(
                "the weights of the patch",
                &format!("return ({query}) === '25' && ({shown}) !== {before}"),
            )
            .await;
        // Another head, by its map.
        let at_patch = browser.script(&format!("return {shown}"), &[]).await;
        click(
            browser,
            Locator::Css("#patch-attention .head-map:nth-child(9) canvas"),
        )
        .await;
        browser
            .wait_for("another head", &format!("return ({shown}) !== {at_patch}"))
            .await;
        // All heads have one scale, rollout has another.
        top_is("1.0").await;
        for (shown, top) in [("rollout", "0.1"), ("one head", "1.0")] {
            let segment = format!("#patch-attention .segment:has(input[value='{shown}'])");
            click(browser, Locator::Css(&segment)).await;
            top_is(top).await;
        }
        click(
            browser,
            Locator::XPath(
                "//section[@id='patch-attention']//button[normalize-space()='Class token']",
            ),
        )
        .await;
        browser
            .wait_for(
                "the class token as query",
                &format!("return ({query}) === ''"),
            )
            .await;
    });
}

/// The answer is read off the class token, then off a patch that is clicked, then off the one beside it,
/// after the number of blocks of the slider; the colours of the patches have a key with their numbers.
#[test]
fn any_token_is_read_off_after_any_block() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        open_lesson(browser, &server, "vit").await;
        let cell = "class-token-lens";
        scroll_to(browser, cell).await;
        // After two blocks the patches say different things, after four nearly all a 4.
        wait_for_shown(browser, cell, "groups.count[0]", "21").await;
        let slider = "#class-token-lens .slider input[type=range]";
        press_keys(browser, slider, &[Key::Right; 2]).await;
        wait_for_shown(browser, cell, "groups.count[0]", "47").await;
        let first = "return document.querySelector('#class-token-lens .class-keys li [data-label]').textContent";
        assert_eq!(browser.script(first, &[]).await, json!("4"));
        // The map of the class token begins with a 5; that of the patch in the middle does not.
        wait_for_shown(browser, cell, "lens[0,5]", "0.38").await;
        click(
            browser,
            Locator::Css("#class-token-lens .patch-grid canvas"),
        )
        .await;
        wait_for_shown(browser, cell, "token", "25").await;
        wait_until(browser, cell, "lens[0,5]", "text !== '0.38'").await;
        press_keys(browser, "#class-token-lens .patch-grid", &[Key::Right]).await;
        wait_for_shown(browser, cell, "token", "26").await;
        let said = "return document.querySelector('#class-token-lens .verdict').textContent.includes('Patch 26 after 4 blocks: 4,')";
        browser.wait_for("what patch 26 says", said).await;
        let button = "//section[@id='class-token-lens']//button[normalize-space()='Class token']";
        click(browser, Locator::XPath(button)).await;
        wait_for_shown(browser, cell, "lens[0,5]", "0.38").await;
    });
}

/// Every head is switched off in turn: no head alone turns the 4, and another class is chosen.
#[test]
fn every_head_is_switched_off() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        open_lesson(browser, &server, "vit").await;
        let cell = "class-heads";
        let unfold = "const cell = document.getElementById('class-heads');
            cell.closest('details').open = true;
            cell.scrollIntoView({ block: 'center', behavior: 'instant' })";
        browser.script(unfold, &[]).await;
        wait_for_shown(browser, cell, "turned", "0").await;
        wait_for_shown(browser, cell, "count", "16").await;
        let first = "return document.querySelector('#class-heads tbody th').textContent === 'Layer 3, head 3'";
        browser.wait_for("the head that is worth most", first).await;
        let choose = "const classes = document.querySelector('#class-heads select[name=class]');
            classes.value = '1';
            classes.dispatchEvent(new Event('change', { bubbles: true }));
            return [...classes.options].map(option => option.textContent).slice(0, 2).join()";
        assert_eq!(browser.script(choose, &[]).await, json!("4,9"));
        let other = "return document.querySelector('#class-heads tbody th').textContent !== 'Layer 3, head 3'";
        browser.wait_for("the heads of the 9", other).await;
    });
}
