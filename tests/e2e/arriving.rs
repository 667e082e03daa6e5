//! What a page fetches and when: models one by one, each shown as it arrives; little before the
//! reader's first cells are ready; nothing more for a reader who saves data.

use std::path::{Path, PathBuf};

use fantoccini::Locator;
use fantoccini::key::Key;
use serde_json::{Value, json};

use super::bench::copy;
use super::browser::{Browser, Look, pause, with_browser};
use super::site;
use browser_harness::{Habits, Server};

/// Most requests, and bytes on the line, until the home page asks for its offline copy. The headers
/// that the site lists are 460 bytes of each answer, which HTTP/2 would send once.
const MOST: (usize, usize) = (45, 1_377_000);

/// Runs before the scripts of a page: notes the states of the cells in the window when the page asks
/// for its offline copy, which it does not get.
const NOTE: &str = "
    navigator.serviceWorker.register = async () => {
        const cells = [...document.querySelectorAll('[data-cell]')].filter(cell => {
            const { top, bottom } = cell.getBoundingClientRect();
            return bottom > 0 && top < innerHeight;
        });
        window.asked = cells.map(cell => cell.dataset.state);
    };
";

async fn note(browser: &Browser) {
    let note = json!({ "source": NOTE });
    browser
        .devtools("Page.addScriptToEvaluateOnNewDocument", note)
        .await;
}

/// A copy of the site without one of its models or vocabularies.
pub(crate) struct Without {
    pub(crate) folder: PathBuf,
    model: String,
}

impl Without {
    pub(crate) fn new(file: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("without-{file}"));
        // An earlier run may have left the folder.
        let _ = std::fs::remove_dir_all(&folder);
        copy(&site::dist(), &folder);
        let model = format!("models/{file}");
        std::fs::remove_file(folder.join(&model)).unwrap();
        Self { folder, model }
    }

    pub(crate) fn put_back(&self) {
        std::fs::copy(
            site::dist().join(&self.model),
            self.folder.join(&self.model),
        )
        .unwrap();
    }
}

/// Without one model the cell shows what the others say, names the missing one, and is completed by
/// Retry.
#[test]
fn a_cell_of_three_models_shows_those_that_arrived() {
    let site = Without::new("translator.safetensors");
    let server = Server::start(&site.folder, Habits::ROOT).expect("a free port");
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        browser.open(&server.url(&site::lesson("bottleneck"))).await;
        let views =
            "return document.querySelectorAll('#seq2seq-race[data-state] textarea').length > 0";
        browser.wait_for("the view", views).await;
        // The served figure shows the whole result until an input changes.
        let edit = "const cell = document.getElementById('seq2seq-race');
            cell.scrollIntoView({ behavior: 'instant' });
            const box = cell.querySelector('.cell-view textarea');
            box.value = 'We see the house.';
            box.dispatchEvent(new Event('input', { bubbles: true }));
            box.dispatchEvent(new Event('change', { bubbles: true }))";
        browser.script(edit, &[]).await;
        let failed = "const cell = document.getElementById('seq2seq-race');
            return cell.dataset.state === 'error'
                && cell.querySelectorAll('.cell-view td[data-race]').length === 3
                && cell.querySelector('.cell-error button')?.textContent === 'Retry'";
        browser
            .wait_for("the cell to say what is missing", failed)
            .await;
        let texts = "const cell = document.getElementById('seq2seq-race');
            return [...cell.querySelectorAll('.cell-view td[data-race]')].map(td => td.textContent)
                .concat(cell.querySelector('.cell-error').textContent)";
        let found = browser.script(texts, &[]).await;
        let text = |place: usize| found[place].as_str().unwrap_or_default();
        assert!(!text(0).is_empty() && !text(1).is_empty(), "{found:?}");
        assert!(text(2).is_empty(), "{found:?}");
        assert!(text(3).contains("translator.safetensors"), "{found:?}");
        assert!(text(3).contains("from the files that arrived"), "{found:?}");

        site.put_back();
        let retry = "document.querySelector('#seq2seq-race .cell-error button').click()";
        browser.script(retry, &[]).await;
        let whole = "const cell = document.getElementById('seq2seq-race');
            return cell.dataset.state === 'ready'
                && [...cell.querySelectorAll('.cell-view td[data-race]')].every(td => td.textContent)";
        browser.wait_for("all three translations", whole).await;
    });
}

