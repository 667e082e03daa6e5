//! The lesson on the Vision Transformer, as a reader uses it: a digit is drawn with the mouse and with
//! the keyboard, a patch is asked where it looks, and every cell follows the drawing.

use fantoccini::Locator;
use fantoccini::key::Key;
use serde_json::json;

use super::browser::{Browser, Look, pause, with_browser};
use super::reader::{self, click, open_lesson, wait_for_shown, wait_until};
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

/// The cell of the whole model.
const WHOLE: &str = "whole-vit";

/// The words of its chosen buttons, such as `Block 2, weights`.
const CHOSEN: &str = "[...document.querySelectorAll('#whole-vit .rail [aria-pressed=true]')].map(b => b.textContent.trim()).join(', ')";

/// What its selected number is called, such as `class token, patch 18`.
const NAMED: &str = "document.querySelector('#whole-vit .whole-open .panel-title [data-label]')?.textContent.trim()";

async fn wait_for_chosen(browser: &Browser, expected: &str) {
    let condition = format!("return ({CHOSEN}) === {}", json!(expected));
    browser.wait_for(expected, &condition).await;
}

async fn wait_for_named(browser: &Browser, expected: &str) {
    let condition = format!("return ({NAMED}) === {}", json!(expected));
    browser.wait_for(expected, &condition).await;
}

/// From a weight by its score and a factor of it to a pixel of the drawing; each number is the one
/// that was pressed.
#[test]
fn a_weight_leads_back_to_a_pixel() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "vit").await;
        wait_for_chosen(browser, "Block 2, weights").await;
        wait_for_named(browser, "class token, patch 18").await;
        let of_step = ".whole-open .sum .term-origin";
        for (place, from, expected) in [
            ("18,0", "terms[18,0]", "Block 2, scores"),
            ("2,1", "terms[2,1]", "Block 2, K"),
            ("5,0", "terms[5,0]", "Block 2, norm"),
            ("", "steps[0]", "Block 1, +"),
            ("0,0", "terms[0,0]", "Block 1, +"),
            ("0,0", "terms[0,0]", "Embedding, sum"),
            ("0,0", "terms[0,0]", "Embedding, class token"),
            ("", "steps[0]", "Embedding, \u{d7} E"),
            ("6,0", "terms[6,0]", "Embedding, patches"),
            ("", "steps[0]", "Embedding, picture"),
        ] {
            let number = format!(
                "return document.querySelector(\"#whole-vit [data-from='{from}']\").textContent.trim()"
            );
            let number = browser.script(&number, &[]).await;
            let origin = match place {
                "" => format!("#{WHOLE} {of_step}"),
                place => format!("#{WHOLE} .term-list .term-origin[data-at='{place}']"),
            };
            click(browser, Locator::Css(&origin)).await;
            wait_for_chosen(browser, expected).await;
            let number = number.as_str().expect("a number");
            wait_for_shown(browser, WHOLE, "value", number).await;
        }
        // Number 7 of patch 18, which is the fourth of the third row of patches.
        wait_for_named(browser, "row 10, column 15").await;
        let complaints = browser.complaints(&server.origin()).await;
        assert!(complaints.is_empty(), "{complaints:?}");
    });
}

