//! What a reader does between pages: turns the theme, goes on to the next lesson and back, follows a
//! link to a heading.

use fantoccini::Locator;
use serde_json::{Value, json};

use super::browser::{Browser, Look, pause, with_browser};
use super::reader::{cell_tool, click};
use super::site;
use browser_harness::Habits;

/// The button that turns the theme.
const THEME_SWITCH: Locator<'static> = Locator::Css("[data-theme-switch], .theme-switch");

/// The link to the lesson that follows.
const NEXT: Locator<'static> = Locator::Css("a[rel~=next]");

/// A mark that lives as long as the document does: a full reload loses it.
async fn mark(browser: &Browser) {
    browser.script("window.stillHere = true", &[]).await;
}

async fn is_marked(browser: &Browser) -> bool {
    browser
        .script("return window.stillHere === true", &[])
        .await
        == json!(true)
}

/// The path of the page that is shown.
async fn path(browser: &Browser) -> String {
    let path = browser.script("return location.pathname", &[]).await;
    path.as_str().unwrap_or_default().to_owned()
}

async fn background(browser: &Browser) -> Value {
    browser.script("return getComputedStyle(document.documentElement).backgroundColor + getComputedStyle(document.body).backgroundColor", &[]).await
}

/// Waits until the page has another background than `before`, and returns it.
async fn other_background(browser: &Browser, before: &Value) -> Value {
    for _ in 0..200 {
        let now = background(browser).await;
        if now != *before {
            return now;
        }
        pause(50).await;
    }
    panic!("the background stays {before}");
}

#[test]
fn the_theme_follows_the_system_until_the_reader_chooses_and_the_choice_is_remembered() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        browser
            .open_ready(&server.url(""))
            .await
            .expect("the home page works");
        // The page follows the system.
        let light = background(browser).await;
        browser.look(Look::DESK_DARK).await;
        let dark = other_background(browser, &light).await;
        browser.look(Look::DESK_LIGHT).await;
        assert_eq!(other_background(browser, &dark).await, light);

        // Each press of the switch turns the theme; after three it is the dark one.
        let mut now = light.clone();
        for expected in [&dark, &light, &dark] {
            click(browser, THEME_SWITCH).await;
            now = other_background(browser, &now).await;
            assert_eq!(now, *expected);
        }
        browser
            .open_ready(&server.url(&site::lessons()[0]))
            .await
            .expect("a lesson works");
        assert_eq!(
            background(browser).await,
            dark,
            "the choice is remembered on the next page"
        );
    });
}

#[test]
fn next_and_previous_swap_the_page_without_loading_the_document_again() {
    for habits in [Habits::ROOT, Habits::SUB_FOLDER] {
        let server = site::serve(habits);
        with_browser(async |browser| {
            browser.look(Look::PHONE_LIGHT).await;
            let first = site::lessons_in_order(&server)[0].clone();
            browser
                .open_ready(&server.url(&first))
                .await
                .expect("the first lesson works");
            mark(browser).await;
            let mut visited = vec![path(browser).await];
            while browser
                .script("return !!document.querySelector('a[rel~=next]')", &[])
                .await
                == json!(true)
            {
                let from = path(browser).await;
                click(browser, NEXT).await;
                browser
                    .wait_for(
                        "the next lesson",
                        &format!("return location.pathname !== {}", json!(from)),
                    )
                    .await;
                browser
                    .ready()
                    .await
                    .unwrap_or_else(|error| panic!("after {from}: {error}"));
                assert!(
                    is_marked(browser).await,
                    "the document was loaded again after {from}"
                );
                assert_eq!(
                    browser.script("return scrollY", &[]).await,
                    json!(0),
                    "a new lesson starts at its top"
                );
                let title = browser.script("return document.title", &[]).await;
                let heading = browser
                    .script(
                        "return document.querySelector('h1').textContent.trim()",
                        &[],
                    )
                    .await;
                let heading = heading.as_str().unwrap_or_default();
                assert!(
                    title.as_str().is_some_and(|title| title.contains(heading)),
                    "{title} holds {heading:?}"
                );
                visited.push(path(browser).await);
                assert!(
                    visited.len() <= site::pages().len(),
                    "the lessons lead in a circle: {visited:?}"
                );
            }
            assert_eq!(
                visited.len(),
                site::lessons().len(),
                "next leads through all lessons: {visited:?}"
            );
            for earlier in visited.iter().rev().skip(1) {
                browser
                    .client()
                    .back()
                    .await
                    .expect("there is a page to go back to");
                browser
                    .wait_for(
                        "the page before",
                        &format!("return location.pathname === {}", json!(earlier)),
                    )
                    .await;
                browser
                    .ready()
                    .await
                    .unwrap_or_else(|error| panic!("back to {earlier}: {error}"));
            }
            let complaints = browser.complaints(&server.origin()).await;
            assert!(complaints.is_empty(), "{complaints:?}");
        });
    }
}

