//! What a reader does on a page: turns the theme, goes on to the next lesson and back, follows a
//! link to a heading.

use fantoccini::Locator;
use fantoccini::key::Key;
use serde_json::{Value, json};

use super::browser::{Browser, Look, pause, with_browser};
use super::site;
use browser_harness::{Habits, Server};

/// Clicks the first element that a locator finds, scrolled into view as a reader would.
pub(crate) async fn click(browser: &Browser, place: Locator<'_>) {
    let found = browser.client().find(place).await;
    let element = found.unwrap_or_else(|error| panic!("nothing fits {place:?}: {error}"));
    let handle = serde_json::to_value(&element).expect("an element");
    browser
        .script(
            "arguments[0].scrollIntoView({ block: 'center', behavior: 'instant' })",
            &[handle],
        )
        .await;
    element
        .click()
        .await
        .unwrap_or_else(|error| panic!("{place:?} cannot be clicked: {error}"));
}

/// Chooses an entry of the menu of the first cell that a CSS selector finds.
pub(crate) async fn cell_tool(browser: &Browser, cell: &str, entry: &str) {
    let menu = format!("{cell} .cell-menu > summary");
    click(browser, Locator::Css(&menu)).await;
    let entry = format!("{cell} .cell-menu[open] button[aria-label^='{entry}']");
    click(browser, Locator::Css(&entry)).await;
}

/// Gives an element the focus and presses keys there.
pub(crate) async fn press(browser: &Browser, selector: &str, keys: &[Key]) {
    let focus = "const element = document.querySelector(arguments[0]);
        element.scrollIntoView({ block: 'center', behavior: 'instant' });
        element.focus()";
    browser.script(focus, &[json!(selector)]).await;
    let element = browser.client().find(Locator::Css(selector)).await;
    let keys: String = keys.iter().map(ToString::to_string).collect();
    element
        .expect("an element")
        .send_keys(&keys)
        .await
        .expect("keys");
}

/// Waits until what a cell shows with this origin is this text.
pub(crate) async fn wait_for_shown(browser: &Browser, cell: &str, from: &str, text: &str) {
    let condition = format!(
        "return document.querySelector(\"#{cell} [data-from='{from}']\")?.textContent.trim() === {}",
        json!(text)
    );
    browser
        .wait_for(&format!("{from} of {cell} to be {text}"), &condition)
        .await;
}

/// Opens a lesson on a desk and waits until its cells are ready.
pub(crate) async fn open_lesson(browser: &Browser, server: &Server, slug: &str) {
    browser.look(Look::DESK_LIGHT).await;
    let opened = browser.open_ready(&server.url(&site::lesson(slug))).await;
    opened.unwrap_or_else(|error| panic!("{slug}: {error}"));
}

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

#[test]
fn adopting_the_served_page_keeps_its_prose_nodes() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        for page in site::lessons() {
            // The first paragraph as the parser made it is marked before any module script can run.
            let script = "new MutationObserver(() => {
                    const first = document.querySelector('main p');
                    if (first && !window.firstParagraph) window.firstParagraph = first;
                }).observe(document, { childList: true, subtree: true })";
            let added = browser
                .devtools(
                    "Page.addScriptToEvaluateOnNewDocument",
                    json!({ "source": script }),
                )
                .await;
            browser
                .open_ready(&server.url(&page))
                .await
                .unwrap_or_else(|error| panic!("{page}: {error}"));
            let kept = browser
                .script(
                    "return document.querySelector('main p') === window.firstParagraph",
                    &[],
                )
                .await;
            assert_eq!(kept, json!(true), "{page}: its prose was replaced");
            browser
                .devtools("Page.removeScriptToEvaluateOnNewDocument", added)
                .await;
        }
    });
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

/// Drags a vector of `three-patches` with the mouse: the value moves, and with it the output.
#[test]
fn a_point_of_three_patches_is_dragged_and_the_output_follows() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        browser
            .open_ready(&server.url("lesson/self-attention/"))
            .await
            .expect("the lesson works");
        let state = "const plane = document.querySelectorAll('#three-patches .plane')[1];
            plane.scrollIntoView({ block: 'center', behavior: 'instant' });
            const place = dot => { const box = dot.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; };
            const output = plane.querySelector('.plane-mark.c-output');
            return [place(plane.querySelector('.plane-tip .plane-dot')), place(output.querySelector('.plane-dot')), output.querySelector('.plane-name').textContent]";
        browser
            .wait_for(
                "the points",
                "return !!document.querySelectorAll('#three-patches .plane')[1]?.querySelector('.plane-mark.c-output .plane-dot')",
            )
            .await;
        let before = browser.script(state, &[]).await;
        assert_eq!(before[2], json!("output"), "the output has a name");
        let at = |value: &Value, n: usize| value[n].as_f64().expect("a coordinate");
        let (x, y) = (at(&before[0], 0), at(&before[0], 1));
        for (kind, dx, dy) in [
            ("mousePressed", 0.0, 0.0),
            ("mouseMoved", -20.0, -15.0),
            ("mouseMoved", -40.0, -30.0),
            ("mouseReleased", -40.0, -30.0),
        ] {
            let event = json!({ "type": kind, "x": x + dx, "y": y + dy, "button": "left", "clickCount": 1 });
            browser.devtools("Input.dispatchMouseEvent", event).await;
        }
        pause(600).await;
        let after = browser.script(state, &[]).await;
        let moved = |n: usize| {
            [
                at(&after[n], 0) - at(&before[n], 0),
                at(&after[n], 1) - at(&before[n], 1),
            ]
        };
        let [by_x, by_y] = moved(0);
        assert!(
            (by_x + 40.0).abs() < 4.0 && (by_y + 30.0).abs() < 4.0,
            "{by_x} {by_y}"
        );
        let [out_x, out_y] = moved(1);
        assert!(
            out_x < -1.0 && out_y < -1.0,
            "the output follows: {out_x} {out_y}"
        );
    });
}

