//! The menu of lessons and that of a cell: their place on a phone, moving in them, and the ways to
//! close them.

use fantoccini::Locator;
use serde_json::json;

use super::browser::{Browser, Look, with_browser};
use super::reader::click;
use super::site;
use browser_harness::Habits;

const SUMMARY: Locator<'static> = Locator::Css(".course-menu > summary");

async fn is_open(browser: &Browser) -> bool {
    let open = browser
        .script("return document.querySelector('.course-menu').open", &[])
        .await;
    open == json!(true)
}

#[test]
fn on_a_phone_the_whole_menu_is_in_the_window_and_leads_to_the_lab() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        for width in [360, 390] {
            let look = Look {
                width,
                ..Look::PHONE_LIGHT
            };
            browser.look(look).await;
            browser.open(&server.url(&site::lessons()[0])).await;
            click(browser, SUMMARY).await;
            let margins = browser
                .script(
                    "const panel = document.querySelector('.course-menu nav').getBoundingClientRect();
                     return [panel.left, document.documentElement.clientWidth - panel.right];",
                    &[],
                )
                .await;
            assert_eq!(margins, json!([16, 16]), "at {width}");
            let numbered = browser
                .script(
                    "return [...document.querySelectorAll('.course-menu li')]
                        .every(entry => entry.querySelector('.course-number').textContent === String(entry.value))",
                    &[],
                )
                .await;
            assert_eq!(numbered, json!(true));
            click(browser, Locator::Css(".course-menu .menu-lab a")).await;
            browser
                .wait_for("the lab", "return location.pathname.endsWith('/lab/')")
                .await;
            assert!(!is_open(browser).await, "following a link closes the menu");
        }
    });
}

#[test]
fn escape_and_a_press_outside_close_the_menu() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        browser
            .open_ready(&server.url(&site::lessons()[0]))
            .await
            .expect("the lesson works");
        click(browser, SUMMARY).await;
        assert!(is_open(browser).await);
        let focused = browser.client().active_element().await;
        let focused = focused.expect("something has the focus");
        focused.send_keys("\u{e00c}").await.expect("Escape is sent");
        assert!(!is_open(browser).await, "Escape closes it");
        let back = browser
            .script(
                "return document.activeElement.matches('.course-menu > summary')",
                &[],
            )
            .await;
        assert_eq!(back, json!(true), "the focus is back at its button");

        click(browser, SUMMARY).await;
        click(browser, Locator::Css(".lesson-lead")).await;
        assert!(!is_open(browser).await, "a press outside closes it");

        click(browser, SUMMARY).await;
        click(browser, Locator::XPath("//button[.='Verify this page']")).await;
        assert!(!is_open(browser).await, "a dialog closes it");
    });
}

#[test]
fn the_menu_of_a_cell_is_worked_with_keys_and_closes_by_itself() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::PHONE_LIGHT).await;
        browser
            .open_ready(&server.url(&site::lessons()[0]))
            .await
            .expect("the lesson works");
        let open = async || {
            let script = "return [document.querySelectorAll('.cell-menu[open]').length, document.activeElement.textContent]";
            browser.script(script, &[]).await
        };
        let press = async |key: char| {
            let focused = browser.client().active_element().await;
            let focused = focused.expect("something has the focus");
            focused.send_keys(&key.to_string()).await.expect("a key");
        };
        let size =
            "const box = document.querySelector('.cell-menu > summary').getBoundingClientRect();
            return Math.min(box.width, box.height) >= 24";
        assert_eq!(browser.script(size, &[]).await, json!(true));
        browser
            .script(
                "document.querySelector('.cell-menu > summary').focus()",
                &[],
            )
            .await;
        let (down, up, escape) = ('\u{e015}', '\u{e013}', '\u{e00c}');
        for (key, expected) in [
            ('\u{e007}', json!([1, "\u{b7}\u{b7}\u{b7}"])),
            (down, json!([1, "Share"])),
            (down, json!([1, "Full screen"])),
            (up, json!([1, "Share"])),
            (up, json!([1, "Show the Rust"])),
            (escape, json!([0, "\u{b7}\u{b7}\u{b7}"])),
            (down, json!([1, "Share"])),
        ] {
            press(key).await;
            assert_eq!(open().await, expected, "after {key:?}");
        }
        let inside =
            "const box = document.querySelector('.cell-menu[open] > div').getBoundingClientRect();
            return box.left >= 0 && box.right <= innerWidth";
        assert_eq!(browser.script(inside, &[]).await, json!(true));
        press('\u{e007}').await;
        browser
            .wait_for(
                "the dialog",
                "return !!document.querySelector('dialog[open] input')",
            )
            .await;
        click(browser, Locator::Css("dialog[open] .sheet-head button")).await;
        assert_eq!(
            open().await,
            json!([0, "\u{b7}\u{b7}\u{b7}"]),
            "the focus is back"
        );

        click(browser, Locator::Css(".cell-menu > summary")).await;
        click(browser, Locator::Css(".cell-caption")).await;
        assert_eq!(open().await[0], json!(0), "a press outside closes it");
    });
}

#[test]
fn show_the_rust_opens_on_attention_itself_in_colours() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        browser
            .open_ready(&server.url(""))
            .await
            .expect("the home page works");
        browser
            .script(
                "const menu = document.querySelector('[data-cell=attention-map] .cell-menu');
                 [...menu.querySelectorAll('button')].find(b => b.textContent === 'Show the Rust').click()",
                &[],
            )
            .await;
        browser
            .wait_for(
                "the source",
                "return !!document.querySelector('dialog[open] .rust-call pre')",
            )
            .await;
        let shown = browser
            .script(
                "const first = document.querySelector('dialog[open] .rust-call');
                 const code = first.querySelector('pre');
                 return [first.querySelector('h3').textContent, code.textContent.split('(')[0],
                     first.querySelector('p').textContent.includes('softmax'),
                     code.querySelectorAll('[data-kind=keyword]').length > 3,
                     code.getBoundingClientRect().top < innerHeight]",
                &[],
            )
            .await;
        assert_eq!(
            shown,
            json!(["nn::attention::attend", "pub fn attend", true, true, true])
        );
    });
}