#[test]
fn back_leads_to_where_the_page_was_left() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        let first = site::lessons_in_order(&server)[0].clone();
        browser
            .open_ready(&server.url(&first))
            .await
            .expect("the first lesson works");
        browser
            .script("scrollTo({ top: 3210, behavior: 'instant' })", &[])
            .await;
        // Cells that come into view give back height, and what is in view stays in place.
        pause(1_000).await;
        let left_at = browser.script("return scrollY", &[]).await;
        assert!(left_at.as_f64() > Some(1_000.0), "{left_at}");
        let from = path(browser).await;
        // By a click of the page itself: a driver would scroll the link into view first.
        browser
            .script("document.querySelector('a[rel~=next]').click()", &[])
            .await;
        let elsewhere = format!("return location.pathname !== {}", json!(from));
        browser.wait_for("the next lesson", &elsewhere).await;
        browser.ready().await.expect("the next lesson works");
        browser.client().back().await.expect("back");
        let here = format!("return location.pathname === {}", json!(from));
        browser.wait_for("the lesson before", &here).await;
        browser.ready().await.expect("the lesson before works");
        browser
            .wait_for(
                "the place where it was left",
                &format!("return Math.abs(scrollY - {left_at}) < 2"),
            )
            .await;
    });
}

#[test]
fn a_new_lesson_takes_the_focus_so_that_a_screen_reader_follows() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        let first = site::lessons_in_order(&server)[0].clone();
        browser
            .open_ready(&server.url(&first))
            .await
            .expect("the first lesson works");
        let from = path(browser).await;
        click(browser, NEXT).await;
        browser
            .wait_for(
                "the next lesson",
                &format!("return location.pathname !== {}", json!(from)),
            )
            .await;
        browser
            .wait_for(
                "the focus",
                "return !!document.activeElement.closest('main')",
            )
            .await;
    });
}

/// Has the pages that are opened from now on mark their first paragraph as the parser made it, before
/// any module script can run.
pub(crate) async fn mark_first_paragraphs(browser: &Browser) {
    let script = "new MutationObserver(() => {
            const first = document.querySelector('main p');
            if (first && !window.firstParagraph) window.firstParagraph = first;
        }).observe(document, { childList: true, subtree: true })";
    let added = json!({ "source": script });
    browser
        .devtools("Page.addScriptToEvaluateOnNewDocument", added)
        .await;
}

/// Whether the prose of the open page was replaced, against the mark of its first paragraph: a page
/// that comes to life keeps its nodes.
pub(crate) async fn prose_was_replaced(browser: &Browser) -> Option<String> {
    let kept = "return document.querySelector('main p') === window.firstParagraph";
    let kept = browser.script(kept, &[]).await;
    (kept != json!(true)).then(|| "its prose was replaced".to_owned())
}

#[test]
fn a_link_to_a_heading_arrives_there() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        let page = site::lessons_in_order(&server)[0].clone();
        browser
            .open_ready(&server.url(&page))
            .await
            .expect("the first lesson works");
        let ids = browser
            .script(
                "return [...document.querySelectorAll('main h2[id]')].map(heading => heading.id)",
                &[],
            )
            .await;
        let id = ids
            .as_array()
            .and_then(|ids| ids.last()?.as_str())
            .expect("headings with ids")
            .to_owned();
        // Not laid out as a whole: the cells above the heading take their heights on the way.
        browser.open(&server.url(&format!("{page}#{id}"))).await;
        let mounted = "return document.querySelectorAll('[data-state]').length > 1";
        browser.wait_for("the views", mounted).await;
        browser
            .wait_for(
                "the heading to be in view",
                &format!(
                    "const box = document.getElementById('{id}').getBoundingClientRect();
                          return box.top >= 0 && box.top < innerHeight"
                ),
            )
            .await;
    });
}

#[test]
fn escape_leaves_a_cell_that_fills_the_window() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        browser
            .open_ready(&server.url(""))
            .await
            .expect("the home page works");
        // A browser without full screen, as on a phone.
        browser
            .script(
                "Element.prototype.requestFullscreen = () => Promise.reject(new Error('no'))",
                &[],
            )
            .await;
        cell_tool(browser, "[data-cell]", "Full screen").await;
        browser
            .wait_for(
                "the cell to fill the window",
                "return !!document.querySelector('.cell.is-full')",
            )
            .await;
        let focused = browser.client().active_element().await;
        let focused = focused.expect("the button has the focus");
        focused.send_keys("\u{e00c}").await.expect("Escape is sent");
        browser
            .wait_for(
                "the page",
                "return !document.querySelector('.cell.is-full')",
            )
            .await;
    });
}
