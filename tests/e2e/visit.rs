//! One visit to each page, on which everything is checked that only looks: to open a page with all of
//! its cells takes seconds.

use super::browser::{Look, with_whole_browser};
use super::charts::read_off;
use super::heights::{first_begins_too_low, listed_as_higher, too_high};
use super::make::assert_open_at_first;
use super::navigation::{mark_first_paragraphs, prose_was_replaced};
use super::provenance::{differing_from_engine, differing_from_served, stray_digits};
use super::room::wait_for_heights_given_back;
use super::site;
use browser_harness::Habits;

/// Every digit in a cell says where it comes from. The tab computes the bits that the page was served
/// with. The lesson's own inputs give what the engine gives natively, in prose and in charts, too. The
/// first cell of a lesson begins on the first screen, its prose keeps its nodes, its goal is open, and
/// cells give back the height that the page reserved and are low enough to be seen whole.
#[test]
fn each_page_shows_what_the_engine_computes_and_keeps_its_room() {
    let server = site::serve(Habits::ROOT);
    with_whole_browser(async |browser| {
        mark_first_paragraphs(browser).await;
        let (lessons, mut faults, mut read) = (site::lessons(), Vec::new(), 0);
        let mut needless = listed_as_higher();
        for page in site::pages() {
            browser.look(Look::DESK_LIGHT).await;
            let opened = browser.open_ready(&server.url(&page)).await;
            let mut found: Vec<String> = opened.err().into_iter().collect();
            let is_lesson = lessons.contains(&page);
            if is_lesson {
                found.extend(first_begins_too_low(browser).await);
                found.extend(prose_was_replaced(browser).await);
            }
            found.extend(stray_digits(browser).await);
            found.extend(differing_from_served(browser).await);
            found.extend(differing_from_engine(browser).await);
            if is_lesson {
                let (differing, count) = read_off(browser).await;
                found.extend(differing);
                read += count;
                assert_open_at_first(browser, &page).await;
                wait_for_heights_given_back(browser).await;
                found.extend(too_high(browser, &mut needless).await);
            }
            faults.extend(found.into_iter().map(|fault| format!("/{page} {fault}")));
        }
        assert!(read > 10, "{read} values were read off charts");
        assert!(faults.is_empty(), "{}", faults.join("\n"));
        assert!(needless.is_empty(), "low enough now: {needless:?}");
    });
}
