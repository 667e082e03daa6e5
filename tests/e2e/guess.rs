//! What a reader does with a guess: chooses with the mouse or the keys, sees what comes out, and finds
//! the choice again on the next visit.

use super::browser::{Browser, Look, with_browser};
use super::reader::click;
use super::{code, site};
use browser_harness::Habits;
use fantoccini::Locator;
use fantoccini::key::Key;

/// Waits until the first guess of the page shows its answer or not, with so many labels that stand
/// out.
async fn wait_for_shown(browser: &Browser, is_shown: bool, labels: usize, page: &str) {
    let condition = format!(
        "const guess = document.querySelector('.guess');
         const answer = guess.querySelector('[role=status] > div');
         const bold = [...guess.querySelectorAll('label')]
             .filter(label => getComputedStyle(label).fontWeight >= 600);
         return (getComputedStyle(answer).display !== 'none') === {is_shown} && bold.length === {labels}"
    );
    let what = format!("the answer of {page} to be shown: {is_shown}");
    browser.wait_for(&what, &condition).await;
}

/// Opens a lesson; fonts and views are there, so nothing moves under the mouse.
async fn open_still(browser: &Browser, url: &str) {
    browser.open(url).await;
    let settled = "return 'live' in document.documentElement.dataset
        && document.fonts.status === 'loaded'";
    browser.wait_for("the page to be live", settled).await;
}

/// On one visit to each lesson: the answer to its guess, and its code in both languages.
#[test]
fn guess_and_code_are_used_by_mouse_and_keys() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        let lessons = site::lessons();
        // The choice is kept by the same code in every lesson: two of them are opened again.
        let again = &lessons[..2];
        for (look, lessons) in [(Look::DESK_LIGHT, &lessons[..]), (Look::PHONE_DARK, again)] {
            browser.look(look).await;
            for page in lessons {
                let url = server.url(page);
                open_still(browser, &url).await;
                wait_for_shown(browser, false, 0, page).await;
                click(browser, Locator::Css(".guess label")).await;
                wait_for_shown(browser, true, 1, page).await;
                // Another choice, by an arrow key.
                let first = browser.client().find(Locator::Css(".guess input"));
                let first = first.await.expect("a choice");
                first
                    .send_keys(&Key::Down.to_string())
                    .await
                    .expect("a key");
                let second = "return document.querySelectorAll('.guess input')[1].checked";
                browser.wait_for("the second choice", second).await;
                wait_for_shown(browser, true, 1, page).await;
                code::switch(browser, page).await;
                if !again.contains(page) {
                    continue;
                }
                // The choice is there again on the next visit, unless nothing is stored.
                open_still(browser, &url).await;
                browser.wait_for("the choice that was made", second).await;
                wait_for_shown(browser, true, 1, page).await;
                let forget =
                    "localStorage.removeItem('guesses ' + document.documentElement.dataset.root)";
                browser.script(forget, &[]).await;
                open_still(browser, &url).await;
                wait_for_shown(browser, false, 0, page).await;
            }
        }
    });
}

#[test]
fn a_guess_works_where_nothing_can_be_stored_and_is_kept_per_page() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        let pages = site::lessons();
        let (first, other) = (&pages[0], &pages[1]);
        let live = "return 'live' in document.documentElement.dataset";
        browser.open(&server.url(first)).await;
        browser.wait_for("the page to be live", live).await;
        browser
            .script(
                "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }",
                &[],
            )
            .await;
        click(browser, Locator::Css(".guess label")).await;
        wait_for_shown(browser, true, 1, first).await;
        let kept =
            "return localStorage.getItem('guesses ' + document.documentElement.dataset.root)";
        assert!(browser.script(kept, &[]).await.is_null());

        // Another page of the site has its own guess.
        browser.open(&server.url(first)).await;
        browser.wait_for("the page to be live", live).await;
        click(browser, Locator::Css(".guess label")).await;
        wait_for_shown(browser, true, 1, first).await;
        browser.open(&server.url(other)).await;
        browser.wait_for("the page to be live", live).await;
        wait_for_shown(browser, false, 0, other).await;
    });
}
