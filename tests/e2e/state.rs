//! Edits in the address: a link restores them, reset and undo take them back, a damaged link says
//! so.

use std::collections::BTreeMap;

use fantoccini::Locator;
use serde_json::{Value, json};

use super::browser::{Browser, Look, with_browser};
use super::provenance::{Placed, placed};
use super::reader::{cell_tool, click};
use super::site;
use browser_harness::Habits;

/// The state in the address, empty where there is none.
async fn state(browser: &Browser) -> String {
    let hash = browser
        .script("return location.hash.split('?s=')[1] ?? ''", &[])
        .await;
    hash.as_str().unwrap_or_default().to_owned()
}

/// Waits until the state in the address says what `expected` holds; the text may be written
/// differently.
async fn wait_for_state(browser: &Browser, expected: &BTreeMap<String, Value>, when: &str) {
    let mut found = BTreeMap::new();
    for _ in 0..100 {
        found = cells::state::decode(&state(browser).await)
            .expect("the address holds a state")
            .values;
        if found == *expected {
            return;
        }
        super::browser::pause(50).await;
    }
    panic!("{when}: the address holds {found:?}, not {expected:?}");
}

/// The line that tells the reader what a link could not restore.
async fn notice(browser: &Browser) -> String {
    browser
        .wait_for("a notice", "return !!document.querySelector('.notice')")
        .await;
    let text = browser
        .script("return document.querySelector('.notice').textContent", &[])
        .await;
    text.as_str().unwrap_or_default().to_owned()
}

/// Keeps of a state what differs from the lesson's own inputs, as the address does.
fn differing(cells: &[Placed], values: &BTreeMap<String, Value>) -> BTreeMap<String, Value> {
    let mut own = BTreeMap::new();
    for cell in cells {
        for (name, value) in &cell.inputs.0 {
            own.entry(cell.keys[name].clone())
                .or_insert_with(|| value.to_json());
        }
    }
    values
        .iter()
        .filter(|(key, value)| own.get(*key) != Some(value))
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect()
}

/// On a page opened by a link with edits of some cells: the share dialog of each gives the same edits,
/// reset takes those of the cell back, undo brings them back, and redo takes them back again.
pub(crate) async fn assert_shared_and_taken_back(
    browser: &Browser,
    edited: &[&str],
    edits: &BTreeMap<String, Value>,
) {
    let cells = placed(browser).await;
    let mut edits = differing(&cells, edits);
    for id in edited {
        let cell = cells.iter().find(|cell| cell.id == *id);
        let cell = cell.unwrap_or_else(|| panic!("{id} is on the page"));
        let mut others = edits.clone();
        others.retain(|key, _| !cell.keys.values().any(|own| own == key));
        assert_ne!(others, edits, "{id}: nothing was edited");
        assert_eq!(
            shared_by(browser, id).await,
            edits,
            "{id}: the share dialog's link"
        );

        let reset = format!("#{id} .cell-tools > button");
        let undo = "//button[normalize-space()='Undo']";
        let redo = "//button[normalize-space()='Redo']";
        for (name, button, expected) in [
            ("reset", Locator::Css(&reset), &others),
            ("undo", Locator::XPath(undo), &edits),
            ("redo", Locator::XPath(redo), &others),
        ] {
            click(browser, button).await;
            wait_for_state(browser, expected, &format!("{id} after {name}")).await;
        }
        edits = others;
    }
    assert!(edits.is_empty(), "edits of no cell: {edits:?}");
}

/// The edits in the link of a cell's share dialog.
async fn shared_by(browser: &Browser, cell: &str) -> BTreeMap<String, Value> {
    cell_tool(browser, &format!("#{cell}"), "Share").await;
    let link = "document.querySelector('dialog[open] input')";
    browser
        .wait_for("the share dialog", &format!("return !!{link}"))
        .await;
    let link = browser.script(&format!("return {link}.value"), &[]).await;
    click(browser, Locator::Css("dialog[open] .sheet-head button")).await;
    let state = link
        .as_str()
        .and_then(|link| link.split_once("?s="))
        .map(|(_, state)| state);
    let state = state.unwrap_or_else(|| panic!("{cell}: the link {link} has no edits"));
    cells::state::decode(state).expect("a link of ours").values
}

