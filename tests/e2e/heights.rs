//! Cells are low enough to be seen whole, so a control and its effect are seen together: what a
//! cell holds besides its one idea is folded away. `visit.rs` opens the lessons.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::browser::{Browser, Look, with_browser};
use super::site;
use browser_harness::{FOLD_AGAIN, Habits};

/// The width of the window, and the height that a cell may have there: most of a screen at a desk,
/// two screens of a phone.
const WINDOWS: [(u32, u32); 2] = [(1280, 700), (390, 1688)];

/// What a number with more digits, or another minor version of the browser, may add to a cell.
const SLACK: u32 = 12;

/// The cells that are higher, with what they may have at both widths and what they show at once.
/// None may grow; one that becomes low enough leaves this list.
const HIGHER: &[(&str, [u32; 2], &str)] = &[
    (
        "qkv-by-hand",
        [990, 2300],
        "eight matrices whose entries are followed through",
    ),
    (
        "train-tiny",
        [850, 1688],
        "the loss beside the map where the diagonal appears",
    ),
    (
        "distance",
        [840, 1688],
        "a map of all pairs, and the numbers of a row and a column",
    ),
    (
        "rotary",
        [700, 1797],
        "two planes, each before and after turning",
    ),
];

/// Brings each cell of the open page into view, and gives the height of each once none changes.
async fn heights(browser: &Browser) -> BTreeMap<String, u32> {
    let measured = browser
        .script_async(
            "const done = arguments[0];
             const frames = n => new Promise(then => requestAnimationFrame(() => n > 1 ? frames(n - 1).then(then) : then()));
             (async () => {
                 const cells = [...document.querySelectorAll('[data-cell]')];
                 for (const cell of cells) {
                     cell.scrollIntoView({ behavior: 'instant' });
                     await frames(3);
                 }
                 // A map chooses its density once an observer has told its width.
                 const all = () => cells.map(cell => cell.getBoundingClientRect().height).join();
                 for (let looks = 0, before = ''; looks < 50 && before !== all(); looks++) {
                     before = all();
                     await new Promise(then => setTimeout(then, 250));
                 }
                 done(Object.fromEntries(cells.map(cell => [cell.id, Math.ceil(cell.getBoundingClientRect().height)])));
             })();",
            &[],
        )
        .await;
    serde_json::from_value(measured).expect("names and heights")
}

/// The listed cells that no page has shown to be higher yet.
pub(crate) fn listed_as_higher() -> Vec<&'static str> {
    HIGHER.iter().map(|(cell, ..)| *cell).collect()
}

/// The cells of the open lesson that are too high at either width, folded as a reader finds it; those
/// that are higher than most are taken from the list. The window is of the second width afterwards.
pub(crate) async fn too_high(browser: &Browser, needless: &mut Vec<&str>) -> Vec<String> {
    browser.script(FOLD_AGAIN, &[]).await;
    let mut faults = Vec::new();
    for (which, (width, most)) in WINDOWS.into_iter().enumerate() {
        browser
            .look(Look {
                width,
                height: 844,
                dark: false,
            })
            .await;
        for (cell, height) in heights(browser).await {
            let listed = HIGHER.iter().find(|(name, ..)| *name == cell);
            let bound = listed.map_or(most, |(_, bounds, _)| bounds[which].max(most));
            if height > bound + SLACK {
                faults.push(format!(
                    "{cell} is {height} px high at {width} px, above {bound}"
                ));
            }
            if height + SLACK > most {
                needless.retain(|name| *name != cell);
            }
        }
    }
    faults
}

/// The last line on a reader's first screen at which a lesson's first cell may begin.
const FIRST_BEGINS: u32 = 800;

/// What is wrong with the place of the open lesson's first cell: a reader sees that there is something
/// to do before scrolling.
pub(crate) async fn first_begins_too_low(browser: &Browser) -> Option<String> {
    let top = "return Math.round(document.querySelector('[data-cell]').getBoundingClientRect().top + scrollY)";
    let top = browser.script(top, &[]).await;
    let is_low = top.as_u64().is_none_or(|top| top > u64::from(FIRST_BEGINS));
    is_low.then(|| format!("the first cell begins at {top} px, below {FIRST_BEGINS}"))
}

/// The axes of a chart appear with its first curve: a cell that trains keeps its height when it
/// does.
#[test]
fn a_run_does_not_move_what_is_below_it() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        let opened = browser.open_ready(&server.url("lesson/training/")).await;
        opened.expect("the lesson works");
        let before = heights(browser).await;
        for cell in ["train-tiny", "break-it"] {
            let press = format!("document.querySelector('#{cell} [data-train=start]').click()");
            browser.script(&press, &[]).await;
            super::training::wait_for_steps_of(browser, cell, ">= 3").await;
            browser.script(&press, &[]).await;
            let height = format!(
                "return Math.ceil(document.getElementById('{cell}').getBoundingClientRect().height)"
            );
            let after: Value = browser.script(&height, &[]).await;
            assert_eq!(after, json!(before[cell]), "{cell}");
        }
    });
}
