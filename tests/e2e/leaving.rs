//! A page that was left: what it still had to do in the next frame finds its signals gone, and does
//! nothing.

use serde_json::json;

use super::browser::{Browser, Look, with_browser};
use super::site;
use browser_harness::{Habits, Server};

/// Holds every callback for the next frame back, in `window.held`.
const HOLD: &str = "
    window.held = [];
    window.requestAnimationFrame = callback => window.held.push(callback);
";

/// Follows a link to the course map, and then has all callbacks that were held back come.
async fn leave_and_draw(browser: &Browser, server: &Server) {
    let leave = "document.querySelector('.site-head a[href]').click()";
    browser.script(leave, &[]).await;
    let left = "return !document.getElementById('permutation')";
    browser.wait_for("another page", left).await;
    let count = browser
        .script(
            "const all = held; held = []; all.forEach(callback => callback(performance.now())); return all.length",
            &[],
        )
        .await;
    assert!(count.as_u64().unwrap_or(0) > 0, "nothing was held back");
    let complaints = browser.complaints(&server.origin()).await;
    assert!(complaints.is_empty(), "{complaints:#?}");
}

/// Cells give their reserved height back one frame after their first result.
#[test]
fn cells_that_were_left_do_not_give_height_back() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        let note = json!({ "source": HOLD });
        browser
            .devtools("Page.addScriptToEvaluateOnNewDocument", note)
            .await;
        browser
            .open(&server.url("lesson/self-attention/#permutation"))
            .await;
        let drawn = "return document.getElementById('permutation')?.dataset.state === 'ready'";
        browser.wait_for("a cell with a result", drawn).await;
        leave_and_draw(browser, &server).await;
    });
}

/// A token that was moved gets the focus in the next frame.
#[test]
fn a_token_of_a_page_that_was_left_gets_no_focus() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        let url = server.url("lesson/self-attention/");
        browser.open_ready(&url).await.unwrap();
        browser.script(HOLD, &[]).await;
        let moved = browser
            .script(
                "const token = document.querySelector('#permutation ol button');
                 token.focus();
                 token.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', altKey: true, bubbles: true }));
                 return held.length",
                &[],
            )
            .await;
        assert!(moved.as_u64().unwrap_or(0) > 0, "no token was moved");
        leave_and_draw(browser, &server).await;
    });
}

/// Cells are mounted one after the other, and what a view has still to begin comes in turns: a reader
/// may go on at any moment between.
#[test]
fn a_page_that_is_left_while_its_cells_are_mounted_says_nothing() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        for after_ms in [0, 20, 40, 80, 160, 320, 640] {
            browser.open(&server.url("lesson/self-attention/")).await;
            // Leaves from inside the page, a while after it has begun to come to life.
            let leave = format!(
                "const leave = () => document.querySelector('.site-head a[href]').click();
                 const wait = () => 'live' in document.documentElement.dataset
                     ? setTimeout(leave, {after_ms}) : setTimeout(wait);
                 wait()"
            );
            browser.script(&leave, &[]).await;
            let left = "return !document.getElementById('permutation')
                && document.querySelectorAll('h1').length === 1";
            browser.wait_for("another page", left).await;
            browser.ready().await.expect("the other page gets ready");
            let complaints = browser.complaints(&server.origin()).await;
            assert!(
                complaints.is_empty(),
                "after {after_ms} ms: {complaints:#?}"
            );
        }
    });
}
