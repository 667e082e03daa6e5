//! Every page is opened at both ends of the widths, by each form of address that a host may give it,
//! and looked at in both themes by all tests that only look.

use browser_harness::Habits;

use super::axe::Depth;
use super::browser::{Look, with_browser};
use super::{axe, pages, site};

/// Opens every page and collects what is wrong, so that one run names it all. Every other page, from
/// the first or the second on, is asked for without the slash at the end of its address.
fn tour(habits: Habits, look: Look, first_without_slash: usize) {
    let server = site::serve(habits);
    with_browser(async |browser| {
        browser.look(look).await;
        let mut faults = Vec::new();
        for (n, page) in site::all_pages().into_iter().enumerate() {
            let address = if n % 2 == first_without_slash {
                page.trim_end_matches('/')
            } else {
                &page
            };
            let url = server.url(address);
            let mut found = pages::visit(browser, &server, &url).await;
            // The two tours together check each page by all rules and in both themes.
            let (is_among_first, is_desk) = (n < 3, look.width == Look::DESK_LIGHT.width);
            let (of_page, of_dialogs) = match (is_among_first, is_desk) {
                (true, _) => (Depth::Both, Some(Depth::Both)),
                // The frame of a dialog is the same on every page; what it holds is looked at on a desk,
                // on every third page.
                (false, true) => (Depth::Colours, (n % 3 == 0).then_some(Depth::One)),
                (false, false) => (Depth::One, None),
            };
            found.extend(axe::check_page(browser, look, of_page).await);
            if let Some(depth) = of_dialogs {
                let whole = is_among_first && is_desk;
                found.extend(axe::check_dialogs(browser, look, depth, whole).await);
            }
            faults.extend(found.into_iter().map(|fault| format!("{url}: {fault}")));
        }
        browser.open(&server.url("nothing-here")).await;
        let found = axe::violations_of_page(browser).await;
        faults.extend(found.into_iter().map(|fault| format!("404 page: {fault}")));
        assert!(faults.is_empty(), "at {look:?}:\n{}", faults.join("\n"));
    });
}

#[test]
fn on_a_desk() {
    tour(Habits::ROOT, Look::DESK_LIGHT, 0);
}

#[test]
fn on_a_phone_in_a_sub_folder() {
    tour(Habits::SUB_FOLDER, Look::PHONE_DARK, 1);
}
