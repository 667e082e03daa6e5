//! Training in the tab as a reader does it: start, pause, a step, back to the beginning.

use fantoccini::Locator;
use serde_json::json;

use super::browser::{Browser, Look, pause, with_browser};
use super::reader::click;
use super::site;
use browser_harness::{Habits, Server};

const START: Locator<'static> = Locator::Css("#train-tiny [data-train=start]");
const STEP: Locator<'static> = Locator::Css("#train-tiny [data-train=step]");
const REWIND: Locator<'static> = Locator::Css("#train-tiny [data-train=rewind]");

/// Longest time between two frames while the model learns, in milliseconds: longer halts the page,
/// whatever else the machine does.
const LONGEST_FRAME_MS: f64 = 1000.0;

/// What the cell with the player says.
async fn readout(browser: &Browser, name: &str) -> String {
    readout_of(browser, "train-tiny", name).await
}

async fn wait_for_steps(browser: &Browser, condition: &str) {
    wait_for_steps_of(browser, "train-tiny", condition).await;
}

/// What a cell says under a name.
pub(crate) async fn readout_of(browser: &Browser, cell: &str, name: &str) -> String {
    let script = "return document.querySelector(`#${arguments[0]} [data-train=\"${arguments[1]}\"]`).textContent.trim()";
    let text = browser.script(script, &[json!(cell), json!(name)]).await;
    text.as_str().unwrap_or_default().to_owned()
}

/// Waits until the steps of a cell fulfil a condition; an exact number has to be there with all
/// that it gives, and a run that goes on is hardly ever found at rest.
pub(crate) async fn wait_for_steps_of(browser: &Browser, cell: &str, condition: &str) {
    let goes_on = condition.starts_with('>');
    let script = format!(
        "const cell = document.getElementById('{cell}');
         const shown = cell.querySelector('[data-train=steps]');
         if (!shown) return false;
         const steps = Number(shown.textContent.replace(',', ''));
         return (cell.dataset.state === 'ready' || {goes_on}) && steps {condition}"
    );
    browser
        .wait_for(&format!("steps {condition}"), &script)
        .await;
}

async fn open(browser: &Browser, server: &Server) {
    browser.look(Look::DESK_LIGHT).await;
    browser
        .open_ready(&server.url(&site::lesson("training")))
        .await
        .expect("the lesson works");
}

/// A run that nobody has touched starts when it is seen, and is no edit; a pause makes it the
/// reader's. A shared number of steps stays as it is, and so does a run of a reader who wants less
/// motion.
#[test]
fn a_run_starts_when_it_is_seen_unless_the_reader_wants_rest() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open(browser, &server).await;
        let until =
            "return document.querySelector('#train-tiny .chart-until')?.checkVisibility() ?? false";
        browser.wait_for("a sentence in place of axes", until).await;
        pause(1000).await;
        assert_eq!(readout(browser, "steps").await, "0");

        let motion = json!({ "name": "prefers-reduced-motion", "value": "no-preference" });
        let media = json!({ "features": [motion] });
        browser.devtools("Emulation.setEmulatedMedia", media).await;
        let page = browser.script("return location.href", &[]).await;
        let page = page.as_str().unwrap_or_default();
        browser.open(page).await;
        wait_for_steps(browser, ">= 3").await;
        let edited = "return location.hash + document.querySelectorAll('.page-tools [aria-disabled=false]').length";
        assert_eq!(browser.script(edited, &[]).await, json!("0"), "no edit");
        let charts = "return document.querySelectorAll('#train-tiny .chart-until').length";
        assert_eq!(browser.script(charts, &[]).await, json!(0));

        let away = "scrollTo({ top: document.body.scrollHeight, behavior: 'instant' })";
        browser.script(away, &[]).await;
        pause(1500).await;
        let steps = readout(browser, "steps").await;
        pause(1500).await;
        assert_eq!(readout(browser, "steps").await, steps, "nobody sees it");

        // A click of the driver scrolls, smoothly where motion is wanted, and misses.
        let press = "document.querySelector('#train-tiny [data-train=start]').click()";
        browser.script(press, &[]).await;
        let written = "return location.hash.includes('s=')";
        browser.wait_for("the steps in the address", written).await;
        let address = browser.script("return location.href", &[]).await;
        let steps = readout(browser, "steps").await;
        browser.open(address.as_str().unwrap_or_default()).await;
        wait_for_steps(browser, &format!("=== {steps}")).await;
        pause(1500).await;
        assert_eq!(readout(browser, "steps").await, steps, "as it was shared");
    });
}

/// Three steps, all the way back, three steps again: the same digits; and not those of another
/// seed.
#[test]
fn rewinding_gives_the_same_losses_again() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open(browser, &server).await;
        let before = readout(browser, "held.now").await;
        let mut losses = Vec::new();
        for _ in 0..2 {
            for n in 1..=3 {
                click(browser, STEP).await;
                wait_for_steps(browser, &format!("=== {n}")).await;
            }
            losses.push(readout(browser, "loss.now").await);
            click(browser, REWIND).await;
            wait_for_steps(browser, "=== 0").await;
            assert_eq!(readout(browser, "held.now").await, before);
        }
        assert_eq!(losses[0], losses[1]);
        assert!(losses[0].parse::<f64>().is_ok(), "{losses:?}");
    });
}

/// While it learns, frames go on; a pause is a pause; the way it was run changes nothing; who
/// leaves the page ends the work.
#[test]
fn a_run_can_be_paused_and_the_page_stays_smooth() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open(browser, &server).await;
        browser
            .script(
                "window.longestFrame = 0; let last = performance.now();
                 const tick = now => { longestFrame = Math.max(longestFrame, now - last); last = now; requestAnimationFrame(tick) };
                 requestAnimationFrame(tick)",
                &[],
            )
            .await;
        click(browser, START).await;
        wait_for_steps(browser, ">= 6").await;
        let longest = browser.script("return longestFrame", &[]).await;
        let longest = longest.as_f64().unwrap_or(f64::INFINITY);
        assert!(longest < LONGEST_FRAME_MS, "a frame of {longest} ms");

        click(browser, START).await;
        pause(1500).await;
        let (steps, loss) = (
            readout(browser, "steps").await,
            readout(browser, "loss.now").await,
        );
        pause(1500).await;
        assert_eq!(readout(browser, "steps").await, steps, "a pause is a pause");

        // The address holds the number of steps: opened anew, the page trains as far and gets
        // there.
        browser
            .wait_for(
                "the state in the address",
                "return location.hash.includes('s=')",
            )
            .await;
        let address = browser.script("return location.href", &[]).await;
        browser.open(server.url("").as_str()).await;
        browser
            .open_ready(address.as_str().unwrap_or_default())
            .await
            .expect("the link works");
        assert_eq!(readout(browser, "steps").await, steps);
        assert_eq!(readout(browser, "loss.now").await, loss);
    });
}
