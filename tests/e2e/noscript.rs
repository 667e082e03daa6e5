//! With JavaScript off: prose, formulas and figures read well.

use serde_json::json;

use super::browser::{Browser, Look, with_browser};
use super::{code, make, site};
use browser_harness::Habits;

#[test]
fn the_served_page_holds_prose_and_formulas() {
    let server = site::serve(Habits::ROOT);
    for page in site::lessons() {
        let (status, html) = server.get(&page).expect("an answer");
        assert!(status.contains("200"), "{page}: {status}");
        let words = html
            .split("<p")
            .skip(1)
            .map(|text| text.split_whitespace().count())
            .sum::<usize>();
        assert!(words > 800, "{page} has only {words} words");
        assert!(html.contains("<math"), "{page} has no formula");
        assert!(
            html.contains("<noscript"),
            "{page} does not say that its cells need WebAssembly"
        );
    }
}

/// The first cell of a page, and each that waits for the worker, comes with a figure. That their
/// numbers are the engine's own is a test in
/// `provenance.rs`.
#[test]
fn cells_that_wait_are_served_with_a_figure() {
    let server = site::serve(Habits::ROOT);
    for page in site::pages() {
        let (_, html) = server.get(&page).expect("an answer");
        let sections = html.split("<section class=\"cell\" data-cell=").skip(1);
        for (place, cell) in sections.enumerate() {
            let name = cell.split('"').nth(1).unwrap_or_default();
            let spec = cells::registry::find(name).expect("a known cell");
            let waits = matches!(spec.run, cells::Run::Sliced(_));
            let has_figure = cell.contains("data-fingerprint=\"");
            assert!(has_figure || !(waits || place == 0), "{page}: {name}");
        }
    }
}

/// What is wrong with the width of the open page.
async fn too_wide(browser: &Browser, look: Look) -> Option<String> {
    let metrics = browser.devtools("Page.getLayoutMetrics", json!({})).await;
    let width = metrics["cssContentSize"]["width"].as_f64();
    let width = width.expect("a width");
    (width > f64::from(look.width)).then(|| format!("{width} px wide at {look:?}"))
}

/// On one visit to each page: it fits at both ends of the widths, its code is switched and printed, the
/// hint of its goal opens and its link leads to the cell, and nothing complains.
#[test]
fn pages_read_well_without_scripts() {
    let server = site::serve(Habits::ROOT);
    let lessons = site::lessons();
    with_browser(async |browser| {
        browser
            .devtools(
                "Emulation.setScriptExecutionDisabled",
                json!({ "value": true }),
            )
            .await;
        for page in site::all_pages() {
            for look in [Look::DESK_LIGHT, Look::PHONE_DARK] {
                browser.look(look).await;
                if look.width == Look::DESK_LIGHT.width {
                    browser.open(&server.url(&page)).await;
                }
                let found = too_wide(browser, look).await;
                assert!(found.is_none(), "{page} is {found:?}");
                let name = page.trim_end_matches('/').replace('/', "-");
                browser
                    .picture(&format!("noscript-{}-{name}", look.width))
                    .await;
            }
            if lessons.contains(&page) {
                code::assert_switched_and_printed(browser, &page).await;
                make::assert_hint_and_link(browser, &page).await;
            }
            let complaints = browser.complaints(&server.origin()).await;
            assert!(complaints.is_empty(), "{page}: {complaints:?}");
        }
    });
}
