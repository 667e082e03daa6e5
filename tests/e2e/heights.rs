//! Cells are low enough to be seen whole, so a control and its effect are seen together: what a
//! cell holds besides its one idea is folded away.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::browser::{Browser, Look, with_browser};
use super::site;
use browser_harness::Habits;

/// The width of the window, and the height that a cell may have there: most of a screen at a desk,
/// two screens of a phone.
const WINDOWS: [(u32, u32); 2] = [(1280, 700), (390, 1688)];

/// What a number with more digits, or another minor version of the browser, may add to a cell.
const SLACK: u32 = 12;

/// The cells that are higher, with what they may have at both widths and what they show at once.
/// None may grow; one that becomes low enough leaves this list.
const HIGHER: &[(&str, [u32; 2], &str)] = &[
    (
        "forgetting",
        [880, 1688],
        "a bar and a translation for each of fourteen tokens",
    ),
    (
        "train-the-race",
        [751, 1688],
        "two charts that are compared",
    ),
    (
        "path-length",
        [823, 1688],
        "four pictures that are compared",
    ),
    (
        "alignment-lines",
        [739, 1688],
        "two sentences and the lines between them",
    ),
    (
        "additive-and-dot",
        [787, 1688],
        "the matrices of a small network, and the sum of one entry",
    ),
    (
        "alignment-gradient",
        [762, 1688],
        "the steps, and two charts that they move",
    ),
    (
        "qkv-by-hand",
        [1000, 2300],
        "eight matrices whose entries are followed through",
    ),
    (
        "permutation",
        [965, 1688],
        "two maps that are compared row by row",
    ),
    (
        "cross-attention",
        [803, 1688],
        "two sentences, bars and both maps",
    ),
    (
        "softmax-temperature",
        [755, 1688],
        "a row to edit, and the three rows that follow",
    ),
    (
        "mask-editor",
        [811, 1688],
        "a mask to press, and the weights that it leaves",
    ),
    (
        "leak-test",
        [833, 1688],
        "two tables that are compared token by token",
    ),
    (
        "three-attentions",
        [775, 1688],
        "two sentences and three maps",
    ),
    (
        "bag-of-words",
        [846, 1688],
        "two tables that are compared token by token",
    ),
    (
        "distance",
        [895, 1688],
        "a map of all pairs, and the pair in words",
    ),
    ("learned-table", [775, 1688], "three maps that are added"),
    (
        "relative-bias",
        [760, 1688],
        "a row of biases, and both maps that it makes",
    ),
    ("alibi", [769, 1688], "the slopes, and both maps of a head"),
    (
        "rotary",
        [797, 1797],
        "two planes, each before and after turning",
    ),
    (
        "train-tiny",
        [910, 1688],
        "the loss beside the map where the diagonal appears",
    ),
    ("break-it", [750, 1688], "six switches and two charts"),
    (
        "gradient-check",
        [843, 1688],
        "a curve, and the numbers of a difference",
    ),
    ("patch-cutter", [869, 1688], "a picture"),
    (
        "patch-embedding",
        [875, 1688],
        "a picture, and two tables that are compared",
    ),
];

/// Opens a page, brings each cell into view, and gives the height of each.
async fn heights(browser: &Browser, url: &str) -> BTreeMap<String, u32> {
    browser.open(url).await;
    browser
        .wait_for(
            "every cell",
            "dispatchEvent(new Event('beforeprint'));
             return [...document.querySelectorAll('[data-cell]')].every(cell => cell.dataset.state === 'ready')",
        )
        .await;
    let measured = browser
        .script_async(
            "const done = arguments[0];
             const frames = n => new Promise(then => requestAnimationFrame(() => n > 1 ? frames(n - 1).then(then) : then()));
             (async () => {
                 const cells = [...document.querySelectorAll('[data-cell]')];
                 for (const cell of cells) {
                     cell.scrollIntoView({ behavior: 'instant' });
                     await frames(6);
                 }
                 done(Object.fromEntries(cells.map(cell => [cell.id, Math.ceil(cell.getBoundingClientRect().height)])));
             })();",
            &[],
        )
        .await;
    serde_json::from_value(measured).expect("names and heights")
}

#[test]
fn cells_are_low_enough_to_be_seen_whole() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        let mut faults = Vec::new();
        let mut needless: Vec<&str> = HIGHER.iter().map(|(cell, ..)| *cell).collect();
        for (which, (width, most)) in WINDOWS.into_iter().enumerate() {
            browser
                .look(Look {
                    width,
                    height: 844,
                    dark: false,
                })
                .await;
            for page in site::lessons() {
                for (cell, height) in heights(browser, &server.url(&page)).await {
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
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
        assert!(needless.is_empty(), "low enough now: {needless:?}");
    });
}

/// The axes of a chart appear with its first curve: a cell that trains keeps its height when it
/// does.
#[test]
fn a_run_does_not_move_what_is_below_it() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        let before = heights(browser, &server.url("lesson/training/")).await;
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
