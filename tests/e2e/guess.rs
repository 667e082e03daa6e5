//! What a reader does with a guess: chooses with the mouse or the keys, and sees what comes out.

use fantoccini::Locator;
use fantoccini::key::Key;
use serde_json::json;

use super::browser::{Browser, Look, with_browser};
use super::interactions::click;
use super::site;
use browser_harness::Habits;

/// Whether the first guess of the page shows its answer, and how many labels stand out.
const SHOWN: &str = "
    const guess = document.querySelector('.guess');
    const answer = guess.querySelector('[role=status] > div');
    const bold = [...guess.querySelectorAll('label')].filter(label => getComputedStyle(label).fontWeight >= 600);
    return [getComputedStyle(answer).display !== 'none', bold.length];
";

async fn shown(browser: &Browser) -> serde_json::Value {
    browser.script(SHOWN, &[]).await
}

#[test]
fn an_answer_is_shown_after_a_choice_by_mouse_or_keys() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        for look in [Look::DESK_LIGHT, Look::PHONE_DARK] {
            browser.look(look).await;
            for page in site::lessons() {
                browser.open(&server.url(&page)).await;
                assert_eq!(shown(browser).await, json!([false, 0]), "{page}");
                click(browser, Locator::Css(".guess label")).await;
                assert_eq!(shown(browser).await, json!([true, 1]), "{page}");
                // Another choice, by an arrow key.
                let first = browser.client().find(Locator::Css(".guess input"));
                let first = first.await.expect("a choice");
                first
                    .send_keys(&Key::Down.to_string())
                    .await
                    .expect("a key");
                let second = "return document.querySelectorAll('.guess input')[1].checked";
                browser.wait_for("the second choice", second).await;
                assert_eq!(shown(browser).await, json!([true, 1]), "{page}");
            }
        }
    });
}
