//! The menu of lessons: its place on a phone, and the ways to close it.

use fantoccini::Locator;
use serde_json::json;

use super::browser::{Browser, Look, with_browser};
use super::interactions::click;
use super::site;
use browser_harness::Habits;

const SUMMARY: Locator<'static> = Locator::Css(".course-menu > summary");

async fn is_open(browser: &Browser) -> bool {
    let open = browser
        .script("return document.querySelector('.course-menu').open", &[])
        .await;
    open == json!(true)
}

#[test]
fn on_a_phone_the_whole_menu_is_in_the_window_and_leads_to_the_lab() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        for width in [360, 390] {
            let look = Look {
                width,
                ..Look::PHONE_LIGHT
            };
            browser.look(look).await;
            browser.open(&server.url(&site::lessons()[0])).await;
            click(browser, SUMMARY).await;
            let margins = browser
                .script(
                    "const panel = document.querySelector('.course-menu nav').getBoundingClientRect();
                     return [panel.left, document.documentElement.clientWidth - panel.right];",
                    &[],
                )
                .await;
            assert_eq!(margins, json!([16, 16]), "at {width}");
            let numbered = browser
                .script(
                    "return [...document.querySelectorAll('.course-menu li')]
                        .every(entry => entry.querySelector('.course-number').textContent === String(entry.value))",
                    &[],
                )
                .await;
            assert_eq!(numbered, json!(true));
            click(browser, Locator::Css(".course-menu .menu-lab a")).await;
            browser
                .wait_for("the lab", "return location.pathname.endsWith('/lab/')")
                .await;
            assert!(!is_open(browser).await, "following a link closes the menu");
        }
    });
}

#[test]
fn escape_and_a_press_outside_close_the_menu() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        browser
            .open_ready(&server.url(&site::lessons()[0]))
            .await
            .expect("the lesson works");
        click(browser, SUMMARY).await;
        assert!(is_open(browser).await);
        let focused = browser.client().active_element().await;
        let focused = focused.expect("something has the focus");
        focused.send_keys("\u{e00c}").await.expect("Escape is sent");
        assert!(!is_open(browser).await, "Escape closes it");
        let back = browser
            .script(
                "return document.activeElement.matches('.course-menu > summary')",
                &[],
            )
            .await;
        assert_eq!(back, json!(true), "the focus is back at its button");

        click(browser, SUMMARY).await;
        click(browser, Locator::Css(".lesson-lead")).await;
        assert!(!is_open(browser).await, "a press outside closes it");

        click(browser, SUMMARY).await;
        click(browser, Locator::XPath("//button[.='Verify this page']")).await;
        assert!(!is_open(browser).await, "a dialog closes it");
    });
}
