//! Cells that compute in a worker begin with those near the window, and cells are laid out when the
//! reader comes near.

use serde_json::{Value, json};

use super::browser::{Look, with_browser};
use super::site;
use browser_harness::Habits;

/// Runs before the scripts of a page: notes every state of every cell.
const NOTE: &str = "
    window.noted = [];
    new MutationObserver(changes => {
        for (const { target } of changes) noted.push([target.id, target.dataset.state]);
    }).observe(document, { subtree: true, attributeFilter: ['data-state'] });
";

/// The position of a state of a cell among all that were noted.
fn at(noted: &[Value], cell: &str, state: &str) -> usize {
    let found = noted.iter().position(|one| *one == json!([cell, state]));
    found.unwrap_or_else(|| panic!("{cell} was never {state}: {noted:?}"))
}

#[test]
fn a_far_cell_waits_for_near_ones_and_begins_by_itself_in_the_end() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        let note = json!({ "source": NOTE });
        browser
            .devtools("Page.addScriptToEvaluateOnNewDocument", note)
            .await;
        browser.open(&server.url("lesson/training/")).await;
        let states =
            "[...document.querySelectorAll('[data-cell]')].map(cell => cell.dataset.state)";
        let ready = format!("return {states}.every(state => state === 'ready')");
        browser
            .wait_for("cells that nobody comes near", &ready)
            .await;
        let cells = browser
            .script(
                "return [...document.querySelectorAll('[data-cell]')].map(cell => cell.id)",
                &[],
            )
            .await;
        let noted = browser.script("return noted", &[]).await;
        let (cells, noted) = (cells.as_array().cloned(), noted.as_array().cloned());
        let (cells, noted) = (cells.unwrap_or_default(), noted.unwrap_or_default());
        let [first, .., last] = &cells[..] else {
            panic!("{cells:?} are too few");
        };
        let id = |cell: &Value| cell.as_str().unwrap_or_default().to_owned();
        let (first, last) = (id(first), id(last));
        assert!(
            at(&noted, &first, "ready") < at(&noted, &last, "busy"),
            "{noted:?}"
        );

        browser.open(&server.url("lesson/training/")).await;
        browser
            .wait_for(
                "the views",
                "return document.querySelectorAll('[data-state]').length > 2",
            )
            .await;
        let scroll =
            format!("document.getElementById('{last}').scrollIntoView({{ behavior: 'instant' }})");
        browser.script(&scroll, &[]).await;
        let is_ready =
            format!("return document.getElementById('{last}').dataset.state === 'ready'");
        browser.wait_for("the cell in the window", &is_ready).await;
    });
}

/// The last cell with a chart: its id, whether it is laid out, and whether its first chart is drawn.
const LAST_CHART: &str = "
    const last = [...document.querySelectorAll('[data-cell][data-state=ready]')]
        .filter(cell => cell.querySelector('.cell-view > figure.chart, .cell-view :not(.more) > figure.chart')).at(-1);
    return [
        last.id,
        last.querySelector('figure.chart').checkVisibility({ contentVisibilityAuto: true }),
        !!last.querySelector('figure.chart svg'),
    ];
";

