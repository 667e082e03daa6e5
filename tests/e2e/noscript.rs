//! With JavaScript off: prose and formulas read well, cells say why they are empty, and no number
//! is there that the engine should have computed.

use serde_json::json;

use super::browser::{Look, with_browser};
use super::site;
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

#[test]
fn the_served_page_holds_no_computed_number() {
    let server = site::serve(Habits::ROOT);
    for page in site::all_pages() {
        let (_, html) = server.get(&page).expect("an answer");
        assert!(
            !html.contains("data-from="),
            "{page} holds a computed number"
        );
        for output in html.split("<output").skip(1) {
            let text = output
                .split_once('>')
                .map_or("", |(_, rest)| rest.split('<').next().unwrap_or(""));
            assert!(
                !text.contains(|c: char| c.is_ascii_digit()),
                "{page} holds a computed number: {text:?}"
            );
        }
    }
}

#[test]
fn pages_read_well_without_scripts() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser
            .devtools(
                "Emulation.setScriptExecutionDisabled",
                json!({ "value": true }),
            )
            .await;
        for look in [Look::DESK_LIGHT, Look::PHONE_DARK] {
            browser.look(look).await;
            for page in site::all_pages() {
                browser.open(&server.url(&page)).await;
                let metrics = browser.devtools("Page.getLayoutMetrics", json!({})).await;
                let width = metrics["cssContentSize"]["width"]
                    .as_f64()
                    .expect("a width");
                assert!(
                    width <= f64::from(look.width),
                    "{page} is {width} px wide at {look:?}"
                );
                let name = page.trim_end_matches('/').replace('/', "-");
                browser
                    .picture(&format!("noscript-{}-{name}", look.width))
                    .await;
                let complaints = browser.complaints(&server.origin()).await;
                assert!(complaints.is_empty(), "{page}: {complaints:?}");
            }
        }
    });
}