#[test]
fn a_damaged_link_says_so_and_the_page_works() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::PHONE_LIGHT).await;
        // Every lesson with one kind of damage, and one lesson with all kinds.
        let kinds = ["1.AAAA", "nonsense", "1.%F0%9F", "9999999999999.x", "1."];
        let lessons = site::lessons();
        let each = lessons.iter().zip(kinds.iter().cycle());
        let all = kinds.iter().map(|damaged| (&lessons[0], damaged));
        for (n, (page, damaged)) in each.chain(all).enumerate() {
            let url = server.url(&format!("{page}#?s={damaged}"));
            browser.open(&url).await;
            // Each kind of damage once with every cell.
            if n < kinds.len() {
                let ready = browser.ready().await;
                ready.unwrap_or_else(|error| panic!("{url}: {error}"));
            }
            assert!(notice(browser).await.contains("damaged"), "{url}");
            let complaints = browser.complaints(&server.origin()).await;
            assert!(complaints.is_empty(), "{url}: {complaints:?}");
        }
    });
}

#[test]
fn a_link_of_another_version_opens_and_names_what_it_could_not_restore() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        let values = BTreeMap::from([("cell-that-was.weights".to_owned(), json!(1))]);
        let link = cells::state::encode(&values).expect("it fits into a link");
        let (_, body) = link.split_once('.').expect("version and body");
        for version in [0, cells::state::VERSION, cells::state::VERSION + 1] {
            let url = server.url(&format!("{}#?s={version}.{body}", site::lessons()[0]));
            browser
                .open_ready(&url)
                .await
                .unwrap_or_else(|error| panic!("{url}: {error}"));
            assert!(
                notice(browser).await.contains("cell-that-was.weights"),
                "{url}"
            );
        }
    });
}

/// The cells that were on the page of positions before relative positions had a lesson of their own.
const MOVED: [&str; 5] = [
    "learned-table",
    "relative-bias",
    "alibi",
    "rotary",
    "rotary-stretch",
];

#[test]
fn a_link_to_a_cell_that_has_moved_opens_where_it_is_now() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        let there = "return location.pathname.endsWith('/lesson/relative-positions/')
            && !!document.getElementById('rotary-stretch')";
        let links = include_str!("../old_links.txt").lines();
        let mut followed = 0;
        for link in links {
            let (page, hash) = link.split_once('#').expect("a link to a cell");
            let (id, state) = hash.split_once("?s=").expect("a link with an edit");
            if page != "lesson/positions/" || !MOVED.contains(&id) {
                continue;
            }
            let edits = cells::state::decode(state).expect("a link of ours").values;
            // As shared from the cell, and as copied from the address bar.
            for link in [link, &format!("{page}#?s={state}")] {
                browser.open(&server.url(link)).await;
                browser.wait_for("the lesson of the cell", there).await;
                browser.ready().await.expect("the lesson works");
                wait_for_state(browser, &edits, link).await;
                let has_notice = "return !!document.querySelector('.notice')";
                assert_eq!(
                    browser.script(has_notice, &[]).await,
                    json!(false),
                    "{link}"
                );
            }
            followed += 1;
        }
        assert_eq!(followed, MOVED.len());

        // So is an address that is typed while the page is open.
        browser.open(&server.url("lesson/positions/")).await;
        let live = "return 'live' in document.documentElement.dataset";
        browser.wait_for("the page to be live", live).await;
        browser.script("location.hash = 'alibi'", &[]).await;
        browser.wait_for("the lesson of the cell", there).await;

        // Headings are led on as well, and Back does not lead to the page that led on.
        browser.open(&server.url("lesson/scaling/")).await;
        let old = server.url("lesson/positions/#beyond-the-trained-length");
        browser
            .client()
            .goto(&old)
            .await
            .expect("the old link opens");
        browser.wait_for("the lesson of the heading", there).await;
        browser.ready().await.expect("the lesson works");
        browser.client().back().await.expect("back");
        let before = "return location.pathname.endsWith('/lesson/scaling/')";
        browser.wait_for("the page before", before).await;
        let complaints = browser.complaints(&server.origin()).await;
        assert!(complaints.is_empty(), "{complaints:?}");
    });
}