#[test]
fn a_cell_is_laid_out_when_the_reader_comes_near_and_in_print() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        let page = server.url("lesson/relative-positions/");
        let ready = "const cells = [...document.querySelectorAll('[data-cell]')];
            return cells.length > 1 && cells.every(cell => cell.dataset.state === 'ready')";
        let drawn = |is_drawn: bool| {
            format!("const [, , drawn] = (() => {{ {LAST_CHART} }})(); return drawn === {is_drawn}")
        };
        browser.open(&page).await;
        browser.wait_for("all results", ready).await;
        let far = browser.script(LAST_CHART, &[]).await;
        assert_eq!((&far[1], &far[2]), (&json!(false), &json!(false)), "{far}");

        // The page keeps its place while the cell takes its own height.
        let id = far[0].as_str().expect("a cell").to_owned();
        let go =
            format!("document.getElementById('{id}').scrollIntoView({{ behavior: 'instant' }})");
        browser.script(&go, &[]).await;
        browser.wait_for("the chart", &drawn(true)).await;
        let top = format!(
            "const top = document.getElementById('{id}').getBoundingClientRect().top;
             return top >= -2 && top < innerHeight / 2"
        );
        browser.wait_for("the cell in the window", &top).await;
        let near = browser.script(LAST_CHART, &[]).await;
        assert_eq!(near[1], json!(true), "{near}");

        // Another visit, printed from its first screen.
        browser.open(&page).await;
        browser.wait_for("all results", ready).await;
        browser.wait_for("no chart", &drawn(false)).await;
        let media = json!({ "media": "print" });
        browser.devtools("Emulation.setEmulatedMedia", media).await;
        browser
            .script("dispatchEvent(new Event('beforeprint'))", &[])
            .await;
        browser.wait_for("the chart in print", &drawn(true)).await;
        let printed = browser.script(LAST_CHART, &[]).await;
        assert_eq!(printed[1], json!(true), "{printed}");
    });
}

#[test]
fn a_folded_cell_opens_for_a_link_and_in_print() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        let page = "lesson/relative-positions/";
        let is_open = "return document.querySelector('.cell-fold').open";
        browser.open(&server.url(page)).await;
        let mounted =
            "return document.querySelector('.cell-fold [data-cell]').hasAttribute('data-state')";
        browser.wait_for("the folded cell", mounted).await;
        assert_eq!(browser.script(is_open, &[]).await, json!(false), "at first");
        browser
            .script("dispatchEvent(new Event('beforeprint'))", &[])
            .await;
        browser.wait_for("the fold in print", is_open).await;

        let link = server.url(&format!("{page}#rotary-stretch"));
        browser.open(&link).await;
        browser.wait_for("the fold of the link", is_open).await;
        let in_view = "const top = document.querySelector('.cell-fold [data-cell]').getBoundingClientRect().top;
            return top >= -2 && top < innerHeight";
        browser.wait_for("the cell in the window", in_view).await;
        let ready =
            "return document.querySelector('.cell-fold [data-cell]').dataset.state === 'ready'";
        browser.wait_for("its result", ready).await;
    });
}

#[test]
fn the_first_cell_has_one_worker_and_its_weights_once() {
    with_browser(async |browser| {
        browser.look(Look::PHONE_LIGHT).await;
        let bypass = json!({ "bypass": true });
        for (page, cell, weights) in [
            ("", "attention-map", "models/tiny-bert.safetensors"),
            (
                "lesson/positions/",
                "bag-of-words",
                "models/tiny-bert-first-layer.safetensors",
            ),
        ] {
            let server = site::serve(Habits::ROOT);
            browser.devtools("Network.enable", json!({})).await;
            browser
                .devtools("Network.setBypassServiceWorker", bypass.clone())
                .await;
            browser.open(&server.url(page)).await;
            let ready = format!(
                "const cell = document.querySelector('[data-cell]');
                cell.scrollIntoView({{ behavior: 'instant' }});
                return cell.dataset.cell === '{cell}' && cell.dataset.state === 'ready'"
            );
            browser.wait_for("the first cell", &ready).await;
            let asked = server.take_asked();
            let of = |words: &str| asked.iter().filter(|path| path.contains(words)).count();
            let early = format!("kind=models&cell={cell}&weights=");
            assert_eq!(of(&early), 1, "{page}: {asked:?}");
            assert_eq!(of("kind=models"), 1, "{page}: {asked:?}");
            assert_eq!(of(weights), 1, "{page}: {asked:?}");
        }
    });
}

#[test]
fn an_address_with_edits_starts_its_workers_itself() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        browser
            .open(&server.url("lesson/positions/#bag-of-words"))
            .await;
        let ready = "return document.getElementById('bag-of-words').dataset.state === 'ready'";
        browser.wait_for("the cell of the address", ready).await;
        let asked = server.take_asked();
        let early = asked.iter().any(|path| path.contains("&weights="));
        assert!(!early, "{asked:?}");
    });
}
