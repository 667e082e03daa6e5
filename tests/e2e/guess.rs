//! What a reader does with a guess: chooses with the mouse or the keys, and sees what comes out.

use super::browser::{Browser, Look, with_browser};
use super::interactions::click;
use super::site;
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

#[test]
fn an_answer_is_shown_after_a_choice_by_mouse_or_keys() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        for look in [Look::DESK_LIGHT, Look::PHONE_DARK] {
            browser.look(look).await;
            for page in site::lessons() {
                browser.open(&server.url(&page)).await;
                // Fonts and views are there, so nothing moves under the mouse.
                let settled = "return 'live' in document.documentElement.dataset
                    && document.fonts.status === 'loaded'";
                browser.wait_for("the page to be live", settled).await;
                wait_for_shown(browser, false, 0, &page).await;
                click(browser, Locator::Css(".guess label")).await;
                wait_for_shown(browser, true, 1, &page).await;
                // Another choice, by an arrow key.
                let first = browser.client().find(Locator::Css(".guess input"));
                let first = first.await.expect("a choice");
                first
                    .send_keys(&Key::Down.to_string())
                    .await
                    .expect("a key");
                let second = "return document.querySelectorAll('.guess input')[1].checked";
                browser.wait_for("the second choice", second).await;
                wait_for_shown(browser, true, 1, &page).await;
            }
        }
    });
}
