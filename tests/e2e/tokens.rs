//! The lesson on tokens as a reader uses its cells: vocabularies are chosen, pairs merged one by
//! one, words and letters typed, and neighbours looked at.

use fantoccini::Locator;
use serde_json::json;

use super::arriving::Without;
use super::browser::{Browser, with_browser};
use super::models::choose;
use super::reader::{click, open_lesson, wait_for_shown};
use super::site;
use browser_harness::{Habits, Server};

/// The tokens in the boxes with this label.
async fn tokens(browser: &Browser, cell: &str, label: &str) -> Vec<String> {
    let selector = format!("#{cell} .token-boxes[aria-label='{label}'] .token");
    browser.texts(&selector).await
}

/// Types a text over that in a text box of a cell; boxes are counted from zero.
async fn type_over(browser: &Browser, cell: &str, place: usize, text: &str) {
    let script = "const [cell, place, text] = arguments;
        const box = document.querySelectorAll(`#${cell} .text-box textarea`)[place];
        box.focus();
        Object.getOwnPropertyDescriptor(Object.getPrototypeOf(box), 'value').set.call(box, text);
        box.dispatchEvent(new Event('input', { bubbles: true }))";
    browser
        .script(script, &[json!(cell), json!(place), json!(text)])
        .await;
}

#[test]
fn a_text_is_cut_by_the_vocabulary_that_the_reader_chooses() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "tokens").await;
        let label = "Tokens with their ids";
        let own = tokens(browser, "tokenize", label).await;
        assert!(own.contains(&"raw".to_owned()), "{own:?}");
        choose(browser, "tokenize", "characters").await;
        wait_for_shown(browser, "tokenize", "count", "37").await;
        type_over(browser, "tokenize", 0, "hello world!").await;
        wait_for_shown(browser, "tokenize", "count", "12").await;
        // A vocabulary of 30,522 tokens, fetched now.
        choose(browser, "tokenize", "BERT").await;
        wait_for_shown(browser, "tokenize", "size", "30,522").await;
        assert_eq!(
            tokens(browser, "tokenize", label).await,
            ["hello", "world", "!"]
        );
        for (place, id) in ["7592", "2088", "999"].into_iter().enumerate() {
            wait_for_shown(browser, "tokenize", &format!("ids[{place}]"), id).await;
        }
        choose(browser, "tokenize", "GPT-2").await;
        wait_for_shown(browser, "tokenize", "size", "50,257").await;
        let verdict = browser.texts("#tokenize .verdict.good").await.concat();
        assert!(verdict.contains("the same text"), "{verdict}");
        let complaints = browser.complaints(&server.origin()).await;
        assert!(complaints.is_empty(), "{complaints:?}");
    });
}

/// A vocabulary that does not arrive gets a message and a button that tries again.
#[test]
fn a_vocabulary_that_cannot_be_fetched_is_tried_again() {
    let site = Without::new("gpt2-merges.txt");
    let server = Server::start(&site.folder, Habits::ROOT).expect("a free port");
    with_browser(async |browser| {
        open_lesson(browser, &server, "tokens").await;
        let script =
            "document.querySelector(\"#tokenize input[value='GPT-2']\").closest('label').click()";
        browser.script(script, &[]).await;
        let failed = "return document.getElementById('tokenize').dataset.state === 'error'";
        browser.wait_for("a message", failed).await;
        let message = browser.texts("#tokenize .cell-message").await.concat();
        assert!(message.contains("gpt2-merges.txt"), "{message}");
        site.put_back();
        let retry =
            "[...document.querySelectorAll('#tokenize .cell-message button')].at(-1).click()";
        browser.script(retry, &[]).await;
        wait_for_shown(browser, "tokenize", "size", "50,257").await;
    });
}

#[test]
fn pairs_are_merged_one_by_one_taken_back_and_all_at_once() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "tokens").await;
        let count = async || -> usize {
            let all = tokens(browser, "bpe-train", "The text as tokens").await;
            all.len()
        };
        wait_for_shown(browser, "bpe-train", "merges", "3").await;
        let before = count().await;
        let step = "#bpe-train [aria-label=Merges] button:nth-child(1)";
        click(browser, Locator::Css(step)).await;
        wait_for_shown(browser, "bpe-train", "merges", "4").await;
        assert!(count().await < before);
        let marked = browser.texts("#bpe-train .token[aria-current=true]").await;
        assert!(
            marked.len() > 1 && marked.windows(2).all(|pair| pair[0] == pair[1]),
            "{marked:?}"
        );
        click(
            browser,
            Locator::Css("#bpe-train [aria-label=Merges] button:nth-child(2)"),
        )
        .await;
        wait_for_shown(browser, "bpe-train", "merges", "3").await;
        assert_eq!(count().await, before);
        click(
            browser,
            Locator::Css("#bpe-train [aria-label=Merges] button:nth-child(3)"),
        )
        .await;
        let all = "const merged = from => document.querySelector(`#bpe-train [data-from=${from}]`).textContent;
            return merged('merges') === merged('possible')";
        browser.wait_for("all merges", all).await;
        // The other text is cut anew.
        type_over(browser, "bpe-train", 1, "shells").await;
        wait_for_shown(browser, "bpe-train", "other.bytes", "6").await;
    });
}

#[test]
fn languages_letters_and_neighbours_follow_what_is_typed() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        open_lesson(browser, &server, "tokens").await;
        wait_for_shown(browser, "token-tax", "tokens[4]", "71").await;
        choose(browser, "token-tax", "translator").await;
        wait_for_shown(browser, "token-tax", "tokens[1]", "11").await;
        wait_for_shown(browser, "letters-and-numbers", "letters", "3").await;
        type_over(browser, "letters-and-numbers", 1, "b").await;
        wait_for_shown(browser, "letters-and-numbers", "letters", "1").await;
        wait_for_shown(browser, "embedding-rows", "differing", "0").await;
        wait_for_shown(browser, "embedding-rows", "nearest[0]", "\u{2423}father").await;
        click(
            browser,
            Locator::Css("#embedding-rows .examples button:nth-child(3)"),
        )
        .await;
        wait_for_shown(browser, "embedding-rows", "nearest[0]", "\u{2423}small").await;
    });
}