/// A block is opened, a place of its map is pressed, and the bars follow the drawing whatever is
/// open.
#[test]
fn the_whole_model_follows_the_drawing() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "vit").await;
        wait_for_shown(browser, WHOLE, "answer", "4").await;
        let block = "#whole-vit .whole-stages li:nth-child(4) button";
        click(browser, Locator::Css(block)).await;
        wait_for_chosen(browser, "Block 3, weights").await;
        // The middle of the map is a corner of four numbers.
        click(browser, Locator::Css("#whole-vit .whole-map canvas")).await;
        let is_middle = format!("return /^patch 2[45], patch 2[45]$/.test({NAMED})");
        browser.wait_for("a number in the middle", &is_middle).await;
        let middle = browser.script(&format!("return {NAMED}"), &[]).await;
        let middle = middle.as_str().expect("its name").to_owned();
        let weight = "document.querySelector('#whole-vit [data-from=value]').textContent";
        let before = browser.script(&format!("return {weight}"), &[]).await;
        click(
            browser,
            Locator::Css("#whole-vit [aria-label='Draw me a 7']"),
        )
        .await;
        wait_for_shown(browser, WHOLE, "answer", "7").await;
        wait_until(
            browser,
            WHOLE,
            "probabilities[7]",
            "parseFloat(text) > 80 && parseFloat(text) <= 100",
        )
        .await;
        let other = format!("return {weight} !== {before}");
        browser.wait_for("the weight of the 7", &other).await;
        wait_for_named(browser, &middle).await;
        click(browser, Locator::Css("#whole-vit [data-whole=next]")).await;
        wait_for_chosen(browser, "Block 3, mix").await;
        let last = "#whole-vit .whole-stages li:last-child button";
        click(browser, Locator::Css(last)).await;
        wait_for_chosen(browser, "Prediction, softmax").await;
        // The map of one row is a table, and its numbers are those of the bars.
        click(
            browser,
            Locator::Css("#whole-vit .heat-table [data-at='0,7']"),
        )
        .await;
        wait_for_named(browser, "class token, 7").await;
        let same = "const number = from => parseFloat(document.querySelector(`#whole-vit [data-from='${from}']`).textContent);
            return Math.abs(100 * number('value') - number('probabilities[7]')) < 0.06";
        browser.wait_for("the number of the bar", same).await;
    });
}

/// Without a pointer: arrow keys walk the buttons, the map and the terms, Enter opens, and a line is
/// drawn with the arrow keys.
#[test]
fn the_keyboard_alone_opens_and_draws() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "vit").await;
        wait_for_chosen(browser, "Block 2, weights").await;
        let stage = "#whole-vit .whole-stages [tabindex='0']";
        reader::press(browser, stage, &[Key::Right, Key::Right, Key::Enter]).await;
        wait_for_chosen(browser, "Block 4, weights").await;
        let map = "#whole-vit .whole-map .heat-canvas";
        reader::press(browser, map, &[Key::Down, Key::Right, Key::Enter]).await;
        wait_for_named(browser, "patch 1, patch 19").await;
        let factor = "#whole-vit .term-list .term-origin[tabindex='0']";
        reader::press(browser, factor, &[Key::Down, Key::Enter]).await;
        wait_for_chosen(browser, "Block 4, scores").await;
        wait_for_named(browser, "patch 1, patch 1").await;
        let clear = "//section[@id='whole-vit']//button[normalize-space()='Clear']";
        click(browser, Locator::XPath(clear)).await;
        wait_for_shown(browser, WHOLE, "answer", "1").await;
        let bar =
            "document.querySelector(\"#whole-vit [data-from='probabilities[1]']\").textContent";
        let blank = browser.script(&format!("return {bar}"), &[]).await;
        // A line of two thirds of the sheet.
        let mut line = vec![Key::Down; 13];
        line[0] = Key::Space;
        line[12] = Key::Space;
        reader::press(browser, "#whole-vit .pad-sheet", &line).await;
        let drawn = format!("return {bar} !== {blank}");
        browser.wait_for("the answer to a line", &drawn).await;
        wait_for_shown(browser, WHOLE, "answer", "1").await;
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
        reader::press(browser, slider, &[Key::Right; 2]).await;
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
        reader::press(browser, "#class-token-lens .patch-grid", &[Key::Right]).await;
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
        let first = "return document.querySelector('#class-heads .values tbody th').textContent === 'Layer 3, head 3'";
        browser.wait_for("the head that is worth most", first).await;
        let choose = "const classes = document.querySelector('#class-heads select[name=class]');
            classes.value = '1';
            classes.dispatchEvent(new Event('change', { bubbles: true }));
            return [...classes.options].map(option => option.textContent).slice(0, 2).join()";
        assert_eq!(browser.script(choose, &[]).await, json!("4,9"));
        let other = "return document.querySelector('#class-heads .values tbody th').textContent !== 'Layer 3, head 3'";
        browser.wait_for("the heads of the 9", other).await;
    });
}