/// With the keyboard alone the query becomes as long as the plane allows: the output moves, and the
/// sentence about the plane says that it is still inside the triangle.
#[test]
fn the_query_of_three_patches_is_walked_and_the_output_stays_inside() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::PHONE_DARK).await;
        browser
            .open_ready(&server.url("lesson/self-attention/"))
            .await
            .expect("the lesson works");
        let tip = "[...document.querySelectorAll('#three-patches .plane-tip')].find(tip => tip.getAttribute('aria-label').startsWith('query'))";
        let shown =
            "[...document.querySelectorAll('#three-patches .plane .vh')].at(-1)?.textContent ?? ''";
        browser
            .wait_for(
                "the output",
                &format!("return ({shown}).includes('output')"),
            )
            .await;
        let before = browser.script(&format!("return {shown}"), &[]).await;
        browser
            .script(&format!("const tip = {tip}; tip.scrollIntoView({{ block: 'center', behavior: 'instant' }}); tip.focus()"), &[])
            .await;
        let focused = browser.client().active_element().await;
        let focused = focused.expect("the tip has the focus");
        // Left by 21 steps of Shift with the arrow key: from one border to the other.
        focused
            .send_keys(&format!("\u{e008}{}", "\u{e012}".repeat(21)))
            .await
            .expect("the keys are sent");
        browser
            .wait_for(
                "the tip at the border",
                &format!("return ({tip}).getAttribute('aria-valuenow') === '-1'"),
            )
            .await;
        browser
            .wait_for(
                "the output to have moved within the triangle",
                &format!(
                    "return ({shown}) !== {before} && ({shown}).includes('inside the polygon')"
                ),
            )
            .await;
    });
}

/// The slider of a token's dimension at its end: the picture comes back up to rounding.
#[test]
fn with_all_its_numbers_the_picture_is_rebuilt() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        browser
            .open_ready(&server.url("lesson/patches/"))
            .await
            .expect("the lesson works");
        let lost = "document.querySelector('#rebuilt-picture [data-from=\"largest_difference\"]')?.textContent ?? ''";
        // A power of ten, which is below a thousandth.
        let is_small = format!("return ({lost}).includes('e\u{2212}')");
        browser
            .wait_for("the difference", &format!("return ({lost}).length > 1"))
            .await;
        let before = browser.script(&format!("return {lost}"), &[]).await;
        browser
            .script(
                "const slider = document.querySelector('#rebuilt-picture input[type=range]'); slider.scrollIntoView({ block: 'center', behavior: 'instant' }); slider.focus()",
                &[],
            )
            .await;
        let focused = browser.client().active_element().await;
        let focused = focused.expect("the slider has the focus");
        focused.send_keys("\u{e010}").await.expect("End is sent");
        browser
            .wait_for(
                "another difference",
                &format!("return ({lost}) !== {before}"),
            )
            .await;
        assert_eq!(browser.script(&is_small, &[]).await, json!(true));
    });
}

#[test]
fn another_model_of_the_patch_embedding_leaves_its_fold_open() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        browser
            .open_ready(&server.url("lesson/patches/"))
            .await
            .expect("the lesson works");
        let fold =
            "//section[@id='patch-embedding']//details[summary[contains(., 'The learned matrix')]]";
        browser
            .wait_for(
                "the fold",
                "return [...document.querySelectorAll('#patch-embedding .more > summary')].some(s => s.textContent.includes('The learned matrix'))",
            )
            .await;
        // Waiting until the page is ready may have opened it.
        let is_open = "return [...document.querySelectorAll('#patch-embedding .more[open] > summary')].some(s => s.textContent.includes('The learned matrix'))";
        if browser.script(is_open, &[]).await == json!(false) {
            click(browser, Locator::XPath(&format!("{fold}/summary"))).await;
            pause(300).await;
        }
        let choose = async |model: &str| {
            let place = format!("//section[@id='patch-embedding']//label[contains(., '{model}')]");
            click(browser, Locator::XPath(&place)).await;
            pause(500).await;
        };
        choose("random").await;
        choose("digit-vit").await;
        browser.wait_for("the fold to be open again", is_open).await;
    });
}
