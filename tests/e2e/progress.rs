//! The reader's progress, and the page that lists and deletes what is stored.

use fantoccini::Locator;
use serde_json::{Value, json};

use super::browser::{Browser, Look, with_browser};
use super::reader::click;
use super::site;
use browser_harness::Habits;

const LESSON: &str = "lesson/self-attention/";

async fn reading(browser: &Browser) -> Value {
    let script = "return localStorage.getItem('reading ' + document.documentElement.dataset.root)";
    browser.script(script, &[]).await
}

/// Moves as a reader does, and then to the heading with an index in the list of contents.
async fn read_to(browser: &Browser, heading: usize) {
    let body = browser.client().find(Locator::Css("body")).await;
    let body = body.expect("the page has a body");
    body.send_keys("\u{e015}").await.expect("a key");
    let script = "const link = [...document.querySelectorAll('.toc a')].at(arguments[0]);
        document.getElementById(link.hash.slice(1)).scrollIntoView({ behavior: 'instant' });
        return link.hash.slice(1)";
    let id = browser.script(script, &[json!(heading)]).await;
    let noted = format!(
        "return (localStorage.getItem('reading ' + document.documentElement.dataset.root) ?? '').split('\\t').includes({id})"
    );
    browser.wait_for("the note", &noted).await;
}

#[test]
fn a_lesson_is_begun_then_read_and_nothing_is_stored_before_the_reader_moves() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        let opened = browser.open_ready(&server.url(LESSON)).await;
        opened.expect("the lesson works");
        browser
            .script("scrollTo({ top: 3000, behavior: 'instant' })", &[])
            .await;
        browser
            .script_async(
                "requestAnimationFrame(() => requestAnimationFrame(arguments[0]))",
                &[],
            )
            .await;
        assert_eq!(reading(browser).await, Value::Null);

        read_to(browser, 2).await;
        let mark = "return document.querySelector('.course-menu a[aria-current] .read-mark').textContent.trim()";
        assert_eq!(browser.script(mark, &[]).await, json!("begun"));

        let opened = browser.open_ready(&server.url("")).await;
        opened.expect("the home page works");
        let shown = "return [document.querySelector('.course-map .read-mark').textContent.trim(),
            document.querySelector('.ways .primary').textContent.startsWith('Continue lesson '),
            document.querySelector('.ways .primary').hash.length > 1]";
        let shown = browser.script(shown, &[]).await;
        assert_eq!(shown, json!(["begun", true, true]));

        let opened = browser.open_ready(&server.url(LESSON)).await;
        opened.expect("the lesson works");
        let last = "return [...document.querySelectorAll('.toc a')].findIndex(link => link.hash === '#in-short')";
        let last = browser.script(last, &[]).await.as_u64().expect("an index");
        read_to(browser, last as usize).await;
        assert_eq!(browser.script(mark, &[]).await, json!("read"));
    });
}

#[test]
fn what_is_stored_is_listed_and_deleted() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        let opened = browser.open_ready(&server.url(LESSON)).await;
        opened.expect("the lesson works");
        read_to(browser, 2).await;
        click(browser, Locator::Css(".guess label")).await;
        click(browser, Locator::Css(".theme-switch")).await;
        let opened = browser.open_ready(&server.url("about/")).await;
        opened.expect("the page works");
        let listed = "return document.querySelector('.stored-items')?.textContent.includes('progress in 1 lesson1 guess')";
        browser.wait_for("the list", listed).await;
        click(browser, Locator::XPath("//button[.='Delete all of this']")).await;
        click(browser, Locator::XPath("//button[.='Keep']")).await;
        assert_ne!(reading(browser).await, Value::Null, "the reader kept it");
        click(browser, Locator::XPath("//button[.='Delete all of this']")).await;
        click(browser, Locator::XPath("//button[.='Delete']")).await;
        browser
            .wait_for(
                "the result",
                "return document.querySelector('.stored-result').textContent.startsWith('Deleted: the theme (dark)')",
            )
            .await;
        let left = "const done = arguments[0];
            Promise.all([caches.keys(), navigator.serviceWorker.getRegistrations()]).then(
                ([names, workers]) => done([localStorage.length, names.length, workers.length,
                    document.documentElement.dataset.theme, document.querySelectorAll('.read-mark').length]))";
        let left = browser.script_async(left, &[]).await;
        assert_eq!(left, json!([0, 0, 0, "auto", 0]));
    });
}
