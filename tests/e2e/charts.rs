//! What a reader does with a chart: reads values off it, with the mouse and with the keys.

use fantoccini::key::Key;
use fantoccini::{Client, Locator};
use serde_json::{Value, json};

use super::browser::{Browser, Look, with_browser};
use super::provenance::{STRAY_DIGITS, compare_one, own, placed};
use super::reader::click;
use super::site;
use browser_harness::Habits;

/// The read-out of each chart at its last values: the cell, where each value comes from, its format
/// and its text; then the digits of unknown origin, which the script in place of `@stray` finds.
const READ_ALL: &str = "
    const [done] = arguments;
    const strayDigits = () => { @stray };
    const frames = n => new Promise(then => requestAnimationFrame(() => n > 1 ? frames(n - 1).then(then) : then()));
    (async () => {
        const shown = [], stray = [];
        for (const reader of document.querySelectorAll('.chart-reader:not([hidden])')) {
            reader.focus();
            reader.dispatchEvent(new KeyboardEvent('keydown', { key: 'End', bubbles: true, cancelable: true }));
            await frames(2);
            const cell = reader.closest('[data-cell]').id;
            const values = [...reader.querySelectorAll('[data-from]')];
            if (!values.length) stray.push(`${cell}: a chart without values`);
            shown.push(...values.map(value => [cell, value.dataset.from, value.dataset.format ?? '', value.textContent.trim()]));
            stray.push(...strayDigits());
            reader.blur();
        }
        done([shown, stray]);
    })();
";

/// Reads values off all charts of the open page: what the engine gives otherwise natively, digits of
/// unknown origin, and how many values were read.
pub(crate) async fn read_off(browser: &Browser) -> (Vec<String>, usize) {
    type Shown = (String, String, String, String);
    // A page's policy refuses a function that is made of a text.
    let read_all = READ_ALL.replace("@stray", STRAY_DIGITS);
    let cells = placed(browser).await;
    let answer = browser.script_async(&read_all, &[]).await;
    let (shown, mut faults): (Vec<Shown>, Vec<String>) =
        serde_json::from_value(answer).expect("values and faults");
    let read = shown.len();
    for (id, from, format, text) in shown {
        let cell = cells.iter().find(|cell| cell.id == id).expect("a cell");
        let natively = own(cell).unwrap_or_else(|error| panic!("{id}: {error}"));
        let compared = compare_one(&cell.inputs, &natively, &from, &format, &text);
        faults.extend(compared.err().map(|fault| format!("{id}: {fault}")));
    }
    (faults, read)
}

/// The first read-out of the open page.
const READER: Locator<'static> = Locator::Css(".chart-reader:not([hidden])");

/// Where the first chart begins in its cell and how high it is, and how many values are read off the
/// page's charts. The height of the page says nothing here: cells give reserved height back when the
/// reader scrolls.
async fn place_and_values(browser: &Browser) -> (Value, Value) {
    let place = browser
        .script(
            "const figure = document.querySelector('figure.chart:has(.chart-reader)');
             const cell = figure.closest('[data-cell]').getBoundingClientRect();
             const box = figure.getBoundingClientRect();
             return [box.top - cell.top, box.height].map(Math.round)",
            &[],
        )
        .await;
    let values = browser
        .script(
            "return document.querySelectorAll('.chart-values [data-from]').length",
            &[],
        )
        .await;
    (place, values)
}

async fn press(client: &Client, key: Key) {
    let active = client.active_element().await.expect("an element");
    active
        .send_keys(&key.to_string())
        .await
        .expect("keys arrive");
}

#[test]
fn mouse_and_keys_read_a_chart_and_nothing_moves() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        let opened = browser
            .open_ready(&server.url("lesson/relative-positions/"))
            .await;
        opened.expect("the lesson works");
        let (place, values) = place_and_values(browser).await;
        assert_eq!(values, json!(0));
        // A click points at the chart and gives it the focus.
        click(browser, READER).await;
        assert_ne!(place_and_values(browser).await, (place.clone(), json!(0)));
        let told = "return document.activeElement.getAttribute('aria-valuetext')";
        press(browser.client(), Key::Home).await;
        let first = browser.script(told, &[]).await;
        press(browser.client(), Key::Right).await;
        assert_ne!(browser.script(told, &[]).await, first);
        assert_eq!(
            place_and_values(browser).await.0,
            place,
            "the chart stays where it is"
        );
        press(browser.client(), Key::Escape).await;
        assert_eq!(place_and_values(browser).await, (place, json!(0)));
    });
}

#[test]
fn another_theme_colours_the_same_drawing() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        let colour = "const line = document.querySelector('.chart .plot .s');
            window.seen ??= line;
            return [getComputedStyle(line).stroke, window.seen === line]";
        browser.look(Look::DESK_LIGHT).await;
        let opened = browser
            .open_ready(&server.url("lesson/relative-positions/"))
            .await;
        opened.expect("the lesson works");
        let light = browser.script(colour, &[]).await;
        browser.look(Look::DESK_DARK).await;
        let light = light[0].as_str().expect("a colour").to_owned();
        let is_dark = format!(
            "return getComputedStyle(document.querySelector('.chart .plot .s')).stroke !== '{light}'"
        );
        browser
            .wait_for("the colours of the other theme", &is_dark)
            .await;
        let dark = browser.script(colour, &[]).await;
        assert_eq!(dark[1], json!(true), "nothing was drawn again");
    });
}