/// Cells below the window come to life once the reader does something; their figures are there
/// before.
#[test]
fn cells_below_the_window_wait_for_the_reader() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        browser
            .open(&server.url(&site::lesson("self-attention")))
            .await;
        let first = "return document.querySelector('[data-cell]').dataset.state === 'ready'";
        browser.wait_for("the first cell", first).await;
        let last = "const last = [...document.querySelectorAll('[data-cell]')].at(-1);
            return [last.dataset.state ?? 'asleep', last.querySelector('.served') !== null]";
        let found = browser.script(last, &[]).await;
        assert_eq!(found, json!(["asleep", true]), "{found:?}");
        let page = browser.client().find(Locator::Css("body")).await.unwrap();
        page.send_keys(&Key::Shift.to_string()).await.unwrap();
        let awake = "return [...document.querySelectorAll('[data-cell]')].at(-1).dataset.state !== undefined";
        browser.wait_for("the last cell", awake).await;
    });
}

/// The home page asks for its offline copy when the cells in the window are ready, and has fetched
/// little until then.
#[test]
fn the_offline_copy_waits_for_the_cells_in_the_window() {
    let server = site::serve(Habits::SLOW);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        note(browser).await;
        browser.open(&server.url("")).await;
        browser
            .wait_for("the page to ask for the copy", "return 'asked' in window")
            .await;
        let states = browser.script("return asked", &[]).await;
        let states = states.as_array().cloned().unwrap_or_default();
        assert!(states.iter().all(|state| state == "ready"), "{states:?}");
        let answered = server.answered();
        assert!(
            answered.requests <= MOST.0 && answered.bytes <= MOST.1,
            "{} requests and {} bytes",
            answered.requests,
            answered.bytes
        );
    });
}

/// Runs before the scripts of a page: notes, for each wasm file of its own that the page asks for
/// early, whether a frame had begun by then.
const FRAMED: &str = "
    let framed = false;
    requestAnimationFrame(() => { framed = true; });
    window.early = [];
    new MutationObserver(records => {
        for (const { addedNodes } of records) {
            for (const node of addedNodes) {
                if (node.localName === 'link' && node.as === 'fetch') window.early.push(framed);
            }
        }
    }).observe(document, { childList: true, subtree: true });
";

/// On a fast line the engine is asked for once the page is being painted, on a slow one at once.
#[test]
fn the_engine_comes_after_the_first_paint_where_the_line_is_fast() {
    for (habits, expected) in [(Habits::COMPRESSED, true), (Habits::SLOW, false)] {
        let server = site::serve(habits);
        with_browser(async |browser| {
            browser.look(Look::DESK_LIGHT).await;
            let note = json!({ "source": FRAMED });
            browser
                .devtools("Page.addScriptToEvaluateOnNewDocument", note)
                .await;
            browser.open(&server.url(&site::lesson("scaling"))).await;
            let live = "return 'live' in document.documentElement.dataset";
            browser.wait_for("the page to be live", live).await;
            let early = browser.script("return window.early", &[]).await;
            let early = early.as_array().cloned().unwrap_or_default();
            assert!(!early.is_empty());
            assert!(
                early.iter().all(|framed| *framed == json!(expected)),
                "{early:?}, {expected}"
            );
        });
    }
}

/// Far cells of a reader who saves data stay as they were served, and no copy is made.
#[test]
fn nothing_far_is_fetched_for_who_saves_data() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        let saves = json!({ "dataSaverEnabled": true });
        browser
            .devtools("Emulation.setDataSaverOverride", saves)
            .await;
        note(browser).await;
        browser.open(&server.url("lesson/bottleneck/")).await;
        assert_eq!(
            browser
                .script("return navigator.connection.saveData", &[])
                .await,
            json!(true)
        );
        browser
            .wait_for(
                "the cells in the window",
                "const cells = [...document.querySelectorAll('[data-cell]')];
                 return cells.every(cell => ['ready', 'waiting'].includes(cell.dataset.state))",
            )
            .await;
        pause(4000).await;
        let waiting = browser
            .script(
                "return [...document.querySelectorAll('[data-cell]')].filter(cell => cell.dataset.state === 'waiting').length",
                &[],
            )
            .await;
        assert!(waiting.as_u64() > Some(0), "{waiting} far cells wait");
        let asked = browser.script("return 'asked' in window", &[]).await;
        assert_eq!(asked, Value::Bool(false), "a copy was asked for");
    });
}
