//! Every page is opened at both ends of the widths, each with one of the themes, by each form of
//! address that a host may give it, and looked at by all tests that only look.

use browser_harness::Habits;

use super::browser::{Look, with_browser};
use super::{axe, pages, site};

/// Opens every page and collects what is wrong, so that one run names it all.
fn tour(habits: Habits, look: Look, address: fn(&str) -> &str) {
    let server = site::serve(habits);
    with_browser(async |browser| {
        browser.look(look).await;
        let mut faults = Vec::new();
        for page in site::all_pages() {
            let url = server.url(address(&page));
            let mut found = pages::visit(browser, &server, &url).await;
            found.extend(axe::check_page(browser, look).await);
            faults.extend(found.into_iter().map(|fault| format!("{url}: {fault}")));
        }
        browser.open(&server.url("nothing-here")).await;
        let found = axe::violations_of_page(browser).await;
        faults.extend(found.into_iter().map(|fault| format!("404 page: {fault}")));
        assert!(faults.is_empty(), "at {look:?}:\n{}", faults.join("\n"));
    });
}

fn as_it_is(page: &str) -> &str {
    page
}

fn without_slash(page: &str) -> &str {
    page.trim_end_matches('/')
}

#[test]
fn on_a_desk_in_light() {
    tour(Habits::ROOT, Look::DESK_LIGHT, as_it_is);
}

#[test]
fn on_a_phone_in_dark_in_a_sub_folder_without_the_closing_slash() {
    tour(Habits::SUB_FOLDER, Look::PHONE_DARK, without_slash);
}
