//! The lessons on scaling and on masks as a reader uses their cells: guesses with the mask and
//! without, mistakes in a mask that the leak test finds, and coins.

use fantoccini::Locator;

use super::browser::{Browser, Look, with_browser};
use super::models::choose;
use super::reader::click;
use super::site;
use browser_harness::{Habits, Server};

async fn open(browser: &Browser, server: &Server, lesson: &str) {
    browser.look(Look::DESK_LIGHT).await;
    let opened = browser.open_ready(&server.url(&site::lesson(lesson))).await;
    opened.expect("the lesson works");
}

/// Right first guesses that the table shows.
async fn right(browser: &Browser) -> String {
    let verdicts = browser.texts("#next-word-guesses td.verdict").await;
    let right = verdicts.iter().filter(|verdict| *verdict == "right");
    right.count().to_string()
}

/// The number with this origin in the line below the table.
async fn counted(browser: &Browser, name: &str) -> String {
    let selector = format!("#next-word-guesses p.verdict [data-from='{name}']");
    browser.texts(&selector).await.concat()
}

#[test]
fn without_the_mask_every_position_sees_the_sentence_and_guesses_worse() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open(browser, &server, "causal-mask").await;
        let seen = "#next-word-guesses tbody th";
        let beginnings = browser.texts(seen).await;
        assert!(
            beginnings
                .windows(2)
                .all(|pair| pair[1].starts_with(&pair[0]))
        );
        let with = right(browser).await;
        assert_eq!(with, counted(browser, "with.count").await);
        click(browser, Locator::Css("#next-word-guesses .toggle")).await;
        let off = format!(
            "const seen = [...document.querySelectorAll('{seen}')].map(e => e.textContent);
             return seen.length > 1 && seen.every(text => text === seen[0])"
        );
        browser.wait_for("rows that see everything", &off).await;
        let without = right(browser).await;
        assert_eq!(without, counted(browser, "without.count").await);
        assert!(without < with, "{without} {with}");
    });
}

#[test]
fn the_leak_test_finds_every_mistake() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open(browser, &server, "causal-mask").await;
        let mut seen = Vec::new();
        for mistake in [
            "one-too-far",
            "transposed",
            "after-softmax",
            "before-scaling",
        ] {
            choose(browser, "leak-test", mistake).await;
            let sides = browser.texts("#leak-test p.verdict").await;
            assert!(
                sides[0].starts_with("Nothing leaks"),
                "{mistake}: {sides:?}"
            );
            assert!(
                sides[1].starts_with("The future leaks"),
                "{mistake}: {sides:?}"
            );
            seen.push(sides[1].clone());
        }
        seen.dedup();
        assert!(seen.len() > 2, "{seen:?}");
    });
}

#[test]
fn more_coins_spread_further() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open(browser, &server, "scaling").await;
        let spread = "#coin-flips td [data-from^='deviations']";
        let before = browser.texts(spread).await;
        assert_eq!(before.len(), 4);
        let drawing = "document.querySelector('#coin-flips .chart-drawing svg')?.outerHTML";
        choose(browser, "coin-flips", "16").await;
        browser
            .wait_for("a histogram", &format!("return !!{drawing}"))
            .await;
        let narrow = browser.script(&format!("return {drawing}"), &[]).await;
        choose(browser, "coin-flips", "256").await;
        let changed = format!("return {drawing} !== {narrow}");
        browser.wait_for("another histogram", &changed).await;
        assert_eq!(browser.texts(spread).await, before);
    });
}
