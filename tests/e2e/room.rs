//! Maps and cells fit their room: no map is cut in its default state, no cell keeps height that it
//! does not need.

use super::browser::{Browser, Look, with_browser};
use super::site;
use browser_harness::Habits;

#[test]
fn no_map_of_the_home_page_and_of_self_attention_is_cut() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        for (width, height) in [(1280, 900), (390, 844), (360, 740)] {
            browser
                .look(Look {
                    width,
                    height,
                    dark: false,
                })
                .await;
            for page in ["", "lesson/self-attention/"] {
                browser
                    .open_ready(&server.url(page))
                    .await
                    .expect("the page works");
                // A map takes its room in the frame after it is shown.
                browser
                    .wait_for(
                        &format!("the maps of /{page} to fit into {width} px"),
                        "const maps = [...document.querySelectorAll('[data-cell=attention-map] .heat .scroll')];
                         return maps.length > 0 && maps.every(map => map.scrollWidth <= map.clientWidth)",
                    )
                    .await;
            }
        }
    });
}

/// Scrolls to the end of the open page and waits until every cell has given back the height that the
/// page reserved for it.
pub(crate) async fn wait_for_heights_given_back(browser: &Browser) {
    browser
        .script(
            "window.scrollTo({ top: document.body.scrollHeight, behavior: 'instant' })",
            &[],
        )
        .await;
    browser
        .wait_for(
            "every cell to give back its height",
            "return [...document.querySelectorAll('[data-cell] > .cell-body')]
                .every(body => body.style.minHeight === '0px')",
        )
        .await;
}
